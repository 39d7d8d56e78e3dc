import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineSession, SqlEngine, SqlValue } from '../../../src/dev/sql-engine.js';
import { batch, errorOf, login, open } from './client.js';

let database: SqlEngine;
let session: EngineSession;
beforeAll(async () => {
  database = await open();
  session = await login(database);
});
afterAll(() => database.close());

/** The value as CONVERT to text shows it here, with its type. */
function shown(value: SqlValue, scale?: number): unknown {
  if (typeof value === 'bigint' && scale !== undefined) {
    const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
    return `${value < 0n ? '-' : ''}${scale ? `${digits.slice(0, -scale)}.${digits.slice(-scale)}` : digits}`;
  }
  return value;
}

test.each<[string, unknown, string]>([
  // Arithmetic: Transact-SQL reference, "Precision, scale, and length" and operators.
  ['1 + 2', 3, 'int'],
  ['7 / 2', 3, 'int'],
  ['-7 / 2', -3, 'int'],
  ['-7 % 3', -1, 'int'],
  ['2 + 3 * 4', 14, 'int'],
  ['(2 + 3) * 4', 20, 'int'],
  ['CAST(9223372036854775806 AS bigint) + 1', 9223372036854775807n, 'bigint'],
  ['1.0 / 3', '0.333333', 'decimal(7,6)'],
  ['2.0 / 3', '0.666666', 'decimal(7,6)'],
  ['1.5 + 1.25', '2.75', 'decimal(4,2)'],
  ['1.5 * 1.5', '2.25', 'decimal(5,2)'],
  [
    'CAST(0.0000009000 AS DECIMAL(30,20)) * CAST(1.0000000000 AS DECIMAL(30,20))',
    '0.00000090000000000',
    'decimal(38,17)',
  ],
  [
    'CAST(0.0000009000 AS DECIMAL(30,10)) * CAST(1.0000000000 AS DECIMAL(30,10))',
    '0.000001',
    'decimal(38,6)',
  ],
  ['12345678901234567890.5 + 1', '12345678901234567891.5', 'decimal(22,1)'],
  [
    'CAST(12345678901234.5678 AS decimal(18,4)) * CAST(12345678901234.5678 AS decimal(18,4))',
    '152415787532388365279682997.65279684',
    'decimal(37,8)',
  ],
  ['$1.50 + 1', '2.5000', 'money'],
  ['CAST(100 AS money) / CAST(339 AS money)', '0.2949', 'money'],
  ['2147483648', '2147483648', 'decimal(10,0)'],
  ['1e0 / 3', 1 / 3, 'float'],
  ["'a' + 'b'", 'ab', 'varchar(2)'],
  ["N'a' + 'b'", 'ab', 'nvarchar(2)'],
  ["'1' + 2", 3, 'int'],
  ["NULL + 'a'", null, 'varchar(2)'],
  ['1 + NULL', null, 'int'],
  // Conversions.
  ['CAST(10.6496 AS int)', 10, 'int'],
  ['CAST(-10.6496 AS int)', -10, 'int'],
  ['CAST(10.6496 AS numeric(10,2))', '10.65', 'decimal(10,2)'],
  ['CAST($10.6496 AS int)', 11, 'int'],
  ['CAST(10.3496847 AS money)', '10.3497', 'money'],
  ["CAST('  42 ' AS int)", 42, 'int'],
  ["CAST('' AS int)", 0, 'int'],
  ["CAST('12.345' AS decimal(5,2))", '12.35', 'decimal(5,2)'],
  ['CAST(12345 AS varchar(3))', '*', 'varchar(3)'],
  ["CAST('abcdef' AS varchar(3))", 'abc', 'varchar(3)'],
  ["CAST('ab' AS char(4))", 'ab  ', 'char(4)'],
  ['CAST(1 AS bit)', true, 'bit'],
  ["CAST('true' AS bit)", true, 'bit'],
  ['CAST(123.45 AS varchar(10))', '123.45', 'varchar(10)'],
  ['CAST(1e6 AS varchar(20))', '1e+006', 'varchar(20)'],
  ['CAST(123456.789e0 AS varchar(20))', '123457', 'varchar(20)'],
  ['CAST(0.0001e0 AS varchar(20))', '0.0001', 'varchar(20)'],
  ['CAST($1234.5 AS varchar(20))', '1234.50', 'varchar(20)'],
  [
    "CAST(CAST('2026-11-30 10:20:30 +02:00' AS datetimeoffset) AS datetime2(0))",
    639316308300000000n,
    'datetime2(0)',
  ],
  [
    "CAST('01234567-89ab-cdef-0123-456789abcdef' AS uniqueidentifier)",
    '01234567-89AB-CDEF-0123-456789ABCDEF',
    'uniqueidentifier',
  ],
  // Functions.
  ["LEN('abc  ')", 3, 'int'],
  ["SUBSTRING('abcdef', 0, 3)", 'ab', 'varchar(6)'],
  ["COALESCE(NULL, 'x', 'yy')", 'x', 'varchar(2)'],
  ['NULLIF(1, 1)', null, 'int'],
  ["ISNULL(NULL, 'x')", 'x', 'varchar(1)'],
  ['CASE WHEN 1 = 2 THEN 1 ELSE 2.5 END', '2.5', 'decimal(11,1)'],
  ["CASE 'A' WHEN 'a' THEN 'same' ELSE 'other' END", 'same', 'varchar(5)'],
  ["CASE WHEN 'a ' = 'a' THEN 1 ELSE 0 END", 1, 'int'],
  ["CASE WHEN N'É' = N'é' THEN 1 ELSE 0 END", 1, 'int'],
  ["CASE WHEN N'é' = N'e' THEN 1 ELSE 0 END", 0, 'int'],
  ["CASE WHEN 'a' = 'A' COLLATE Latin1_General_CS_AS THEN 1 ELSE 0 END", 0, 'int'],
  ["CASE WHEN 'a' = 'A' COLLATE latin1_general_100_bin2_utf8 THEN 1 ELSE 0 END", 0, 'int'],
  ["CASE WHEN 'a' = 'A' COLLATE Japanese_XJIS_140_CI_AS_KS_WS_VSS THEN 1 ELSE 0 END", 1, 'int'],
  ['CASE WHEN NULL IN (1, 2) THEN 1 ELSE 0 END', 0, 'int'],
  ['CASE WHEN 3 NOT BETWEEN 1 AND 2 THEN 1 ELSE 0 END', 1, 'int'],
  ['IIF(1.0 = 1, 1, 0)', 1, 'int'],
  [
    "CASE WHEN CAST('2026-01-01 12:00 +02:00' AS datetimeoffset) = CAST('2026-01-01 10:00 +00:00' AS datetimeoffset) THEN 1 ELSE 0 END",
    1,
    'int',
  ],
])('%s', async (sql, expected, type) => {
  const answer = await batch(session, `SELECT ${sql}`);
  expect(answer.messages).toEqual([]);
  const { name, length, precision, scale } = answer.sets[0]!.columns[0]!.type;
  const detail =
    precision !== undefined
      ? `(${precision},${scale})`
      : (length ?? scale) !== undefined
        ? `(${length ?? scale})`
        : '';
  const value = shown(
    answer.sets[0]!.rows[0]![0]!,
    name === 'decimal' ? scale : name === 'money' ? 4 : undefined,
  );
  expect([value, name + detail]).toEqual([expected, type]);
  expect(answer.sets[0]!.columns[0]!.name).toBe('');
});

