import { randomUUID } from 'node:crypto';
import { objectName, splitName } from './catalog.js';
import type { SqlType, SqlValue } from './contract.js';
import { fail, refuse } from './errors.js';
import { arity, type FunctionBinder, strictCall } from './function-binder.js';
import { coerce, type Node } from './node.js';
import type { Runtime } from './runtime.js';
import { decimal, int, nvarchar, uniqueidentifier } from './types.js';

const name128 = nvarchar(128);

/** A value of the session, without arguments. */
const property =
  (type: SqlType, read: (runtime: Runtime) => SqlValue): FunctionBinder =>
  (args, name) => {
    arity(name, args, 0);
    return strictCall(name, type, [], (_, runtime) => read(runtime));
  };

/** A lookup by a name or an id; without an argument, the session's own. */
function lookup(
  type: SqlType,
  argument: SqlType,
  read: (key: SqlValue, runtime: Runtime) => SqlValue,
  max = 1,
): FunctionBinder {
  return (args, name) => {
    arity(name, args, 0, max);
    return strictCall(
      name,
      type,
      args.map((arg, i) => coerce(arg, i === 0 ? argument : name128)),
      (values, runtime) => read(values.length > 0 ? values[0]! : null, runtime),
    );
  };
}

function objectId(args: readonly Node[], name: string): Node {
  arity(name, args, 1, 2);
  return strictCall(
    name,
    int,
    args.map((arg) => coerce(arg, nvarchar(4000))),
    ([text, kind], { session }) => {
      const parts = splitName(text as string);
      const { name: object, schema } = objectName(parts);
      if (object.startsWith('#') || parts.at(-3)?.toLowerCase() === 'tempdb') {
        return kind === 'P' ? null : (session.tempTables.get(object.toLowerCase())?.id ?? null);
      }
      if (schema !== 'dbo') return null;
      const database = session.catalog.find(parts.at(-3) || session.database);
      const table =
        kind === null || kind === undefined || kind === 'U'
          ? database?.tables.get(object.toLowerCase())
          : undefined;
      const procedure =
        kind === null || kind === undefined || kind === 'P'
          ? database?.procedures.get(object.toLowerCase())
          : undefined;
      return table?.id ?? procedure?.id ?? null;
    },
  );
}

const schemas: Readonly<Record<string, number>> = { dbo: 1, information_schema: 3, sys: 4 };

function objectLabel(id: SqlValue, { session }: Runtime): SqlValue {
  const database = session.currentDatabase;
  const found = [...database.tables.values(), ...database.procedures.values()].find(
    (object) => object.id === id,
  );
  return found?.name ?? null;
}

const properties: Readonly<Record<string, (runtime: Runtime) => SqlValue>> = {
  servername: ({ session }) => session.serverName,
  machinename: ({ session }) => session.serverName,
  collation: () => 'SQL_Latin1_General_CP1_CI_AS',
  productversion: () => '16.0.0.0',
  productlevel: () => 'RTM',
  edition: () => 'Embedded development server',
  isintegratedsecurityonly: () => '0',
};

