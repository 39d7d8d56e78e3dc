import type { Expr, Query, Statement } from './ast.js';
import { bindCondition, bindValue } from './bind-expression.js';
import { bindFrom } from './bind-from.js';
import { objectName, type Table } from './catalog.js';
import { type Codec, codecOf } from './codec.js';
import type { SqlType, SqlValue } from './contract.js';
import { formatDecimal } from './decimal.js';
import { fail, SqlError } from './errors.js';
import { type Execution, findTable, forEachRow, newBinder, readerOf } from './execute.js';
import { coerce, compile, constant, inputsOf, type Node } from './node.js';
import { arithmetic } from './operators.js';
import { Scope } from './scope.js';
import { KeyViolation } from './sqlite.js';
import { bigint, isBinary, isFixed, isInteger, isMoney, isString } from './types.js';

type Of<K extends Statement['k']> = Extract<Statement, { k: K }>;

const tableOf = (parts: readonly string[], execution: Execution): Table => {
  const table = findTable(parts, execution.runtime.session);
  if (table) return table;
  const { schema } = objectName(parts);
  return schema === 'sys' || schema === 'information_schema'
    ? fail(259, 'Ad hoc updates to system catalogs are not allowed.')
    : fail(208, parts.join('.'));
};

const isDefault = (expr: Expr): boolean => expr.k === 'call' && expr.name === 'DEFAULT';

/** INSERT: the rows are computed first, then written in one go, all or none. Returns their number. */
export async function insert(statement: Of<'insert'>, execution: Execution): Promise<number> {
  const { session } = execution.runtime;
  const table = tableOf(statement.table, execution);
  const on = session.options.identityInsert === table.name.toLowerCase();
  const identityAt = table.columns.findIndex((column) => column.identity);
  const columns =
    statement.columns?.map((name) => {
      const i = table.columns.findIndex((column) => column.name.toLowerCase() === name.toLowerCase());
      return i < 0 ? fail(207, name) : i;
    }) ?? table.columns.map((_, i) => i).filter((i) => i !== identityAt || on);
  if (new Set(columns).size !== columns.length)
    fail(264, 'The column name is specified more than once in the SET clause or column list of an INSERT.');
  if (columns.includes(identityAt) && !on) fail(544, table.name);
  if (on && !columns.includes(identityAt)) fail(545, table.name);
  const rows = statement.source
    ? await sourceRows(statement.source, table, columns, statement.columns !== undefined, execution)
    : [columns.map(() => undefined)];
  const defaults = await defaultValues(table, execution);
  const complete = rows.map((row) => {
    const values = table.columns.map((column, i): SqlValue => {
      const at = columns.indexOf(i);
      const value = at < 0 || row[at] === undefined ? defaults[i]! : row[at]!;
      return column.identity ? value : checked(value, table, i, 'INSERT');
    });
    return values;
  });
  const sql = `INSERT INTO ${table.storage} VALUES (${table.columns.map((_, i) => `?${i + 1}`).join(', ')})`;
  const codecs = table.columns.map(({ type }) => codecOf(type));
  await writeRows(execution, table, sql, codecs, complete, (row) => {
    const values = row as SqlValue[];
    if (identityAt >= 0) {
      values[identityAt] = nextIdentity(table, identityAt, on ? values[identityAt]! : undefined, session);
    }
  });
  return complete.length;
}

function nextIdentity(
  table: Table,
  at: number,
  given: SqlValue | undefined,
  session: { lastIdentity: bigint | undefined; scopeIdentity: bigint | undefined },
): SqlValue {
  const identity = table.identity!;
  const { type } = table.columns[at]!;
  if (given === null) fail(515, table.columns[at]!.name, table.name, 'INSERT');
  const next =
    given === undefined
      ? identity.last === undefined
        ? identity.seed
        : identity.last + identity.increment
      : BigInt(given as number | bigint);
  const value = coerceValue(next, bigint, type);
  if (identity.last === undefined || (identity.increment > 0n ? next > identity.last : next < identity.last))
    identity.last = next;
  session.lastIdentity = session.scopeIdentity = next;
  return value;
}

const coerceValue = (value: SqlValue, from: SqlType, to: SqlType): SqlValue =>
  compile(coerce(constant(from, value), to), new Map())([], undefined as never);

