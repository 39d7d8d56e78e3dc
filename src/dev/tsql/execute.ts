import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Expr, Query } from './ast.js';
import { bindCondition, bindValue } from './bind-expression.js';
import { Binder, encodedReader, type RowReader } from './bind-query.js';
import type { BinderHost, BoundQuery } from './bind-types.js';
import { objectName, type Table } from './catalog.js';
import { codecOf } from './codec.js';
import type { ResponseSink, SqlType, SqlValue } from './contract.js';
import { Cancelled, fail } from './errors.js';
import { coerce, compile, inputsOf, type Node } from './node.js';
import type { Plan } from './plan.js';
import type { Runtime } from './runtime.js';
import { Scope } from './scope.js';
import type { Session } from './session.js';
import { findView, viewJson } from './system-views.js';
import { nvarchar } from './types.js';

/** Time that one statement may hold the event loop between two turns. */
const sliceMs = 8;

/** Lets other sessions run after each slice, and notices a cancelled request. */
export class Slice {
  #end = performance.now() + sliceMs;
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** A promise when the slice is over. */
  check(): Promise<void> | undefined {
    return performance.now() < this.#end ? undefined : this.#yield();
  }

  async #yield(): Promise<void> {
    await nextTurn();
    if (this.#signal.aborted) throw new Cancelled();
    this.#end = performance.now() + sliceMs;
  }
}

/** A statement's surroundings: whose it is and where its answer goes. */
export interface Execution {
  readonly runtime: Runtime;
  readonly response: ResponseSink;
  readonly signal: AbortSignal;
  readonly slice: Slice;
}

export function findTable(parts: readonly string[], session: Session): Table | undefined {
  const { database, schema, name } = objectName(parts);
  if (name.startsWith('#')) return session.tempTables.get(name.toLowerCase());
  const owner = database ? session.catalog.find(database) : session.currentDatabase;
  return schema === 'dbo' ? owner?.tables.get(name.toLowerCase()) : undefined;
}

function binderHost(runtime: Runtime): BinderHost {
  const { session } = runtime;
  return {
    variableType: (name) => runtime.variables.get(name.toLowerCase())?.type ?? fail(137, name),
    source: (parts, plan: Plan) => {
      const table = findTable(parts, session);
      if (table) return { sql: table.storage, columns: table.columns };
      const { schema, name } = objectName(parts);
      const view = findView(schema, name);
      if (!view) return fail(208, parts.join('.'));
      const json = plan.parameter(codecOf(nvarchar('max')), ({ session: s }) => viewJson(view, s));
      const columns = view.columns.map(([column, type]) => ({ name: column, type, nullable: true }));
      const list = columns.map((_, i) => `value->>${i} AS c${i}`);
      return { sql: `(SELECT ${list.join(', ')} FROM json_each(${json}))`, columns };
    },
  };
}

export const newBinder = (runtime: Runtime): Binder => new Binder(binderHost(runtime));

export function readerOf(bound: BoundQuery): RowReader {
  const reader = (bound as Partial<{ reader(): RowReader }>).reader;
  return reader
    ? reader()
    : encodedReader(bound.emit(bound.outputs.map(({ node }) => node.type)), bound.outputs);
}

