import type { SqlType } from '../sql-engine.js';
import { checkCollation } from './collation.js';
import { fail, refuse } from './errors.js';
import { findTable, isSame, objectName } from './names.js';
import { parseExpression, parseType } from './parse-query.js';
import { parseParameter } from './procedures.js';
import type { Reader } from './reader.js';
import type { Frame, Session, Statement, Table } from './session.js';
import { done, parseBody, type StatementParser } from './statements.js';
import { checkOrder, collate } from './stored.js';
import type { Expr, Name } from './syntax.js';

interface Definition {
  readonly name: string;
  readonly type: SqlType;
  readonly nullable: boolean | undefined;
  readonly identity: readonly [seed: number, increment: number] | undefined;
  readonly fallback: Expr | undefined;
}
type Key = { readonly name: string | undefined; readonly columns: readonly string[] };

/** `CREATE TABLE name (columns and a primary key)`, after the word TABLE. */
function parseCreateTable(r: Reader): Statement['run'] {
  const name = r.qualifiedName();
  const columns: Definition[] = [];
  let key: Key = { name: undefined, columns: [] };
  r.inParentheses(() =>
    r.list(() => {
      if (r.isAny('CONSTRAINT', 'PRIMARY', 'UNIQUE', 'FOREIGN', 'CHECK', 'INDEX')) key = parseKey(r);
      else
        columns.push(
          parseColumn(r, (own) => {
            key = own;
          }),
        );
    }),
  );
  return (frame) => {
    return define(frame, () => createTable(name, columns, key, frame.session));
  };
}

function parseKey(r: Reader, column?: string): Key {
  const name = r.take('CONSTRAINT') ? r.name() : undefined;
  r.expect('PRIMARY', 'KEY');
  if (!r.take('CLUSTERED')) r.take('NONCLUSTERED');
  return { name, columns: column ? [column] : r.inParentheses(() => r.list(() => r.name())) };
}

function parseColumn(r: Reader, setKey: (key: Key) => void): Definition {
  const name = r.name();
  if (r.is('AS')) refuse('A computed column');
  let type = parseType(r);
  if (type.name === 'rowversion' || type.name === 'sql_variant')
    refuse(`A table column of type ${type.name}`);
  let nullable: boolean | undefined;
  let identity: Definition['identity'];
  let fallback: Expr | undefined;
  while (!r.isAny(',', ')')) {
    if (r.take('NOT', 'NULL')) nullable = false;
    else if (r.take('NULL')) nullable = true;
    else if (r.take('COLLATE')) type = { ...type, collation: checkCollation(r.name()) };
    else if (r.take('IDENTITY')) {
      const [seed = 1, increment = 1] = r.is('(') ? r.inParentheses(() => r.list(() => r.integer())) : [];
      identity = [seed, increment];
    } else if (r.take('DEFAULT')) fallback = parseExpression(r, 5);
    else setKey(parseKey(r, name));
  }
  return { name, type, nullable, identity, fallback };
}

function createTable(
  parts: Name,
  definitions: readonly Definition[],
  { name: keyName, columns }: Key,
  session: Session,
): void {
  const { name, database } = objectName(parts, session);
  const tables = (name.startsWith('#') ? session.tempTables : database?.tables) ?? fail(208, parts.join('.'));
  if (tables.has(name.toLowerCase()) || database?.procedures.has(name.toLowerCase())) fail(2714, name);
  const key = columns.map((column) => definitions.findIndex((definition) => isSame(definition.name, column)));
  for (const [i, { name: column, nullable, type }] of definitions.entries()) {
    if (definitions.findIndex((other) => isSame(other.name, column)) < i) fail(2705, column, name);
    if (!key.includes(i)) continue;
    if (nullable) fail(8111, name);
    checkOrder(type, 'key');
  }
  if (key.includes(-1)) fail(1911, columns[key.indexOf(-1)]!);
  const [seed, increment] = definitions.find(({ identity }) => identity)?.identity ?? [1, 1];
  const id = session.newId();
  const table: Table = {
    id,
    name,
    columns: definitions.map((column, i) => ({
      ...column,
      nullable: !key.includes(i) && !column.identity && column.nullable !== false,
      identity: column.identity !== undefined,
    })),
    key,
    keyName: keyName ?? `PK__${name.slice(0, 8)}__${id.toString(16).toUpperCase().padStart(16, '0')}`,
    storage: `t${id}`,
    identity: { increment: BigInt(increment), next: BigInt(seed) },
  };
  const { sqlite } = session.shared;
  sqlite.exec(
    `CREATE TABLE t${id} (${table.columns.map(({ type }, i) => `c${i}${collate(type)}`).join(', ')})`,
  );
  if (key.length > 0)
    sqlite.exec(`CREATE UNIQUE INDEX k${id} ON t${id} (${key.map((i) => `c${i}`).join(', ')})`);
  tables.set(name.toLowerCase(), table);
}

/** `CREATE [OR ALTER] PROCEDURE` or `CREATE TABLE`. */
function parseCreate(r: Reader): Statement['run'] {
  if (r.take('TABLE')) return parseCreateTable(r);
  const mayExist = r.take('OR', 'ALTER');
  if (!r.take('PROCEDURE')) r.expect('PROC');
  const parts = r.qualifiedName();
  const isEnclosed = r.take('(');
  const parameters = r.token.kind === 'variable' ? r.list(() => parseParameter(r)) : [];
  if (isEnclosed) r.expect(')');
  r.expect('AS');
  const body = parseBody(r, () => r.token.kind === 'end');
  return (frame) => {
    const { session } = frame;
    return define(frame, () => {
      const { name, database } = objectName(parts, session);
      const { procedures, tables } = database ?? fail(208, parts.join('.'));
      const key = name.toLowerCase();
      const known = procedures.get(key);
      if ((known && !mayExist) || tables.has(key)) fail(2714, name);
      const id = known?.id ?? session.newId();
      procedures.set(key, { id, name, parameters, body });
    });
  };
}

/** `DROP TABLE|PROCEDURE [IF EXISTS] names`, after the word DROP. */
function parseDrop(r: Reader): Statement['run'] {
  const isTable = r.take('TABLE');
  if (!isTable && !r.take('PROCEDURE')) r.expect('PROC');
  const isLenient = r.take('IF', 'EXISTS');
  const names = r.list(() => r.qualifiedName());
  return (frame) => {
    const { session } = frame;
    return define(frame, () => {
      for (const parts of names) {
        const { name, database } = objectName(parts, session);
        const table = isTable ? findTable(parts, session) : undefined;
        const objects = name.startsWith('#')
          ? session.tempTables
          : isTable
            ? database?.tables
            : database?.procedures;
        if (!objects?.delete(name.toLowerCase()) && !isLenient)
          fail(3701, isTable ? 'table' : 'procedure', parts.join('.'));
        if (table) session.shared.garbage.push(table.storage);
      }
    });
  };
}

/** Changes the catalog, which ROLLBACK would not bring back. */
async function define(frame: Frame, body: () => void): Promise<undefined> {
  if (frame.session.transactionCount > 0) refuse('CREATE and DROP within a transaction');
  await frame.session.write(frame.signal, body);
  return done(frame);
}

/** Statements that make and drop tables and procedures. */
export const definitionStatements: Readonly<Record<string, StatementParser>> = {
  CREATE: parseCreate,
  DROP: parseDrop,
};
