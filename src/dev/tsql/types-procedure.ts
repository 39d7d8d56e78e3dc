import type { Column, SqlType, SqlValue } from './contract.js';
import { fail } from './errors.js';
import type { BuiltInProcedure } from './session.js';

const day = 864_000_000_000n;
const lastDay = 3_652_058;
const nines = (n: number): bigint => 10n ** BigInt(n) - 1n;
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const typicalTicks = 739_949n * day + 372_301_234_567n;

/** Every type on the wire: [type, typical, least, greatest]. */
const samples: readonly (readonly [SqlType, SqlValue, SqlValue, SqlValue])[] = [
  [{ name: 'bit' }, true, false, true],
  [{ name: 'tinyint' }, 42, 0, 255],
  [{ name: 'smallint' }, -42, -32_768, 32_767],
  [{ name: 'int' }, 42, -2_147_483_648, 2_147_483_647],
  [{ name: 'bigint' }, 9_007_199_254_740_993n, -(2n ** 63n), 2n ** 63n - 1n],
  ...[
    [5, 2],
    [9, 0],
    [18, 4],
    [19, 4],
    [28, 10],
    [38, 0],
    [38, 38],
  ].map(
    ([precision, scale]) =>
      [
        { name: 'decimal', precision: precision!, scale: scale! } as SqlType,
        12_345n,
        -nines(precision!),
        nines(precision!),
      ] as const,
  ),
  [{ name: 'money' }, 123_450n, -(2n ** 63n), 2n ** 63n - 1n],
  [{ name: 'smallmoney' }, -123_450n, -(2n ** 31n), 2n ** 31n - 1n],
  [{ name: 'real' }, Math.fround(0.1), -3.4028234663852886e38, 3.4028234663852886e38],
  [{ name: 'float' }, 0.1, -Number.MAX_VALUE, Number.MAX_VALUE],
  [{ name: 'char', length: 5 }, 'abc  ', '     ', 'zzzzz'],
  [{ name: 'varchar', length: 50 }, 'naïve café', '', 'z'.repeat(50)],
  [{ name: 'varchar', length: 'max' }, 'varchar(max)', '', 'x'.repeat(20_000)],
  [{ name: 'nchar', length: 5 }, 'abc  ', '     ', '\uffff'.repeat(5)],
  [{ name: 'nvarchar', length: 50 }, 'naïve 日本 😀', '', '😀'.repeat(25)],
  [{ name: 'nvarchar', length: 'max' }, 'nvarchar(max)', '', '日'.repeat(20_000)],
  [{ name: 'text' }, 'text', '', 'x'.repeat(10_000)],
  [{ name: 'ntext' }, 'ntext 日本', '', '日'.repeat(10_000)],
  [{ name: 'xml' }, '<a b="1">x</a>', '<a/>', `<a>${'x'.repeat(10_000)}</a>`],
  [{ name: 'binary', length: 4 }, bytes(1, 2, 3, 4), bytes(0, 0, 0, 0), bytes(255, 255, 255, 255)],
  [{ name: 'varbinary', length: 50 }, bytes(1, 2, 3), bytes(), new Uint8Array(50).fill(255)],
  [{ name: 'varbinary', length: 'max' }, bytes(0, 128, 255), bytes(), new Uint8Array(20_000).fill(170)],
  [{ name: 'image' }, bytes(1, 2, 3), bytes(), new Uint8Array(10_000).fill(85)],
  [
    { name: 'rowversion' },
    bytes(0, 0, 0, 0, 0, 0, 7, 208),
    bytes(0, 0, 0, 0, 0, 0, 0, 0),
    new Uint8Array(8).fill(255),
  ],
  [
    { name: 'uniqueidentifier' },
    '01234567-89AB-CDEF-0123-456789ABCDEF',
    '00000000-0000-0000-0000-000000000000',
    'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  ],
  [{ name: 'date' }, 739_949, 0, lastDay],
  ...[0, 3, 7].map(
    (scale) =>
      [
        { name: 'time', scale } as SqlType,
        Number(cut(372_301_234_567n, scale)),
        0,
        Number(cut(day - 1n, scale)),
      ] as const,
  ),
  [
    { name: 'smalldatetime' },
    739_949n * day + 372_000_000_000n,
    693_595n * day,
    (693_595n + 65_535n) * day + 863_400_000_000n,
  ],
  [
    { name: 'datetime' },
    739_949n * day + 372_301_233_333n,
    639_905n * day,
    BigInt(lastDay) * day + 863_999_970_000n,
  ],
  ...[0, 3, 7].map(
    (scale) =>
      [
        { name: 'datetime2', scale } as SqlType,
        cut(typicalTicks, scale),
        0n,
        cut(BigInt(lastDay + 1) * day - 1n, scale),
      ] as const,
  ),
  ...[0, 7].map(
    (scale) =>
      [
        { name: 'datetimeoffset', scale } as SqlType,
        { ticks: cut(typicalTicks, scale), offset: 420 },
        { ticks: 14n * 36_000_000_000n, offset: -840 },
        { ticks: cut(BigInt(lastDay) * day, scale), offset: 840 },
      ] as const,
  ),
  [
    { name: 'sql_variant' },
    { type: { name: 'int' }, value: 42 },
    { type: { name: 'decimal', precision: 38, scale: 2 }, value: -nines(38) },
    { type: { name: 'nvarchar', length: 20 }, value: 'variant 日本' },
  ],
];

function cut(ticks: bigint, scale: number): bigint {
  const unit = 10n ** BigInt(7 - scale);
  return ticks - (ticks % unit);
}

const nameOf = ({ name, length, precision, scale }: SqlType): string =>
  [name, length, precision, scale].filter((part) => part !== undefined).join('_');

/** `dev.types @kind`: one row with every type; @kind is typical (default), min, max or null. */
export const typesProcedure: BuiltInProcedure = ({ kind }) => {
  const which = String(kind ?? 'typical').toLowerCase();
  const at =
    { typical: 1, min: 2, max: 3, null: 0 }[which] ??
    fail(50_000, `'${which}' is no kind of dev.types: typical, min, max or null.`);
  const columns = samples.map(([type]): Column => ({ name: nameOf(type), type, nullable: true }));
  return { columns, rows: [samples.map((sample) => (at === 0 ? null : (sample[at] as SqlValue)))] };
};