test.each<[string, number]>([
  ['1 / 0', 8134],
  ['1.0 / 0', 8134],
  ['1e0 / 0', 8134],
  ['2147483647 + 1', 8115],
  ['1e309', 168],
  ['-1.8e308', 168],
  ['CAST(255 AS tinyint) + CAST(1 AS tinyint)', 8115],
  ['CAST(256 AS tinyint)', 220],
  ['CAST(9223372036854775807 AS bigint) + 1', 8115],
  ['CAST(1000 AS decimal(3,0))', 8115],
  ['CAST(99999999999999999999999999999999999999 AS decimal(38,0)) + 1', 8115],
  ["CAST('x' AS int)", 245],
  ["CAST('x' AS decimal(5,2))", 8114],
  ["CAST('x' AS float)", 8114],
  ["CAST('x' AS date)", 241],
  ["CAST('1752-01-01' AS datetime)", 242],
  ["CAST('x' AS uniqueidentifier)", 8169],
  ["CAST('x' AS money)", 235],
  ['GETDATE() + 1', 40510],
  ["'a' - 'b'", 402],
  ["'a' LIKE 'a'", 40510],
  ['CASE WHEN CAST(GETDATE() AS date) = 1 THEN 1 END', 206],
  ['1 = 1', 102],
  ['NOSUCH(1)', 195],
  ["CAST(N'ж' AS varchar(5))", 40510],
  ['CAST(0.1e0 AS decimal(38,20))', 40510],
  ["JSON_VALUE(N'{}', '$')", 40510],
  ["'a' COLLATE Nowhere_CI_AS", 448],
  ["'a' COLLATE Latin1_General_CI", 448],
  ["'a' COLLATE Latin1_General_CI_AS_", 448],
])('%s is error %i', async (sql, number) => {
  expect(await errorOf(session, `SELECT ${sql}`)).toBe(number);
});

const collations = ['Latin1_General_CS_AS', 'Latin1_General_BIN'] as const;
const sides = collations.map((collation) => `'a' COLLATE ${collation}`);
test.each<[string, string]>([
  [`CASE WHEN ${sides.join(' = ')} THEN 1 END`, 'equal to operation'],
  [`CASE WHEN ${sides.join(' >= ')} THEN 1 END`, 'greater than or equal to operation'],
  [sides.join(' + '), 'add operation'],
  [
    "CASE WHEN CAST('a' AS text) = 'a' THEN 1 END",
    'The data types text and varchar are incompatible in the equal to operator.',
  ],
  [
    "CASE WHEN 'a' < CAST('a' AS text) THEN 1 END",
    'The data types varchar and text are incompatible in the less than operator.',
  ],
])('the message of %s names the operation', async (sql, text) => {
  const { messages } = await batch(session, `SELECT ${sql}`);
  const conflict = `Cannot resolve the collation conflict between "${collations.join('" and "')}" in the ${text}.`;
  expect(messages.map(({ message }) => message)).toEqual([text.endsWith('.') ? text : conflict]);
});

test.each(['typical', 'min', 'max', 'null'])(
  'dev.types gives one row of every type, kind %s',
  async (kind) => {
    const answer = await batch(session, `EXEC dev.types @kind = '${kind}'`);
    expect(answer.messages).toEqual([]);
    expect(answer.sets[0]!.rows.length).toBe(1);
    expect(answer.sets[0]!.rows[0]!.every((value) => (value === null) === (kind === 'null'))).toBe(true);
    expect(new Set(answer.sets[0]!.columns.map(({ type }) => type.name)).size).toBe(29);
  },
);