export const systemFunctions: Readonly<Record<string, FunctionBinder>> = {
  '@@SPID': property({ name: 'smallint' }, ({ session }) => session.id),
  '@@VERSION': property(nvarchar(300), ({ session }) => session.version),
  '@@SERVERNAME': property(name128, ({ session }) => session.serverName),
  '@@ROWCOUNT': property(int, ({ session }) => session.rowCount),
  '@@TRANCOUNT': property(int, ({ session }) => session.transactionCount),
  '@@ERROR': property(int, ({ session }) => session.lastError),
  '@@IDENTITY': property(decimal(38, 0), ({ session }) => session.lastIdentity ?? null),
  '@@LOCK_TIMEOUT': property(int, ({ session }) => session.options.lockTimeout),
  '@@MAX_PRECISION': property({ name: 'tinyint' }, () => 38),
  '@@NESTLEVEL': property(int, ({ session }) => session.nesting),
  '@@PROCID': property(int, ({ procedureId }) => procedureId),
  '@@DATEFIRST': property({ name: 'tinyint' }, () => 7),
  '@@LANGUAGE': property(name128, () => 'us_english'),
  '@@OPTIONS': property(int, () => refuse('@@OPTIONS')),
  SCOPE_IDENTITY: property(decimal(38, 0), ({ session }) => session.scopeIdentity ?? null),
  ROWCOUNT_BIG: property({ name: 'bigint' }, ({ session }) => BigInt(session.rowCount)),
  XACT_STATE: property({ name: 'smallint' }, ({ session }) =>
    session.transactionCount === 0 ? 0 : session.doomed ? -1 : 1,
  ),
  ERROR_NUMBER: property(int, ({ caught }) => caught?.number ?? null),
  ERROR_SEVERITY: property(int, ({ caught }) => caught?.class ?? null),
  ERROR_STATE: property(int, ({ caught }) => caught?.state ?? null),
  ERROR_LINE: property(int, ({ caught }) => caught?.line ?? null),
  ERROR_PROCEDURE: property(name128, ({ caught }) => caught?.procedure ?? null),
  ERROR_MESSAGE: property(nvarchar(4000), ({ caught }) => caught?.message ?? null),
  HOST_NAME: property(name128, ({ session }) => session.login.hostName),
  APP_NAME: property(name128, ({ session }) => session.login.applicationName),
  ORIGINAL_LOGIN: property(name128, ({ session }) => session.login.user),
  SUSER_SNAME: property(name128, ({ session }) => session.login.user),
  SUSER_NAME: property(name128, ({ session }) => session.login.user),
  SYSTEM_USER: property(name128, ({ session }) => session.login.user),
  USER_NAME: property(name128, () => 'dbo'),
  CURRENT_USER: property(name128, () => 'dbo'),
  SESSION_USER: property(name128, () => 'dbo'),
  USER: property(name128, () => 'dbo'),
  SCHEMA_NAME: lookup(name128, int, (id) =>
    id === null ? 'dbo' : (Object.keys(schemas).find((name) => schemas[name] === id) ?? null),
  ),
  SCHEMA_ID: lookup(int, name128, (name) =>
    name === null ? 1 : (schemas[(name as string).toLowerCase()] ?? null),
  ),
  DB_NAME: lookup(name128, int, (id, { session }) =>
    id === null
      ? session.database
      : (session.catalog.databases.find((database) => database.id === id)?.name ?? null),
  ),
  DB_ID: lookup(
    { name: 'smallint' },
    name128,
    (name, { session }) => session.catalog.find((name as string) ?? session.database)?.id ?? null,
  ),
  OBJECT_ID: objectId,
  OBJECT_NAME: lookup(name128, int, objectLabel),
  IDENT_CURRENT: lookup(decimal(38, 0), name128, (name, { session }) => {
    const table = session.currentDatabase.tables.get(
      objectName(splitName(name as string)).name.toLowerCase(),
    );
    return table?.identity ? (table.identity.last ?? table.identity.seed) : null;
  }),
  SERVERPROPERTY: (args, name) => {
    arity(name, args, 1);
    return strictCall(name, { name: 'sql_variant' }, [coerce(args[0]!, name128)], ([key], runtime) => {
      if ((key as string).toLowerCase() === 'engineedition') return { type: int, value: 3 };
      const value = properties[(key as string).toLowerCase()]?.(runtime);
      return value === undefined ? null : { type: name128, value };
    });
  },
  NEWID: (args, name) => {
    arity(name, args, 0);
    return {
      k: 'call',
      name,
      type: uniqueidentifier,
      nullable: false,
      args: [],
      volatile: true,
      run: () => randomUUID().toUpperCase(),
    };
  },
  ISNUMERIC: () => refuse('ISNUMERIC, for which TRY_CONVERT is the exact question,'),
  DEFAULT: () => fail(156, 'DEFAULT'),
};