/** Rows of VALUES or of a query, converted to the columns' types; undefined stands for DEFAULT. */
async function sourceRows(
  source: Query,
  table: Table,
  columns: readonly number[],
  listed: boolean,
  execution: Execution,
): Promise<(SqlValue | undefined)[][]> {
  const types = columns.map((i) => table.columns[i]!.type);
  const rows: (SqlValue | undefined)[][] = [];
  if (source.body.k === 'values') {
    for (const exprs of source.body.rows) {
      if (exprs.length !== columns.length) fail(listed ? (exprs.length < columns.length ? 109 : 110) : 213);
      const row: (SqlValue | undefined)[] = [];
      for (const [i, expr] of exprs.entries()) {
        row.push(
          isDefault(expr) ? undefined : await valueFor(expr, types[i]!, table, columns[i]!, execution),
        );
      }
      rows.push(row);
      await execution.slice.check();
    }
    return rows;
  }
  const binder = newBinder(execution.runtime);
  const bound = binder.bindQuery(source);
  if (bound.outputs.length !== columns.length)
    fail(listed ? (bound.outputs.length < columns.length ? 120 : 121) : 213);
  const converters = bound.outputs.map(({ node }, i) =>
    assigner({ k: 'input', sql: 'x', type: node.type, nullable: true }, types[i]!, table, columns[i]!),
  );
  const finish = converters.map((node) => compile(node, new Map([['x', 0]])));
  await forEachRow(binder, readerOf(bound), execution, (values) => {
    rows.push(values.map((value, i) => finish[i]!([value], execution.runtime)));
  });
  return rows;
}

async function valueFor(
  expr: Expr,
  type: SqlType,
  table: Table,
  column: number,
  execution: Execution,
): Promise<SqlValue> {
  const binder = newBinder(execution.runtime);
  const node = assigner(bindValue(expr, new Scope(), binder), type, table, column);
  const inputs = [...inputsOf(node).values()];
  const reader = {
    sql: inputs.length > 0 ? `SELECT ${inputs.map((input) => input.sql).join(', ')}` : undefined,
    codecs: inputs.map((input) => codecOf(input.type)),
    values: [compile(node, new Map(inputs.map((input, i) => [input.sql, i])))],
  };
  let value: SqlValue = null;
  await forEachRow(binder, reader, execution, (row) => {
    value = row[0]!;
  });
  return value;
}

/** Assignment to a column: text and bytes that don't fit are 2628, not cut as by CAST. */
function assigner(node: Node, type: SqlType, table: Table, column: number): Node {
  const limit = type.length;
  const textual = (isString(type) && isString(node.type)) || (isBinary(type) && isBinary(node.type));
  if (!textual || typeof limit !== 'number') return coerce(node, type);
  const check: Node = {
    k: 'call',
    name: 'fit',
    type: node.type,
    nullable: node.nullable,
    args: [node],
    run: ([value]) => {
      const x = value as string | Uint8Array;
      const used = typeof x === 'string' ? x.replace(/ +$/, '').length : x.length;
      if (used > limit)
        fail(2628, table.name, table.columns[column]!.name, typeof x === 'string' ? x.slice(0, limit) : '');
      return x;
    },
  };
  return coerce(check, type);
}

async function defaultValues(table: Table, execution: Execution): Promise<SqlValue[]> {
  const values: SqlValue[] = [];
  for (const [i, column] of table.columns.entries()) {
    values.push(column.fallback ? await valueFor(column.fallback, column.type, table, i, execution) : null);
  }
  return values;
}

function checked(value: SqlValue, table: Table, column: number, verb: string): SqlValue {
  const { name, nullable } = table.columns[column]!;
  if (value === null && !nullable) fail(515, name, `dbo.${table.name}`, verb);
  return value;
}

