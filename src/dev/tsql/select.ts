import type { SqlType, SqlValue } from '../sql-engine.js';
import { bindCondition, bindValue, type Scope } from './bind.js';
import { Cancelled, fail, refuse } from './errors.js';
import { type Bound, coerce, constant, inputsOf, Plan, type Slot, slotValue } from './expression.js';
import { findTable, isSame, objectName } from './names.js';
import type { Frame } from './session.js';
import { checkOrder, collate, toStored } from './stored.js';
import type { Expr, Select, Source } from './syntax.js';
import { bigint, kindOf, unify } from './types.js';
import { findView } from './views.js';

export interface Output {
  readonly name: string;
  readonly value: Bound;
  readonly assign?: string | undefined;
}

/** A query whose columns are known. */
export interface BoundQuery {
  readonly outputs: readonly Output[];
  readonly plan: Plan;
  /** SQLite text from FROM on; undefined for one row that expressions alone make. */
  readonly tail: string | undefined;
}

type SourceColumn = Omit<Slot, 'sql'>;
interface BoundSource {
  readonly sql: string;
  readonly columns: readonly SourceColumn[];
}

export function bindQuery(select: Select, frame: Frame): BoundQuery {
  const plan = new Plan();
  const sources: { alias: string; columns: readonly Slot[] }[] = [];
  const scope: Scope = { frame, plan, sources, aggregates: undefined };
  const from = select.from.map((source, i) => {
    const { sql, columns } = source.args ? bindSeries(source.args, scope) : bindTable(source, scope);
    const slots = columns.map((column, j) => ({
      ...column,
      sql: `s${i}.c${j}`,
      nullable: column.nullable || source.isLeft,
    }));
    sources.push({ alias: source.alias, columns: slots });
    const join = i === 0 ? '' : source.isLeft ? 'LEFT JOIN ' : 'JOIN ';
    return `${join}${sql} s${i}${source.on ? ` ON ${plan.sqlOf(bindCondition(source.on, scope))}` : ''}`;
  });
  const where = select.where && bindCondition(select.where, scope);
  const keys = select.groupBy.map((expr) =>
    expr.k === 'column' ? bindValue(expr, scope) : refuse('GROUP BY of anything but columns'),
  );
  scope.aggregates = 0;
  const outputs = select.items.flatMap(({ expr, star, alias, assign }): Output[] => {
    if (expr) {
      const value = bindValue(expr, scope);
      return [{ name: alias ?? (expr.k === 'column' ? value.inputs[0]!.name : ''), value, assign }];
    }
    const found = sources.filter((source) => !star || isSame(source.alias, star));
    if (found.length === 0) fail(107, star ?? '*');
    return found.flatMap(({ columns }) =>
      columns.map((slot) => ({ name: slot.name, value: slotValue(slot) })),
    );
  });
  const order = select.orderBy.map(({ expr, isDescending }) => {
    const value = outputAt(expr, outputs)?.value ?? bindValue(expr, scope);
    checkOrder(value.type, 'sort');
    return `${plan.sqlOf(value)}${collate(value.type)}${isDescending ? ' DESC' : ''}`;
  });
  const isGrouped = keys.length > 0 || scope.aggregates > 0;
  if (isGrouped) {
    const grouped = inputsOf(keys);
    const loose = inputsOf(outputs.map(({ value }) => value)).find(
      (slot) => !slot.isAggregate && !grouped.includes(slot),
    );
    if (loose) fail(8120, loose.name);
  }
  const groups = keys.map((key) => {
    checkOrder(key.type, 'key');
    return plan.sqlOf(key) + collate(key.type);
  });
  if (from.length === 0 && !where && !isGrouped && !select.top) return { outputs, plan, tail: undefined };
  const tail = [
    from.length > 0 ? ` FROM ${from.join(' ')}` : '',
    where ? ` WHERE ${plan.sqlOf(where)}` : '',
    groups.length > 0 ? ` GROUP BY ${groups.join(', ')}` : '',
    order.length > 0 ? ` ORDER BY ${order.join(', ')}` : '',
    select.top ? ` LIMIT ${rowCount(select.top, frame)}` : '',
  ];
  return { outputs, plan, tail: tail.join('') };
}

function rowCount(top: Expr, frame: Frame): bigint {
  const rows = evaluate(top, frame, bigint).value as bigint | null;
  return rows === null || rows < 0n ? refuse('TOP of NULL or a negative number') : rows;
}

