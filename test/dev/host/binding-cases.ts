/** Recordsets whose JSON is kept in golden/data-table.json, as the extension makes it of what the embedded server sends. */
import type { SqlType, SqlValue } from '../../../src/dev/sql-engine.js';
import { recordset, TestEngine } from '../../helpers/tds-engine.js';

/** 100 ns units from 0001-01-01 to the date, as the engine has them. */
const ticks = (iso: string) => BigInt(Date.parse(iso) + 62_135_596_800_000) * 10_000n;
const days = (iso: string) => Number(ticks(iso) / 864_000_000_000n);
const nvarchar: SqlType = { name: 'nvarchar', length: 100 };

/** The rows of the witness, as the server sends them. */
const cases: Record<string, { type: SqlType; values: SqlValue[] }> = {
  bit: { type: { name: 'bit' }, values: [true, false, null] },
  tinyint: { type: { name: 'tinyint' }, values: [0, 255] },
  smallint: { type: { name: 'smallint' }, values: [-32_768, 32_767] },
  int: { type: { name: 'int' }, values: [-2_147_483_648, 2_147_483_647] },
  bigint: { type: { name: 'bigint' }, values: [1n, 9007199254740993n, -(2n ** 63n), 2n ** 63n - 1n] },
  'decimal(10,2)': {
    type: { name: 'decimal', precision: 10, scale: 2 },
    values: [1250n, 0n, -9_999_999_999n],
  },
  'decimal(28,10)': {
    type: { name: 'decimal', precision: 28, scale: 10 },
    values: [1234567890123456780123456789n, 1n, 4905599999999994n],
  },
  'decimal(38,19)': {
    type: { name: 'decimal', precision: 38, scale: 19 },
    values: [10n ** 20n, 15n * 10n ** 18n],
  },
  money: { type: { name: 'money' }, values: [9_223_372_036_854_775_807n, -1n, 3_333_400n] },
  smallmoney: { type: { name: 'smallmoney' }, values: [2_147_483_647n] },
  float: { type: { name: 'float' }, values: [0.1, 1e300, 5e-324, 0, 100] },
  real: { type: { name: 'real' }, values: [Math.fround(0.1), Math.fround(3.4028235e38), 16_777_216, 1.5] },
  nvarchar: {
    type: nvarchar,
    values: ['Grüße, 😀 \u2028\u0085 "\\/\t\u0001', '', '2020-10-06T07:45:16.081+02:00', '89e7073266'],
  },
  varbinary: { type: { name: 'varbinary', length: 8 }, values: [Uint8Array.of(0, 255, 1), new Uint8Array()] },
  uniqueidentifier: { type: { name: 'uniqueidentifier' }, values: ['6F9619FF-8B86-D011-B42D-00C04FC964FF'] },
  date: {
    type: { name: 'date' },
    values: ['0001-01-01', '2026-11-30', '9999-12-31'].map(days),
  },
  datetime: {
    type: { name: 'datetime' },
    values: [ticks('2026-11-30T10:20:30.997Z') - 3_333n, ticks('1753-01-01')],
  },
  smalldatetime: { type: { name: 'smalldatetime' }, values: [ticks('2026-11-30T10:21:00Z')] },
  'datetime2(7)': {
    type: { name: 'datetime2', scale: 7 },
    values: [639_000_000_001_234_567n, ticks('9999-12-31') + 863_999_999_999n],
  },
  'datetimeoffset(7)': {
    type: { name: 'datetimeoffset', scale: 7 },
    values: [
      { ticks: ticks('2026-11-30T10:20:30Z'), offset: 0 },
      { ticks: ticks('2026-11-30T03:20:30.123Z') + 4_567n, offset: 420 },
      { ticks: ticks('2026-11-30T03:20:30Z'), offset: -720 },
    ],
  },
  xml: { type: { name: 'xml' }, values: ['<a b="1">ä</a>', null] },
  rowversion: { type: { name: 'rowversion' }, values: [Uint8Array.of(0, 0, 0, 0, 0, 0, 7, 209)] },
  'time(7)': {
    type: { name: 'time', scale: 7 },
    values: [372_300_000_000, 1, 863_999_999_999, 0],
  },
};

/** Each in a recordset of its own, followed by NULL. */
const variants: readonly { type: SqlType; value: SqlValue }[] = [
  { type: { name: 'int' }, value: 7 },
  { type: { name: 'bigint' }, value: 9007199254740993n },
  { type: { name: 'bit' }, value: true },
  // SqlClient takes 16 bytes of digits for it, whatever its precision.
  { type: { name: 'decimal', precision: 5, scale: 2 }, value: -150n },
  { type: { name: 'money' }, value: 3_333_400n },
  { type: { name: 'float' }, value: 0.1 },
  { type: { name: 'real' }, value: Math.fround(0.1) },
  { type: nvarchar, value: 'ä日' },
  { type: { name: 'varchar', length: 10 }, value: 'ä€' },
  { type: { name: 'varbinary', length: 8 }, value: Uint8Array.of(0, 255) },
  { type: { name: 'uniqueidentifier' }, value: '6F9619FF-8B86-D011-B42D-00C04FC964FF' },
  { type: { name: 'date' }, value: days('2026-11-30') },
  { type: { name: 'time', scale: 7 }, value: 372_301_230_000 },
  { type: { name: 'smalldatetime' }, value: ticks('2026-11-30T10:21:00Z') },
  { type: { name: 'datetime' }, value: ticks('2026-11-30T10:20:30.997Z') - 3_333n },
  { type: { name: 'datetime2', scale: 7 }, value: ticks('2026-11-30T10:20:30.123Z') + 4_567n },
  {
    type: { name: 'datetimeoffset', scale: 7 },
    value: { ticks: ticks('2026-11-30T03:20:30Z'), offset: 420 },
  },
];
for (const variant of variants) {
  cases[`sql_variant of ${variant.type.name}`] = { type: { name: 'sql_variant' }, values: [variant, null] };
}

/** An engine with the command `case <name>`. */
export const bindingEngine = () =>
  new TestEngine({
    case: async (context, name) => {
      if (name === 'names') {
        const names = ['', 'a', 'A', 'a1', 'a', '', 'Column1', '__proto__', 'constructor'];
        const columns = names.map((one) => ({ name: one, type: { name: 'int' as const }, nullable: false }));
        recordset(context, columns, [[1, 2, 3, 4, 5, 6, 7, 8, 9]]);
        return;
      }
      if (name === 'FOR JSON') {
        const column = { name: 'JSON_F52E2B61-18A1-11d1-B105-00805F49916B', type: nvarchar, nullable: true };
        recordset(context, [column], [['[{"a":1},{"a":'], ['2}]']]);
        return;
      }
      const { type, values } = cases[name] ?? { type: nvarchar, values: [] };
      recordset(
        context,
        [{ name: 'v', type, nullable: true }],
        values.map((value) => [value]),
      );
    },
  });

/** Beyond a System.Decimal: the extension fails. */
export const overflow = 'decimal(38,0)';
cases[overflow] = { type: { name: 'decimal', precision: 38, scale: 0 }, values: [10n ** 38n - 1n] };

export const caseNames = [
  ...Object.keys(cases).filter((name) => name !== overflow),
  'names',
  'no rows',
  'FOR JSON',
];
