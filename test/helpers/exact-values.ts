/** Values as the embedded server's engine has them, with their JSON to the digit. */
import type { SqlType, SqlValue } from '../../src/dev/sql-engine.js';

const units = 10_000n;
const epoch = 62_135_596_800_000n;
/** 100 ns units since 0001-01-01, with so many beyond the millisecond. */
const ticks = (iso: string, more = 0n) => (BigInt(Date.parse(iso)) + epoch) * units + more;
const days = (iso: string) => Number(ticks(iso) / 864_000_000_000n);
const decimal = (precision: number, scale: number): SqlType => ({ name: 'decimal', precision, scale });
const nines = 10n ** 38n - 1n;
const datetime2: SqlType = { name: 'datetime2', scale: 7 };
const offset: SqlType = { name: 'datetimeoffset', scale: 7 };
const nvarchar: SqlType = { name: 'nvarchar', length: 200 };

export interface ExactValues {
  readonly type: SqlType;
  /** Each value with its JSON, to the digit. */
  readonly values: readonly (readonly [SqlValue, string])[];
}

/** By what must be true of them. */
export const exactValues: Record<string, ExactValues> = {
  'bigint has all its digits': {
    type: { name: 'bigint' },
    values: [
      [9_007_199_254_740_993n, '9007199254740993'],
      [2n ** 63n - 1n, '9223372036854775807'],
      [-(2n ** 63n), '-9223372036854775808'],
      [4603086877212508601n, '4603086877212508601'],
      [null, 'null'],
    ],
  },
  'decimal(38,0) has all its digits': {
    type: decimal(38, 0),
    values: [
      [nines, '9'.repeat(38)],
      [-nines, `-${'9'.repeat(38)}`],
      [2657843246789123456n, '2657843246789123456'],
    ],
  },
  'decimal(38,38) has all its digits': {
    type: decimal(38, 38),
    values: [
      [nines, `0.${'9'.repeat(38)}`],
      [-1n, `-0.${'0'.repeat(37)}1`],
    ],
  },
  'decimal keeps the zeros of its scale': {
    type: decimal(12, 8),
    values: [
      [10_000n, '0.00010000'],
      [1_250_000_000n, '12.50000000'],
    ],
  },
  'decimal(38,19) is not rounded': {
    type: decimal(38, 19),
    values: [[nines, '9999999999999999999.9999999999999999999']],
  },
  'money is exact at its ends': {
    type: { name: 'money' },
    values: [
      [2n ** 63n - 1n, '922337203685477.5807'],
      [-(2n ** 63n), '-922337203685477.5808'],
      [3_333_400n, '333.3400'],
      [83_266n, '8.3266'],
    ],
  },
  'float reads back equal at its ends': {
    type: { name: 'float' },
    values: [
      [Number.MAX_VALUE, '1.7976931348623157e+308'],
      [-Number.MAX_VALUE, '-1.7976931348623157e+308'],
      [Number.MIN_VALUE, '5e-324'],
      [2.2250738585072014e-308, '2.2250738585072014e-308'],
      [490559.99999999994, '490559.99999999994'],
      [0.1, '0.1'],
    ],
  },
  'real is the shortest number of its 32 bits': {
    type: { name: 'real' },
    values: [
      [Math.fround(3.4028235e38), '3.4028235e+38'],
      [Math.fround(1.1), '1.1'],
      [Math.fround(1e-45), '1e-45'],
    ],
  },
  'datetime2(7) keeps 100 ns': {
    type: datetime2,
    values: [
      [ticks('2017-06-29T17:20:03.503Z', 6_264n), '"2017-06-29T17:20:03.5036264Z"'],
      [ticks('2017-06-29T17:20:03.503Z'), '"2017-06-29T17:20:03.503Z"'],
      [ticks('2017-06-29T17:20:03Z', 1n), '"2017-06-29T17:20:03.0000001Z"'],
    ],
  },
  'years 0001 and 9999 are years like any other': {
    type: datetime2,
    values: [
      [0n, '"0001-01-01T00:00:00.000Z"'],
      [ticks('9999-12-31T23:59:59.999Z', 9_999n), '"9999-12-31T23:59:59.9999999Z"'],
    ],
  },
  'datetime2 in the gap of a daylight saving change stays where it is': {
    // Clocks of São Paulo went from 0:00 to 1:00.
    type: datetime2,
    values: [[ticks('2018-11-04T00:30:00Z'), '"2018-11-04T00:30:00.000Z"']],
  },
  'datetimeoffset has the right instant and its own offset, +14:00 and -12:00': {
    type: offset,
    values: [
      [{ ticks: ticks('2026-11-30T10:20:30.123Z'), offset: 840 }, '"2026-12-01T00:20:30.123+14:00"'],
      [
        { ticks: ticks('2026-11-30T10:20:30.123Z', 4_567n), offset: -720 },
        '"2026-11-29T22:20:30.1234567-12:00"',
      ],
      [{ ticks: ticks('2026-11-30T03:00:00Z'), offset: 420 }, '"2026-11-30T10:00:00.000+07:00"'],
    ],
  },
  'datetimeoffset around a daylight saving change is the offset that was stored': {
    type: offset,
    values: [
      [{ ticks: ticks('2018-11-04T02:59:59Z'), offset: -180 }, '"2018-11-03T23:59:59.000-03:00"'],
      [{ ticks: ticks('2018-11-04T03:30:00Z'), offset: -120 }, '"2018-11-04T01:30:00.000-02:00"'],
      [{ ticks: ticks('2026-03-29T01:00:00Z'), offset: 60 }, '"2026-03-29T02:00:00.000+01:00"'],
      [{ ticks: ticks('2026-03-29T01:00:00Z'), offset: 330 }, '"2026-03-29T06:30:00.000+05:30"'],
    ],
  },
  'a date is that day': {
    type: { name: 'date' },
    values: [
      [days('2026-03-29'), '"2026-03-29T00:00:00.000Z"'],
      [days('2018-11-04'), '"2018-11-04T00:00:00.000Z"'],
      [0, '"0001-01-01T00:00:00.000Z"'],
      [days('9999-12-31'), '"9999-12-31T00:00:00.000Z"'],
    ],
  },
  'datetime and smalldatetime are what SQL shows': {
    type: { name: 'datetime' },
    values: [
      [ticks('2009-05-27T00:00:00Z'), '"2009-05-27T00:00:00.000Z"'],
      [ticks('2009-05-27T12:42:11Z', 866_667n), '"2009-05-27T12:42:11.087Z"'],
      [ticks('2009-05-27T12:42:11Z', 9_966_667n), '"2009-05-27T12:42:11.997Z"'],
    ],
  },
  'surrogate pairs, lone surrogates, U+2028 and NUL are the same characters': {
    type: nvarchar,
    values: [
      ['😀 𠮷', '"😀 𠮷"'],
      ['high \ud83d, low \ude00', String.raw`"high \ud83d, low \ude00"`],
      ['\ude00\ud83d', String.raw`"\ude00\ud83d"`],
      ['a\u2028b\u2029c\u0085', '"a\u2028b\u2029c\u0085"'],
      ['\u0000 \u001f "\\', String.raw`"\u0000 \u001f \"\\"`],
      ['', '""'],
    ],
  },
  'text that looks like a date or a number stays text': {
    type: nvarchar,
    values: [
      ['2020-10-06T07:45:16.081+02:00', '"2020-10-06T07:45:16.081+02:00"'],
      ['89e7073266', '"89e7073266"'],
      ['Null', '"Null"'],
    ],
  },
  'binary is base64': {
    type: { name: 'varbinary', length: 'max' },
    values: [
      [Uint8Array.of(0, 255, 16), '"AP8Q"'],
      [new Uint8Array(), '""'],
      [new Uint8Array(1_048_576).fill(7), `"${Buffer.alloc(1_048_576, 7).toString('base64')}"`],
    ],
  },
  'rowversion is base64 too': {
    type: { name: 'rowversion' },
    values: [[Uint8Array.of(0, 0, 0, 0, 0, 0, 7, 209), '"AAAAAAAAB9E="']],
  },
  'a guid is lower-case': {
    type: { name: 'uniqueidentifier' },
    values: [['6F9619FF-8B86-D011-B42D-00C04FC964FF', '"6f9619ff-8b86-d011-b42d-00c04fc964ff"']],
  },
  'sql_variant is written by its inner type': {
    type: { name: 'sql_variant' },
    values: [
      [{ type: { name: 'int' }, value: 7 }, '7'],
      [{ type: decimal(5, 2), value: -150n }, '-1.50'],
      [{ type: { name: 'nvarchar', length: 20 }, value: 'ä日' }, '"ä日"'],
      [{ type: datetime2, value: ticks('2026-11-30T10:20:30Z', 1n) }, '"2026-11-30T10:20:30.0000001Z"'],
      [null, 'null'],
    ],
  },
};
