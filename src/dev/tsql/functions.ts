import { randomUUID } from 'node:crypto';
import type { SqlType, SqlValue } from '../sql-engine.js';
import { sizeIn } from './convert.js';
import { fromMoment, ticksOfUnixMs } from './dates.js';
import { fail } from './errors.js';
import {
  type Bound,
  caseOf,
  coerce,
  comparison,
  constant,
  isNullTest,
  lenient,
  not,
  strict,
} from './expression.js';
import { findTable, objectName, splitName } from './names.js';
import type { Frame } from './session.js';
import { bigint, datetime, decimal, int, isString, isUnicode, nvarchar, varchar } from './types.js';

type Make = (args: readonly Bound[], frame: Frame) => Bound;
type Entry = readonly [least: number, most: number, make: Make];

/** An argument as text; numbers and dates convert as SQL Server does implicitly. */
const text = (a: Bound): Bound => (isString(a.type) ? a : coerce(a, varchar(8000)));

/** A function of text and of numbers after it; its result is not longer than the text. */
const part = (count: number, run: (s: string, a: number, b: number) => string): Entry => [
  count,
  count,
  ([a, ...numbers]) => {
    const source = text(a!);
    const { type } = source;
    const varying: SqlType = {
      ...type,
      name: isUnicode(type) ? 'nvarchar' : 'varchar',
      length: type.length ?? 'max',
    };
    return strict(varying, [source, ...numbers.map((n) => coerce(n, int))], (s, x, y) => {
      const result = run(s as string, x as number, y as number);
      if (!isUnicode(type)) sizeIn(varying, result);
      return result;
    });
  },
];

/** Character by character, as SQL Server does: ß, which would become two, stays. */
const eachOf = (s: string, change: (character: string) => string): string =>
  s.replace(/./gsu, (character) => {
    const changed = change(character);
    return changed.length === character.length ? changed : character;
  });

/** A value of the session; with an argument, a lookup by a name. */
const property = (type: SqlType, read: (frame: Frame, key?: string) => SqlValue, most = 0): Entry => [
  0,
  most,
  ([key], frame) =>
    lenient(type, key ? [coerce(key, nvarchar(4000))] : [], (name) =>
      read(frame, name as string | undefined),
    ),
];

// The server's time zone is UTC, as in Azure: results must not depend on the machine.
const now = (type: SqlType): Entry =>
  property(type, ({ session }) =>
    fromMoment({ ticks: ticksOfUnixMs(session.now), offset: 0 }, datetime, type),
  );

/** Functions by name, with the least and the largest number of their arguments. */
const functions: Readonly<Record<string, Entry>> = {
  COALESCE: [
    2,
    254,
    (args) => caseOf([...args.slice(0, -1).flatMap((a) => [not(isNullTest(a)), a]), args.at(-1)!]),
  ],
  ISNULL: [
    2,
    2,
    ([a, b]) => {
      const type = a!.literal === null ? b!.type : a!.type;
      return {
        ...lenient(type, [coerce(a!, type), coerce(b!, type)], (x, y) => x ?? y!),
        nullable: b!.nullable,
      };
    },
  ],
  LEN: [
    1,
    1,
    ([a]) => {
      const length = strict(int, [text(a!)], (s) => (s as string).replace(/ +$/, '').length);
      return a!.type.length === 'max' ? coerce(length, bigint) : length;
    },
  ],
  LOWER: part(1, (s) => eachOf(s, (c) => c.toLowerCase())),
  NEWID: [
    0,
    0,
    () => ({
      ...strict({ name: 'uniqueidentifier' }, [], () => randomUUID().toUpperCase()),
      isVolatile: true,
    }),
  ],
  NULLIF: [2, 2, ([a, b]) => caseOf([comparison('=', a!, b!), constant(a!.type, null), a!])],
  SUBSTRING: part(3, (s, from, n) =>
    n < 0 ? fail(537) : s.slice(Math.max(0, from - 1), Math.max(0, from - 1 + n)),
  ),
  UPPER: part(1, (s) => eachOf(s, (c) => c.toUpperCase())),
  GETDATE: now(datetime),
  GETUTCDATE: now(datetime),
  SYSDATETIMEOFFSET: now({ name: 'datetimeoffset', scale: 7 }),
  SYSUTCDATETIME: now({ name: 'datetime2', scale: 7 }),
  '@@ERROR': property(int, ({ session }) => session.lastError),
  '@@ROWCOUNT': property(int, ({ session }) => session.rowCount),
  '@@SPID': property({ name: 'smallint' }, ({ session }) => session.id),
  '@@TRANCOUNT': property(int, ({ session }) => session.transactionCount),
  '@@VERSION': property(
    nvarchar(300),
    () =>
      'Embedded development server (this is not Microsoft SQL Server; it speaks TDS 7.4 and a subset of T-SQL)',
  ),
  DB_NAME: property(nvarchar(128), ({ session }) => session.home.name),
  ERROR_LINE: property(int, ({ caught }) => caught?.line ?? null),
  ERROR_MESSAGE: property(nvarchar(4000), ({ caught }) => caught?.message ?? null),
  ERROR_NUMBER: property(int, ({ caught }) => caught?.number ?? null),
  ERROR_PROCEDURE: property(nvarchar(128), ({ caught }) => caught?.procedure ?? null),
  ERROR_SEVERITY: property(int, ({ caught }) => caught?.class ?? null),
  ERROR_STATE: property(int, ({ caught }) => caught?.state ?? null),
  OBJECT_ID: property(
    int,
    ({ session }, key = '') => {
      const parts = splitName(key);
      const { database, name } = objectName(parts, session);
      return findTable(parts, session)?.id ?? database?.procedures.get(name.toLowerCase())?.id ?? null;
    },
    2,
  ),
  SCHEMA_ID: property(int, (_, key = 'dbo') => (key.toLowerCase() === 'dbo' ? 1 : null), 1),
  SCOPE_IDENTITY: property(decimal(38, 0), ({ session }) => session.lastIdentity),
  XACT_STATE: property({ name: 'smallint' }, ({ session }) =>
    session.isDoomed ? -1 : Math.min(1, session.transactionCount),
  ),
};

export const functionNames = (): string[] =>
  [...Object.keys(functions), 'CASE', 'CAST', 'CONVERT', 'COUNT', 'IIF', 'MAX', 'MIN', 'SUM'].sort();

export function bindFunction(name: string, args: readonly Bound[], frame: Frame): Bound {
  if (!Object.hasOwn(functions, name)) return fail(name.startsWith('@@') ? 137 : 195, name);
  const [least, most, make] = functions[name]!;
  return args.length < least || args.length > most ? fail(174, name.toLowerCase(), least) : make(args, frame);
}