/** A table or a system view; the latter as JSON, in which 64-bit integers keep all their digits. */
function bindTable({ name }: Source, { frame: { session }, plan }: Scope): BoundSource {
  const table = findTable(name, session);
  if (table) return { sql: table.storage, columns: table.columns };
  const { schema, name: last } = objectName(name, session);
  const view = schema === 'sys' ? findView(last) : undefined;
  if (!view) return fail(208, name.join('.'));
  const cell = (value: SqlValue, i: number): string => {
    const raw = toStored(value, view.columns[i]!.type);
    return typeof raw === 'bigint' ? String(raw) : JSON.stringify(raw);
  };
  const json = plan.parameter(
    `[${view
      .rows(session)
      .map((row) => `[${row.map(cell).join()}]`)
      .join()}]`,
  );
  const list = view.columns.map((_, i) => `value->>${i} AS c${i}`);
  return { sql: `(SELECT ${list.join(', ')} FROM json_each(${json}))`, columns: view.columns };
}

/** GENERATE_SERIES(start, stop [, step]) of integers. */
function bindSeries(args: readonly Expr[], { frame }: Scope): BoundSource {
  if (args.length < 2 || args.length > 3) fail(174, 'generate_series', '2 to 3');
  const [start, stop, by] = args.map((arg) => evaluate(arg, frame));
  const type = unify(start!.type, stop!.type);
  if (kindOf(type) !== 'integer') refuse(`GENERATE_SERIES of ${type.name}`);
  const columns = [{ name: 'value', type, nullable: false }];
  const [first, last] = [start!, stop!].map(({ value }) =>
    value === null ? null : BigInt(value as number | bigint),
  );
  if (first === null || last === null || by?.value === null)
    return { sql: '(SELECT 0 AS c0 WHERE 0)', columns };
  const step = by ? BigInt(by.value as number | bigint) : first! <= last! ? 1n : -1n;
  if (step === 0n) refuse('GENERATE_SERIES with a step of 0');
  const goesOn = (from: string): string => `WHERE ${from} ${step > 0n ? '<=' : '>='} ${last}`;
  const steps = `SELECT ${first} ${goesOn(String(first))} UNION ALL SELECT c0 + ${step} FROM g ${goesOn(`c0 + ${step}`)}`;
  return { sql: `(WITH RECURSIVE g(c0) AS (${steps}) SELECT c0 FROM g)`, columns };
}

/** ORDER BY 2 and ORDER BY alias mean a column of the result. */
function outputAt(expr: Expr, outputs: readonly Output[]): Output | undefined {
  if (expr.k === 'literal' && typeof expr.value === 'number')
    return outputs[expr.value - 1] ?? fail(108, expr.value);
  if (expr.k !== 'column' || expr.name.length > 1) return undefined;
  return outputs.find(({ name }) => name !== '' && isSame(name, expr.name[0]!));
}

/** Runs a bound query and hands over its rows one by one; the handler may ask to wait. */
export async function forEachRow(
  { outputs, plan, tail }: BoundQuery,
  { session, signal, pause }: Frame,
  onRow: (values: SqlValue[]) => Promise<void> | undefined | void,
): Promise<void> {
  if (tail === undefined) return void (await onRow(outputs.map(({ value }) => value.run(new Map()))));
  const endRead = await session.read(signal);
  try {
    const inputs = inputsOf(outputs.map(({ value }) => value));
    const list = inputs.map((slot) => slot.sql).join(', ') || '1';
    const cursor = session.shared.sqlite.query(`SELECT ${list}${tail}`, plan.parameters, plan.callbacks);
    try {
      while (cursor.step()) {
        const row = new Map(inputs.map((slot, i) => [slot, cursor.value(i, slot.type)]));
        const wait = onRow(outputs.map(({ value }) => value.run(row)));
        if (wait) await wait;
        if (signal.aborted) throw new Cancelled();
        const turn = pause();
        if (turn) await turn;
      }
    } finally {
      cursor.close();
    }
  } finally {
    endRead();
  }
}

const withoutRows = (frame: Frame): Scope => ({
  frame,
  plan: new Plan(),
  sources: [],
  aggregates: undefined,
});

/** The value of an expression without columns, of a type when one is given. */
export function evaluate(
  expr: Expr,
  frame: Frame,
  type?: SqlType,
): { readonly value: SqlValue; readonly type: SqlType } {
  const bound = bindValue(expr, withoutRows(frame));
  const typed = type ? coerce(bound, type) : bound;
  return { value: typed.run(new Map()), type: typed.type };
}

export const evaluateCondition = (expr: Expr, frame: Frame): boolean =>
  bindCondition(expr, withoutRows(frame)).run(new Map()) === true;

/** A value as one of another type, by implicit conversion. */
export const assigned = (value: SqlValue, from: SqlType, to: SqlType): SqlValue =>
  coerce(constant(from, value), to).run(new Map());
