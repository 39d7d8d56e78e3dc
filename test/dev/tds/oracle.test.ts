/** tedious writes the same parameter values that this server sends: its encoders are the oracle, byte for byte. */
import { Collation } from 'tedious/lib/collation.js';
import { type DataType, typeByName } from 'tedious/lib/data-type.js';
import { expect, test } from 'vitest';
import type { SqlType, SqlValue } from '../../../src/dev/sql-engine.js';
import { ByteWriter } from '../../../src/dev/tds/bytes.js';
import { codecOf } from '../../../src/dev/tds/types.js';
import { collationOf } from '../../../src/dev/text/collations.js';

const options = { useUTC: true, tdsVersion: '7_4' } as never;

interface Extra {
  readonly length?: number;
  readonly precision?: number;
  readonly scale?: number;
  readonly collation?: string;
}

function oracle(name: keyof typeof typeByName, value: unknown, { collation, ...extra }: Extra): Buffer {
  const type: DataType = typeByName[name];
  const collated = Collation.fromBuffer(Buffer.from(collationOf(collation).bytes));
  const valid = type.validate(value, collated, options);
  const parameter = { type, name: 'p', output: false, value: valid, collation: collated, ...extra } as never;
  return Buffer.concat([
    type.generateTypeInfo(parameter, options),
    type.generateParameterLength(parameter, options),
    ...type.generateParameterData(parameter, options),
  ]);
}

function ours(type: SqlType, value: SqlValue): Buffer {
  const writer = new ByteWriter(64);
  const codec = codecOf(type, true);
  codec.info(writer);
  codec.write(writer, value);
  return Buffer.from(writer.buffer.subarray(0, writer.length));
}

const day = 864_000_000_000n;
const epoch = 719_162n * day;
const instant = new Date(Date.UTC(2026, 10, 30, 10, 20, 30, 123));
const ticks = epoch + BigInt(instant.getTime()) * 10_000n;
/** datetime has 1/300 s. */
const rounded =
  ticks - (ticks % day) + BigInt(Math.round((Math.round((Number(ticks % day) * 3) / 100_000) * 100_000) / 3));
const long = 'ä€'.repeat(5000);

const same: readonly (readonly [keyof typeof typeByName, unknown, SqlType, SqlValue, Extra?])[] = [
  ['Bit', true, { name: 'bit' }, true],
  ['TinyInt', 200, { name: 'tinyint' }, 200],
  ['SmallInt', -300, { name: 'smallint' }, -300],
  ['Int', -(2 ** 31), { name: 'int' }, -(2 ** 31)],
  ['BigInt', '-9223372036854775808', { name: 'bigint' }, -(2n ** 63n)],
  ['BigInt', '9007199254740993', { name: 'bigint' }, 9_007_199_254_740_993n],
  ['Real', 1.1, { name: 'real' }, 1.1],
  ['Float', -1.7976931348623157e308, { name: 'float' }, -1.7976931348623157e308],
  // tedious multiplies by 10,000 and cuts: -12.3456 would arrive as -12.3455.
  ['SmallMoney', -12.5, { name: 'smallmoney' }, -125_000n],
  ['Money', 123_456_789.25, { name: 'money' }, 1_234_567_892_500n],
  ['Decimal', -123.45, { name: 'decimal', precision: 9, scale: 2 }, -12_345n, { precision: 9, scale: 2 }],
  ['Decimal', 123.45, { name: 'decimal', precision: 19, scale: 2 }, 12_345n, { precision: 19, scale: 2 }],
  ['Decimal', 7, { name: 'decimal', precision: 28, scale: 4 }, 70_000n, { precision: 28, scale: 4 }],
  ['Decimal', -7, { name: 'decimal', precision: 38, scale: 0 }, -7n, { precision: 38, scale: 0 }],
  ['Char', 'äb€  ', { name: 'char', length: 5 }, 'äb€  ', { length: 5 }],
  ['VarChar', 'äb€', { name: 'varchar', length: 20 }, 'äb€', { length: 20 }],
  ['VarChar', long, { name: 'varchar', length: 'max' }, long, { length: 9000 }],
  ['NChar', '日本 ', { name: 'nchar', length: 3 }, '日本 ', { length: 3 }],
  ['NVarChar', 'ä😀', { name: 'nvarchar', length: 4000 }, 'ä😀', { length: 4000 }],
  ['NVarChar', long, { name: 'nvarchar', length: 'max' }, long, { length: 9000 }],
  ['Binary', Buffer.from('0102', 'hex'), { name: 'binary', length: 2 }, Uint8Array.of(1, 2), { length: 2 }],
  [
    'VarBinary',
    Buffer.from('00ff', 'hex'),
    { name: 'varbinary', length: 8000 },
    Uint8Array.of(0, 255),
    { length: 8000 },
  ],
  [
    'UniqueIdentifier',
    '6F9619FF-8B86-D011-B42D-00C04FC964FF',
    { name: 'uniqueidentifier' },
    '6F9619FF-8B86-D011-B42D-00C04FC964FF',
  ],
  ['Date', instant, { name: 'date' }, Number(ticks / day)],
  [
    'SmallDateTime',
    new Date(Date.UTC(2026, 10, 30, 10, 20)),
    { name: 'smalldatetime' },
    ticks - (ticks % 600_000_000n),
  ],
  ['DateTime', instant, { name: 'datetime' }, rounded],
  ...[3, 4, 7].flatMap((scale) => [
    ['Time', instant, { name: 'time', scale }, Number(ticks % day), { scale }] as const,
    ['DateTime2', instant, { name: 'datetime2', scale }, ticks, { scale }] as const,
    [
      'DateTimeOffset',
      instant,
      { name: 'datetimeoffset', scale },
      { ticks, offset: -instant.getTimezoneOffset() },
      { scale },
    ] as const,
  ]),
  ...[
    'Cyrillic_General_CI_AS/Привет',
    'Japanese_CI_AS/日本語',
    'Greek_CI_AS/αβγ',
    'Latin1_General_100_CI_AS_SC_UTF8/日é😀',
  ].map((sample) => {
    const [collation = '', text = ''] = sample.split('/');
    return [
      'VarChar',
      text,
      { name: 'varchar', length: 40, collation },
      text,
      { length: 40, collation },
    ] as const;
  }),
];

test.each(same.map(([name, value, type, own, extra]) => ({ name, value, type, own, extra: extra ?? {} })))(
  '$name $extra is byte for byte what tedious writes',
  ({ name, value, type, own, extra }) => {
    const expected = oracle(name, value, extra);
    if (type.length === 'max') {
      // tedious leaves the total length open (MS-TDS 2.2.5.2.3, PLP_UNKNOWN_LEN); this server says it.
      expect(expected.readBigUInt64LE(8)).toBe(0xffff_ffff_ffff_fffen);
      expected.writeBigUInt64LE(BigInt(expected.length - 8 - 8 - 4 - 4), 8);
    }
    expect(ours(type, own).toString('hex')).toBe(expected.toString('hex'));
  },
);

test.each(same.map(([name, , type, , extra]) => ({ name, type, extra: extra ?? {} })))(
  '$name $extra: NULL is byte for byte what tedious writes',
  ({ name, type, extra }) => {
    expect(ours(type, null).toString('hex')).toBe(oracle(name, null, extra).toString('hex'));
  },
);