/** Rows that UPDATE and DELETE mean, with their SQLite row numbers first. */
async function affected(
  statement: Of<'update'> | Of<'delete'>,
  execution: Execution,
  values: (scope: Scope, table: Table, bind: (e: Expr) => Node) => readonly Node[],
): Promise<{ table: Table; rows: SqlValue[][] }> {
  const binder = newBinder(execution.runtime);
  const scope = new Scope();
  const alias = statement.target.at(-1)!;
  const source = statement.from ?? { k: 'table' as const, name: statement.target, alias };
  // The target may be an alias of FROM.
  const named = tableNamed(source, alias);
  const table = tableOf(named ?? statement.target, execution);
  const from = bindFrom(source, scope, binder, undefined);
  const target =
    scope.sources.find((s) => s.alias.toLowerCase() === alias.toLowerCase()) ??
    fail(208, statement.target.join('.'));
  const nodes = values(scope, table, (expr) => bindValue(expr, scope, binder));
  const where = statement.where && bindCondition(statement.where, scope, binder);
  const rowId: Node & { k: 'input' } = {
    k: 'input',
    type: bigint,
    nullable: false,
    sql: `${target.columns[0]!.sql.split('.')[0]}.rowid`,
  };
  const all = [rowId, ...nodes];
  const inputs = [...new Map(all.flatMap((node) => [...inputsOf(node)])).values()];
  const slots = new Map(inputs.map((input, i) => [input.sql, i]));
  const limit = statement.top
    ? ` LIMIT ${binder.plan.sqlOf(coerce(bindValue(statement.top, new Scope(), binder), bigint))}`
    : '';
  const sql = `SELECT ${inputs.map((input) => input.sql).join(', ')} FROM ${from()}${where ? ` WHERE ${binder.plan.sqlOf(where)}` : ''}${limit}`;
  const rows = new Map<bigint, SqlValue[]>();
  await forEachRow(
    binder,
    { sql, codecs: inputs.map((i) => codecOf(i.type)), values: all.map((node) => compile(node, slots)) },
    execution,
    (row) => {
      // A row that a join finds twice is changed once.
      if (!rows.has(row[0] as bigint)) rows.set(row[0] as bigint, row);
    },
  );
  return { table, rows: [...rows.values()] };
}

function tableNamed(source: NonNullable<Of<'update'>['from']>, alias: string): readonly string[] | undefined {
  if (source.k === 'join') return tableNamed(source.left, alias) ?? tableNamed(source.right, alias);
  return source.k === 'table' && source.alias.toLowerCase() === alias.toLowerCase() ? source.name : undefined;
}

export async function update(statement: Of<'update'>, execution: Execution): Promise<number> {
  let changed: number[] = [];
  // Found, computed and written under one lock, so that no other session comes between.
  return exclusive(execution, async () => {
    const { table, rows } = await affected(statement, execution, (scope, target, bind) => {
      changed = statement.set.map(({ column }) => {
        const i = target.columns.findIndex((c) => c.name.toLowerCase() === column.toLowerCase());
        if (i < 0) fail(207, column);
        if (target.columns[i]!.identity) fail(8102, column);
        return i;
      });
      return statement.set.map(({ op, value, column }, i) => {
        const at = changed[i]!;
        const { type, fallback } = target.columns[at]!;
        if (isDefault(value))
          return fallback ? assigner(bind(fallback), type, target, at) : constant(type, null);
        const alias = statement.target.at(-1)!;
        const node = op ? arithmetic(op, scope.resolve([alias, column]), bind(value)) : bind(value);
        return assigner(node, type, target, at);
      });
    });
    for (const row of rows)
      for (const [i, at] of changed.entries()) checked(row[i + 1]!, table, at, 'UPDATE');
    const codecs = [codecOf(bigint), ...changed.map((i) => codecOf(table.columns[i]!.type))];
    const keyed = table.keys.some((key) => key.columns.some((i) => changed.includes(i)));
    if (!keyed) {
      const sql = `UPDATE ${table.storage} SET ${changed.map((at, i) => `c${at} = ?${i + 2}`).join(', ')} WHERE rowid = ?1`;
      await writeRows(execution, table, sql, codecs, rows);
      return rows.length;
    }
    await write(execution, () => {
      const { sqlite } = execution.runtime.session.shared;
      // Keys are checked when the statement is done (id = id + 1): take the rows out, then put them back changed.
      const list = table.columns.map((_, i) =>
        changed.includes(i) ? `?${changed.indexOf(i) + 2}` : `c${i}`,
      );
      const names = table.columns.map((_, i) => `c${i}`).join(', ');
      sqlite.exec(`CREATE TEMP TABLE moved (id, ${names})`);
      try {
        for (const row of rows) {
          run(
            sqlite,
            `INSERT INTO moved SELECT rowid, ${list.join(', ')} FROM ${table.storage} WHERE rowid = ?1`,
            codecs,
            row,
            table,
          );
          run(
            sqlite,
            `DELETE FROM ${table.storage} WHERE rowid = ?1`,
            codecs.slice(0, 1),
            row.slice(0, 1),
            table,
          );
        }
        run(
          sqlite,
          `INSERT INTO ${table.storage} (rowid, ${names}) SELECT id, ${names} FROM moved`,
          [],
          [],
          table,
        );
      } finally {
        sqlite.exec('DROP TABLE IF EXISTS moved');
      }
    });
    return rows.length;
  });
}

