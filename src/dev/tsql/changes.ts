import type { SqlType } from '../sql-engine.js';
import { bindCondition, bindValue, type Scope } from './bind.js';
import { convert } from './convert.js';
import { fail, refuse, sqlError } from './errors.js';
import { type Bound, checkedImplicit, constant, lenient, Plan } from './expression.js';
import { findTable, isSame } from './names.js';
import { literal, parseExpression, parseQuery, skipTableHints } from './parse-query.js';
import type { Reader } from './reader.js';
import { bindQuery } from './select.js';
import type { Frame, Session, Statement, Table } from './session.js';
import { KeyViolation } from './sqlite.js';
import { counted, type StatementParser } from './statements.js';
import type { Name } from './syntax.js';
import { bigint, int } from './types.js';

/** A table that is changed, as the scope of its change. */
function target(name: Name, frame: Frame): { readonly table: Table; readonly scope: Scope } {
  const table = findTable(name, frame.session) ?? fail(208, name.join('.'));
  const columns = table.columns.map((column, i) => ({ ...column, sql: `c${i}` }));
  return {
    table,
    scope: { frame, plan: new Plan(), sources: [{ alias: table.name, columns }], aggregates: undefined },
  };
}

function columnAt({ columns }: Table, name: string): number {
  const i = columns.findIndex((column) => isSame(column.name, name));
  return i < 0 ? fail(207, name) : i;
}

/** A value for a column: text and bytes that don't fit are 2628, not cut as by CAST, and NULL may be 515. */
function fitted(given: Bound, table: Table, at: number, verb: string): Bound {
  const { name, type, nullable } = table.columns[at]!;
  const value = checkedImplicit(given, type);
  const bound = lenient(type, [value], (x) => {
    if (x === null) return nullable ? null : fail(515, name, `dbo.${table.name}`, verb);
    const text = typeof x === 'string' ? x.replace(/ +$/, '') : x instanceof Uint8Array ? x : '';
    if (typeof type.length === 'number' && text.length > type.length)
      fail(2628, table.name, name, typeof text === 'string' ? text.slice(0, type.length) : '');
    return convert(x, value.type, type);
  });
  return { ...bound, isVolatile: given.isVolatile ?? false };
}

/** Runs a change in SQLite, all or nothing, within one turn of the event loop. */
async function change(
  kind: 'insert' | 'update' | 'delete',
  sql: string,
  plan: Plan,
  table: Table,
  frame: Frame,
): Promise<undefined> {
  const { session, signal } = frame;
  let count = 0;
  await session.write(signal, () => {
    try {
      count = session.shared.sqlite.exec(sql, plan.parameters, plan.callbacks);
    } catch (error) {
      throw error instanceof KeyViolation ? sqlError(2627, table.keyName, table.name) : error;
    }
  });
  return counted(kind, count, frame);
}

function parseInsert(r: Reader): Statement['run'] {
  r.take('INTO');
  const name = parseTarget(r);
  const columns = r.is('(') ? r.inParentheses(() => r.list(() => r.name())) : undefined;
  const rows = r.take('VALUES') ? r.list(() => r.inParentheses(() => r.list(() => parseExpression(r)))) : [];
  const query = rows.length === 0 ? parseQuery(r) : undefined;
  return (frame) => {
    const { table, scope } = target(name, frame);
    const places =
      columns?.map((column) => columnAt(table, column)) ??
      table.columns.flatMap(({ identity }, i) => (identity ? [] : [i]));
    if (places.some((i) => table.columns[i]!.identity)) fail(544, table.name);
    const selected = query && bindQuery(query, frame);
    const { plan } = selected ?? scope;
    const emit = (values: readonly Bound[]): string => {
      if (values.length !== places.length) {
        const isShort = values.length < places.length;
        fail(!columns ? 213 : query ? (isShort ? 120 : 121) : isShort ? 109 : 110);
      }
      const list = table.columns.map(({ fallback, identity, type }, i) => {
        if (identity) return plan.sqlOf(nextIdentity(table, type, frame.session));
        const given = values[places.indexOf(i)] ?? bindValue(fallback ?? literal(int, null), scope);
        return plan.sqlOf(fitted(given, table, i, 'INSERT'));
      });
      return list.join(', ');
    };
    const sql = selected
      ? `SELECT ${emit(selected.outputs.map(({ value }) => value))}${selected.tail ?? ''}`
      : `VALUES ${rows.map((row) => `(${emit(row.map((expr) => bindValue(expr, { ...scope, sources: [] })))})`).join(', ')}`;
    return change('insert', `INSERT INTO ${table.storage} ${sql}`, plan, table, frame);
  };
}

function nextIdentity({ identity }: Table, type: SqlType, session: Session): Bound {
  const run = () => {
    session.lastIdentity = identity.next;
    identity.next += identity.increment;
    return convert(session.lastIdentity, bigint, type);
  };
  return { ...constant(type, null), nullable: false, run, isVolatile: true };
}

/** The table that is changed. */
function parseTarget(r: Reader): Name {
  const name = r.qualifiedName();
  skipTableHints(r);
  return name;
}

/** WHERE, as SQLite text. */
function parseWhere(r: Reader): (scope: Scope) => string {
  if (r.is('FROM')) refuse('FROM in UPDATE and DELETE');
  const where = r.take('WHERE') ? parseExpression(r) : undefined;
  return (scope) => (where ? ` WHERE ${scope.plan.sqlOf(bindCondition(where, scope))}` : '');
}

function parseUpdate(r: Reader): Statement['run'] {
  const name = parseTarget(r);
  r.expect('SET');
  const sets = r.list(() => {
    const column = r.qualifiedName().at(-1)!;
    r.expect('=');
    return { column, value: parseExpression(r) };
  });
  const where = parseWhere(r);
  return (frame) => {
    const { table, scope } = target(name, frame);
    const list = sets.map(({ column, value }) => {
      const at = columnAt(table, column);
      if (table.columns[at]!.identity) fail(8102, column);
      if (table.key.includes(at)) refuse('An UPDATE of a primary key');
      return `c${at} = ${scope.plan.sqlOf(fitted(bindValue(value, scope), table, at, 'UPDATE'))}`;
    });
    return change(
      'update',
      `UPDATE ${table.storage} SET ${list.join(', ')}${where(scope)}`,
      scope.plan,
      table,
      frame,
    );
  };
}

function parseDelete(r: Reader): Statement['run'] {
  r.take('FROM');
  const name = parseTarget(r);
  const where = parseWhere(r);
  return (frame) => {
    const { table, scope } = target(name, frame);
    return change('delete', `DELETE FROM ${table.storage}${where(scope)}`, scope.plan, table, frame);
  };
}

/** Statements that change the rows of a table. */
export const changeStatements: Readonly<Record<string, StatementParser>> = {
  DELETE: parseDelete,
  INSERT: parseInsert,
  UPDATE: parseUpdate,
};