/** Runs a bound query and hands over its rows one by one; the handler may ask to stop or to wait. */
export async function forEachRow(
  binder: Binder,
  reader: RowReader,
  execution: Execution,
  onRow: (values: SqlValue[]) => Promise<void> | undefined | void,
): Promise<void> {
  const { runtime, slice, signal } = execution;
  const { session } = runtime;
  const { sqlite } = session.shared;
  if (reader.sql === undefined) {
    await onRow(reader.values.map((value) => value([], runtime)));
    return;
  }
  const endRead = await session.read(signal);
  try {
    const callbacks = binder.plan.callbacksFor(runtime);
    const parameters = binder.plan.parameters.map(({ codec, value }) => ({ codec, value: value(runtime) }));
    const statement = sqlite.prepare(reader.sql);
    try {
      for (const [i, { codec, value }] of parameters.entries())
        sqlite.bindValue(statement, i + 1, codec, value);
      const row: SqlValue[] = new Array(reader.codecs.length);
      while (sqlite.step(statement, callbacks)) {
        for (let i = 0; i < row.length; i++) row[i] = sqlite.column(statement, i, reader.codecs[i]!);
        const values: SqlValue[] = new Array(reader.values.length);
        for (let i = 0; i < values.length; i++) values[i] = reader.values[i]!(row, runtime);
        const wait = onRow(values);
        if (wait) await wait;
        if (signal.aborted) throw new Cancelled();
        const pause = slice.check();
        if (pause) await pause;
      }
    } finally {
      sqlite.release(statement);
    }
  } finally {
    endRead();
  }
}

/** A SELECT that answers the client. Returns the number of rows. */
export async function select(query: Query, execution: Execution): Promise<number> {
  const { response, runtime } = execution;
  const binder = newBinder(runtime);
  const bound = binder.bindQuery(query);
  const outputs = bound.outputs;
  if (outputs.some(({ assign }) => assign)) {
    if (outputs.some(({ assign }) => !assign)) fail(141);
    return assignFrom(binder, bound, execution);
  }
  const reader = readerOf(bound);
  response.columns(
    outputs.map(({ name, node }) => ({
      name,
      type: node.type,
      nullable: node.nullable,
      ...(node.k === 'input' && node.identity && { identity: true }),
    })),
  );
  let count = 0;
  await forEachRow(binder, reader, execution, (values) => {
    count++;
    response.row(values);
    const full = response.drained();
    return full && runtime.session.waiting('ASYNC_NETWORK_IO', () => full);
  });
  return count;
}

/** SELECT @a = x, @b = y: the last row stays. */
async function assignFrom(binder: Binder, bound: BoundQuery, execution: Execution): Promise<number> {
  const { runtime } = execution;
  const targets = bound.outputs.map(
    ({ assign }) => runtime.variables.get(assign!.toLowerCase()) ?? fail(137, assign!),
  );
  let count = 0;
  const reader = readerOf(bound);
  const convert = bound.outputs.map(({ node }, i) =>
    compile(
      coerce({ k: 'input', sql: 'x', type: node.type, nullable: true }, targets[i]!.type),
      new Map([['x', 0]]),
    ),
  );
  await forEachRow(binder, reader, execution, (row) => {
    count++;
    row.forEach((value, i) => {
      targets[i]!.value = convert[i]!([value], runtime);
    });
  });
  return count;
}

/** The value of one expression, of a type when one is given; subqueries in it read the database. */
export async function evaluate(
  expr: Expr,
  execution: Execution,
  type?: SqlType,
): Promise<{ value: SqlValue; type: SqlType }> {
  const binder = newBinder(execution.runtime);
  const bound = bindValue(expr, new Scope(), binder);
  const node = type ? coerce(bound, type) : bound;
  return { value: await evaluateNode(node, binder, execution), type: node.type };
}

export async function evaluateCondition(expr: Expr, execution: Execution): Promise<boolean> {
  const binder = newBinder(execution.runtime);
  const node = bindCondition(expr, new Scope(), binder);
  return (await evaluateNode(node, binder, execution)) === true;
}

async function evaluateNode(node: Node, binder: Binder, execution: Execution): Promise<SqlValue> {
  const inputs = [...inputsOf(node).values()];
  const value = compile(node, new Map(inputs.map((input, i) => [input.sql, i])));
  const sql = inputs.length > 0 ? `SELECT ${inputs.map((input) => input.sql).join(', ')}` : undefined;
  let result: SqlValue = null;
  await forEachRow(
    binder,
    { sql, codecs: inputs.map((input) => codecOf(input.type)), values: [value] },
    execution,
    (row) => {
      result = row[0]!;
    },
  );
  return result;
}