export async function remove(statement: Of<'delete'>, execution: Execution): Promise<number> {
  return exclusive(execution, async () => {
    const { table, rows } = await affected(statement, execution, () => []);
    await writeRows(
      execution,
      table,
      `DELETE FROM ${table.storage} WHERE rowid = ?1`,
      [codecOf(bigint)],
      rows,
    );
    return rows.length;
  });
}

export async function truncate(statement: Of<'truncate'>, execution: Execution): Promise<void> {
  const table = tableOf(statement.table, execution);
  await write(execution, () => execution.runtime.session.shared.sqlite.exec(`DELETE FROM ${table.storage}`));
  if (table.identity) table.identity.last = undefined;
}

async function exclusive<T>(execution: Execution, body: () => Promise<T>): Promise<T> {
  const { session } = execution.runtime;
  await session.write(execution.signal);
  try {
    return await body();
  } finally {
    session.endWrite();
  }
}

/** Rows that are written in one turn of the event loop; more of them take turns, and the database for themselves. */
const turnRows = 500;

/** Writes all or nothing; without turns between, unless `alone`. */
export async function write(
  execution: Execution,
  body: () => void | Promise<void>,
  alone = false,
): Promise<void> {
  const { session } = execution.runtime;
  const { sqlite } = session.shared;
  if (session.doomed) fail(3930);
  await session.write(execution.signal, alone);
  try {
    sqlite.exec('SAVEPOINT s');
    try {
      const pending = body();
      if (pending) await pending;
    } catch (error) {
      sqlite.exec('ROLLBACK TO s');
      throw error;
    } finally {
      sqlite.exec('RELEASE s');
    }
  } finally {
    session.endWrite();
  }
}

/** Runs a statement of SQLite once for each row. */
async function writeRows(
  execution: Execution,
  table: Table,
  sql: string,
  codecs: readonly Codec[],
  rows: readonly (readonly SqlValue[])[],
  prepare: (row: readonly SqlValue[]) => void = () => {},
): Promise<void> {
  const many = rows.length > turnRows;
  await write(
    execution,
    many
      ? async () => {
          for (let i = 0; i < rows.length; i += turnRows) {
            runAll(rows.slice(i, i + turnRows));
            const pause = execution.slice.check();
            if (pause) await pause;
          }
        }
      : () => runAll(rows),
    many,
  );

  function runAll(part: typeof rows): void {
    const { sqlite } = execution.runtime.session.shared;
    for (const row of part) {
      prepare(row);
      run(sqlite, sql, codecs, row, table);
    }
  }
}

function run(
  sqlite: Execution['runtime']['session']['shared']['sqlite'],
  sql: string,
  codecs: readonly Codec[],
  values: readonly SqlValue[],
  table: Table,
): void {
  const statement = sqlite.prepare(sql);
  try {
    for (const [i, value] of values.entries()) sqlite.bindValue(statement, i + 1, codecs[i]!, value);
    sqlite.step(statement, []);
  } catch (error) {
    throw error instanceof KeyViolation ? duplicate(table, values) : error;
  } finally {
    sqlite.release(statement);
  }
}

function duplicate(table: Table, values: readonly SqlValue[]): SqlError {
  const key = table.keys[0];
  if (table.keys.length !== 1 || !key || values.length !== table.columns.length) {
    return new SqlError(
      2627,
      14,
      1,
      `Violation of a PRIMARY KEY or UNIQUE KEY constraint. Cannot insert duplicate key in object 'dbo.${table.name}'.`,
    );
  }
  const text = key.columns.map((i) => printed(values[i]!, table.columns[i]!.type)).join(', ');
  const kind = key.primary ? 'PRIMARY KEY' : 'UNIQUE KEY';
  return new SqlError(
    2627,
    14,
    1,
    `Violation of ${kind} constraint '${key.name}'. Cannot insert duplicate key in object 'dbo.${table.name}'. The duplicate key value is (${text}).`,
  );
}

function printed(value: SqlValue, type: SqlType): string {
  if (value === null) return '<NULL>';
  if (type.name === 'decimal' || isMoney(type)) return formatDecimal(value as bigint, type.scale ?? 4);
  if (isFixed(type) && typeof value === 'string') return value.trimEnd();
  return isString(type) || isInteger(type)
    ? String(value)
    : String(coerceValue(value, type, { name: 'nvarchar', length: 4000 }));
}
