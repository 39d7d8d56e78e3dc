import type { Statement } from './ast.js';
import { objectName, type Procedure, type Table, type TableKey } from './catalog.js';
import { collationOf } from './codec.js';
import type { SqlType } from './contract.js';
import { fail } from './errors.js';
import { datetimeNow, type Session } from './session.js';
import { isLarge } from './types.js';

type Of<K extends Statement['k']> = Extract<Statement, { k: K }>;

function home(parts: readonly string[], session: Session) {
  const name = objectName(parts);
  if (name.schema !== 'dbo') fail(2760, name.schema);
  const database = name.database ? session.catalog.find(name.database) : session.currentDatabase;
  return { name: name.name, database: database ?? fail(911, name.database!) };
}

/** CREATE TABLE; also what SELECT ... INTO does. */
export function createTable(
  statement: Pick<Of<'createTable'>, 'name' | 'columns' | 'keys'>,
  session: Session,
): Table {
  const { name, database } = home(statement.name, session);
  const tables = name.startsWith('#') ? session.tempTables : database.tables;
  const key = name.toLowerCase();
  if (tables.has(key) || (!name.startsWith('#') && database.procedures.has(key))) fail(2714, name);
  const seen = new Set<string>();
  for (const column of statement.columns) {
    if (seen.has(column.name.toLowerCase())) fail(2705, column.name, name);
    seen.add(column.name.toLowerCase());
  }
  const identities = statement.columns.filter((column) => column.identity);
  if (identities.length > 1) fail(2744, name);
  if (statement.keys.filter((k) => k.primary).length > 1) fail(8110, name);
  const id = session.catalog.newId();
  const keys = statement.keys.map((k, i): TableKey => {
    const columns = k.columns.map((column) => {
      const at = statement.columns.findIndex((c) => c.name.toLowerCase() === column.toLowerCase());
      if (at < 0) fail(1911, `Column name '${column}' does not exist in the target table or view.`);
      const definition = statement.columns[at]!;
      if (isLarge(definition.type) || definition.type.length === 'max') fail(1919, definition.name, name);
      if (k.primary && definition.nullable === true) fail(8111, name);
      return at;
    });
    return {
      name:
        k.name ??
        `${k.primary ? 'PK' : 'UQ'}__${name.slice(0, 8)}__${(id + i).toString(16).toUpperCase().padStart(16, '0')}`,
      primary: k.primary,
      columns,
    };
  });
  const primary = new Set(keys.filter((k) => k.primary).flatMap((k) => k.columns));
  const columns = statement.columns.map((column, i) => ({
    name: column.name,
    type: column.type,
    nullable: primary.has(i) || column.identity ? false : (column.nullable ?? true),
    identity: column.identity !== undefined,
    fallback: column.fallback,
  }));
  const identity = identities[0]?.identity;
  const table: Table = {
    id,
    name,
    columns,
    keys,
    storage: `t${id}`,
    identity: identity && { ...identity, last: undefined },
    created: datetimeNow(),
  };
  session.shared.sqlite.exec(
    `CREATE TABLE ${table.storage} (${columns.map(({ type }, i) => `c${i}${collate(type)}`).join(', ')})`,
  );
  keys.forEach((k, i) => {
    session.shared.sqlite.exec(
      `CREATE UNIQUE INDEX ${table.storage}k${i} ON ${table.storage} (${keyColumns(k, columns)})`,
    );
  });
  tables.set(key, table);
  return table;
}

const collate = (type: SqlType): string => (collationOf(type) ? ` COLLATE ${collationOf(type)}` : '');

/** In a unique key of T-SQL two NULLs are equal; in SQLite's they are not, so a marker column tells them. */
const keyColumns = (key: TableKey, columns: Table['columns']): string =>
  key.columns
    .flatMap((i) =>
      columns[i]!.nullable ? [`ifnull(c${i}, 0)${collate(columns[i]!.type)}`, `c${i} IS NULL`] : [`c${i}`],
    )
    .join(', ');

export function createProcedure(statement: Of<'createProcedure'>, session: Session): void {
  const { name, database } = home(statement.name, session);
  const key = name.toLowerCase();
  const known = database.procedures.get(key);
  if (statement.mode === 'CREATE' && (known || database.tables.has(key))) fail(2714, name);
  if (statement.mode === 'ALTER' && !known) fail(208, statement.name.join('.'));
  const now = datetimeNow();
  const procedure: Procedure = {
    id: known?.id ?? session.catalog.newId(),
    name,
    parameters: statement.parameters,
    body: statement.body,
    text: statement.text,
    created: known?.created ?? now,
    modified: now,
  };
  database.procedures.set(key, procedure);
}

export function drop(statement: Of<'drop'>, session: Session): void {
  for (const parts of statement.names) {
    const { database, schema, name } = objectName(parts);
    const owner =
      (database ? session.catalog.find(database) : session.currentDatabase) ?? session.currentDatabase;
    const temp = name.startsWith('#');
    const objects: Map<string, unknown> =
      statement.object === 'procedure' ? owner.procedures : temp ? session.tempTables : owner.tables;
    const found = schema === 'dbo' ? objects.get(name.toLowerCase()) : undefined;
    if (!found) {
      if (statement.ifExists) continue;
      fail(3701, statement.object, parts.join('.'));
    }
    objects.delete(name.toLowerCase());
    // The rows stay until the transaction ends, which may bring the table back.
    if (statement.object === 'table') session.shared.garbage.push((found as Table).storage);
  }
}
