/** Values of every type as they are on the wire (MS-TDS 2.2.5.5), with what must come out. Written from the specification, not with the code under test. */
import type { RowValue, TypeName } from '../../src/sql/index.js';

export interface WireCase {
  readonly title: string;
  readonly type: TypeName;
  readonly typeInfo: Buffer;
  /** With its length prefix. */
  readonly bytes: Buffer;
  readonly json: string;
  readonly value: RowValue;
  readonly userType?: number;
}

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
/** Latin1_General_CI_AS: LCID 0x0409, no sort id. */
export const latin1 = '0904d00000';
const utf8Collation = '0904d00400';
const cyrillic = '1904d00000';
const japanese = '1104d00000';

function u16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeUInt16LE(value);
  return buffer;
}

function u32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

function byteLength(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

export function shortLength(bytes: Buffer): Buffer {
  return Buffer.concat([u16(bytes.length), bytes]);
}

/** Partially length-prefixed, in pieces of `size` bytes. */
export function plp(bytes: Buffer, size = 7, known = true): Buffer {
  const total = Buffer.alloc(8);
  total.writeBigUInt64LE(known ? BigInt(bytes.length) : 0xfffffffffffffffen);
  const parts: Buffer[] = [total];
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    parts.push(u32(piece.length), piece);
  }
  return Buffer.concat([...parts, u32(0)]);
}

function textPointer(bytes: Buffer): Buffer {
  return Buffer.concat([byteLength(Buffer.alloc(16, 1)), Buffer.alloc(8, 2), u32(bytes.length), bytes]);
}

function variant(type: number, properties: string, value: Buffer): Buffer {
  const props = hex(properties);
  const body = Buffer.concat([Buffer.from([type, props.length]), props, value]);
  return Buffer.concat([u32(body.length), body]);
}

export const utf16 = (text: string) => Buffer.from(text, 'utf16le');
export const nvarcharInfo = (size = 8_000) => Buffer.concat([hex('e7'), u16(size), hex(latin1)]);
export const nvarcharMax = Buffer.concat([hex('e7ffff'), hex(latin1)]);
export const varcharInfo = (collation: string, size = 8_000) =>
  Buffer.concat([hex('a7'), u16(size), hex(collation)]);

/** A decimal: sign, then 4, 8, 12 or 16 bytes of magnitude. */
export function decimalBytes(value: string, bytes: 4 | 8 | 12 | 16): Buffer {
  let magnitude = BigInt(value.replace(/[-.]/g, ''));
  const buffer = Buffer.alloc(1 + bytes);
  buffer[0] = value.startsWith('-') ? 0 : 1;
  for (let at = 1; at < buffer.length; at++) {
    buffer[at] = Number(magnitude & 0xffn);
    magnitude >>= 8n;
  }
  return byteLength(buffer);
}

function int64(value: bigint): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64LE(value);
  return buffer;
}

function moneyBytes(value: bigint): Buffer {
  const bytes = int64(value);
  return Buffer.concat([bytes.subarray(4), bytes.subarray(0, 4)]);
}

function double(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleLE(value);
  return buffer;
}

function single(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeFloatLE(value);
  return buffer;
}

/** Days since 0001-01-01, by the calendar of Date. */
export function days(text: string): number {
  return Math.round((Date.parse(`${text}T00:00:00Z`) - Date.parse('0001-01-01T00:00:00Z')) / 86_400_000);
}

function dayBytes(text: string): Buffer {
  const buffer = Buffer.alloc(3);
  buffer.writeUIntLE(days(text), 0, 3);
  return buffer;
}

function timeBytes(text: string, scale: number): Buffer {
  const [clock = '', fraction = ''] = text.split('.');
  const [hours = 0, minutes = 0, seconds = 0] = clock.split(':').map(Number);
  const units =
    (hours * 3_600 + minutes * 60 + seconds) * 10 ** scale + Number(fraction.padEnd(scale, '0') || 0);
  const bytes = scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(units, 0, bytes);
  return buffer;
}

function datetime2(day: string, time: string, scale: number): Buffer {
  return Buffer.concat([timeBytes(time, scale), dayBytes(day)]);
}

/** Day and time in UTC. */
function datetimeoffset(day: string, time: string, scale: number, offset: number): Buffer {
  const minutes = Buffer.alloc(2);
  minutes.writeInt16LE(offset);
  return Buffer.concat([datetime2(day, time, scale), minutes]);
}

function datetime(day: string, ticks: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeInt32LE(days(day) - days('1900-01-01'));
  buffer.writeUInt32LE(ticks, 4);
  return buffer;
}

function smalldatetime(day: string, minutes: number): Buffer {
  return Buffer.concat([u16(days(day) - days('1900-01-01')), u16(minutes)]);
}

function simple(
  type: TypeName,
  typeInfo: string,
  bytes: Buffer,
  json: string,
  value: RowValue = JSON.parse(json),
): WireCase {
  return {
    title: `${type} (0x${typeInfo.slice(0, 2)}) ${json.slice(0, 40)}`,
    type,
    typeInfo: hex(typeInfo),
    bytes,
    json,
    value,
  };
}

function textual(type: TypeName, typeInfo: Buffer, bytes: Buffer, text: string, title = text): WireCase {
  return {
    title: `${type} ${JSON.stringify(title.slice(0, 40))}`,
    type,
    typeInfo,
    bytes,
    json: JSON.stringify(text),
    value: text,
  };
}

const day = (text: string) => simple('date', '28', byteLength(dayBytes(text)), `"${text}T00:00:00.000Z"`);
const texts = [
  '',
  'plain',
  'quote " backslash \\ slash / tab \t line \n\r\b\f\u0001\u001f\u007f',
  'NUL \u0000 inside',
  'é ß Ж 日本 \u2028 \u2029 \ufeff',
  'pair 😀 𠮷, lone high \ud83d, lone low \ude00, end \ud83d',
  '\ude00\ud83d',
];
const guid = hex('33221100554477668899aabbccddeeff');
const guidText = '"00112233-4455-6677-8899-aabbccddeeff"';

export const wireCases: readonly WireCase[] = [
  simple('tinyint', '30', hex('ff'), '255'),
  simple('smallint', '34', hex('0080'), '-32768'),
  simple('int', '38', hex('00000080'), '-2147483648'),
  simple('int', '38', hex('ffffff7f'), '2147483647'),
  simple('bigint', '7f', int64(9007199254740993n), '9007199254740993', 9007199254740993n),
  simple('tinyint', '2601', byteLength(hex('00')), '0'),
  simple('smallint', '2602', byteLength(hex('d204')), '1234'),
  simple('int', '2604', byteLength(hex('ffffffff')), '-1'),
  simple('bigint', '2608', byteLength(int64(-(2n ** 63n))), '-9223372036854775808', -(2n ** 63n)),
  simple('bigint', '2608', byteLength(int64(2n ** 63n - 1n)), '9223372036854775807', 2n ** 63n - 1n),
  simple('bigint', '2608', byteLength(int64(1n)), '1', 1n),
  simple('bigint', '2608', byteLength(int64(-9007199254740992n)), '-9007199254740992', -9007199254740992n),
  simple('bit', '32', hex('01'), 'true'),
  simple('bit', '6801', byteLength(hex('00')), 'false'),
  simple('decimal', '6a050902', decimalBytes('12.50', 4), '12.50', '12.50'),
  simple('decimal', '6a050902', decimalBytes('-0.05', 4), '-0.05', '-0.05'),
  simple('decimal', '6a050900', decimalBytes('0', 4), '0', '0'),
  simple('decimal', '6c050903', decimalBytes('-0.000', 4), '0.000', '0.000'),
  simple(
    'decimal',
    '6a091300',
    decimalBytes('2657843246789123456', 8),
    '2657843246789123456',
    '2657843246789123456',
  ),
  simple(
    'decimal',
    '6a0d1c04',
    decimalBytes('123456789012345678901234.5678', 12),
    '123456789012345678901234.5678',
    '123456789012345678901234.5678',
  ),
  simple(
    'decimal',
    '6a112613',
    decimalBytes('-9999999999999999999.9999999999999999999', 16),
    '-9999999999999999999.9999999999999999999',
    '-9999999999999999999.9999999999999999999',
  ),
  simple(
    'decimal',
    '6a112626',
    decimalBytes('0.00000000000000000000000000000000000001', 16),
    '0.00000000000000000000000000000000000001',
    '0.00000000000000000000000000000000000001',
  ),
  simple('money', '3c', moneyBytes(9223372036854775807n), '922337203685477.5807', '922337203685477.5807'),
  simple(
    'money',
    '6e08',
    byteLength(moneyBytes(-9223372036854775808n)),
    '-922337203685477.5808',
    '-922337203685477.5808',
  ),
  simple('money', '6e08', byteLength(moneyBytes(3333400n)), '333.3400', '333.3400'),
  simple('smallmoney', '7a', hex('ffffff7f'), '214748.3647', '214748.3647'),
  simple('smallmoney', '6e04', byteLength(hex('ffffffff')), '-0.0001', '-0.0001'),
  simple('real', '3b', single(0.1), '0.1'),
  simple('real', '6d04', byteLength(single(3.4028235e38)), '3.4028235e+38'),
  simple('real', '6d04', byteLength(single(16777217)), '16777216'),
  simple('float', '3e', double(0.1 + 0.2), '0.30000000000000004'),
  simple('float', '6d08', byteLength(double(-1.7976931348623157e308)), '-1.7976931348623157e+308'),
  simple('float', '6d08', byteLength(double(5e-324)), '5e-324'),
  simple('float', '6d08', byteLength(double(1e21)), '1e+21'),
  simple('float', '6d08', byteLength(double(-42)), '-42'),
  ...texts.map((text) => textual('nvarchar', nvarcharInfo(), shortLength(utf16(text)), text)),
  ...texts.map((text) => textual('nvarchar', nvarcharMax, plp(utf16(text)), text, `max ${text}`)),
  textual('nvarchar', nvarcharMax, plp(utf16('unknown length'), 5, false), 'unknown length'),
  textual('nchar', Buffer.concat([hex('ef1400'), hex(latin1)]), shortLength(utf16('ab  ')), 'ab  '),
  textual('ntext', Buffer.concat([hex('63ffffff7f'), hex(latin1)]), textPointer(utf16('ntext é')), 'ntext é'),
  textual('xml', hex('f100'), plp(utf16('\ufeff<a b="1">é</a>')), '<a b="1">é</a>'),
  textual('varchar', varcharInfo(latin1), shortLength(hex('80e9ff')), '€éÿ'),
  textual('varchar', varcharInfo(latin1), shortLength(Buffer.from('a"b\\c\n')), 'a"b\\c\n'),
  textual('varchar', varcharInfo(utf8Collation), shortLength(Buffer.from('é 😀 𠮷')), 'é 😀 𠮷'),
  textual('varchar', varcharInfo(cyrillic), shortLength(hex('c6e0')), 'Жа'),
  textual('varchar', varcharInfo(japanese), shortLength(hex('93fa967b5c')), '日本\\'),
  textual('varchar', varcharInfo('00000000' + '1e'), shortLength(hex('8082')), 'Çé', 'cp437'),
  textual('varchar', varcharInfo(latin1, 0xffff), plp(hex('e980')), 'é€'),
  textual('char', Buffer.concat([hex('af0500'), hex(latin1)]), shortLength(Buffer.from('ab   ')), 'ab   '),
  textual('text', Buffer.concat([hex('23ffffff7f'), hex(latin1)]), textPointer(hex('74e9')), 'té'),
  simple('varbinary', 'a5401f', shortLength(hex('')), '""', Buffer.alloc(0)),
  simple('varbinary', 'a5401f', shortLength(hex('00ff10')), '"AP8Q"', hex('00ff10')),
  simple('varbinary', 'a5ffff', plp(hex('0001020304')), '"AAECAwQ="', hex('0001020304')),
  simple('binary', 'ad0400', shortLength(hex('deadbeef')), '"3q2+7w=="', hex('deadbeef')),
  {
    ...simple(
      'rowversion',
      'ad0800',
      shortLength(hex('00000000000007d1')),
      '"AAAAAAAAB9E="',
      hex('00000000000007d1'),
    ),
    userType: 0x50,
  },
  simple('image', '22ffffff7f', textPointer(hex('010203')), '"AQID"', hex('010203')),
  {
    ...simple('udt', 'f0', plp(hex('e6100000010c')), '"5hAAAAEM"', hex('e6100000010c')),
    typeInfo: Buffer.concat([hex('f0401f'), hex('01 6400'), hex('00'), hex('01 6700'), hex('0000')]),
  },
  simple('uniqueidentifier', '2410', byteLength(guid), guidText),
  day('0001-01-01'),
  day('9999-12-31'),
  day('2000-02-29'),
  day('1900-03-01'),
  day('2026-11-30'),
  simple('time', '2900', byteLength(timeBytes('10:20:30', 0)), '"10:20:30"'),
  simple('time', '2903', byteLength(timeBytes('10:20:30.12', 3)), '"10:20:30.1200000"'),
  simple('time', '2907', byteLength(timeBytes('23:59:59.9999999', 7)), '"23:59:59.9999999"'),
  simple('time', '2907', byteLength(timeBytes('00:00:00', 7)), '"00:00:00"'),
  simple('smalldatetime', '3a', smalldatetime('2026-11-30', 621), '"2026-11-30T10:21:00.000Z"'),
  simple('smalldatetime', '6f04', byteLength(smalldatetime('1900-01-01', 0)), '"1900-01-01T00:00:00.000Z"'),
  simple(
    'smalldatetime',
    '6f04',
    byteLength(smalldatetime('2079-06-06', 1439)),
    '"2079-06-06T23:59:00.000Z"',
  ),
  simple('datetime', '3d', datetime('1753-01-01', 0), '"1753-01-01T00:00:00.000Z"'),
  simple('datetime', '6f08', byteLength(datetime('2009-05-27', 26)), '"2009-05-27T00:00:00.087Z"'),
  simple('datetime', '6f08', byteLength(datetime('2009-05-27', 1)), '"2009-05-27T00:00:00.003Z"'),
  simple('datetime', '6f08', byteLength(datetime('9999-12-31', 25_919_999)), '"9999-12-31T23:59:59.997Z"'),
  simple(
    'datetime2',
    '2a07',
    byteLength(datetime2('2017-06-29', '17:20:03.5036264', 7)),
    '"2017-06-29T17:20:03.5036264Z"',
  ),
  simple(
    'datetime2',
    '2a07',
    byteLength(datetime2('2017-06-29', '17:20:03.5000000', 7)),
    '"2017-06-29T17:20:03.500Z"',
  ),
  simple(
    'datetime2',
    '2a07',
    byteLength(datetime2('2017-06-29', '17:20:03.5001000', 7)),
    '"2017-06-29T17:20:03.5001Z"',
  ),
  simple(
    'datetime2',
    '2a00',
    byteLength(datetime2('0001-01-01', '00:00:00', 0)),
    '"0001-01-01T00:00:00.000Z"',
  ),
  simple(
    'datetime2',
    '2a03',
    byteLength(datetime2('9999-12-31', '23:59:59.999', 3)),
    '"9999-12-31T23:59:59.999Z"',
  ),
  // 02:30 on the night when clocks go forward in many zones: no local time there, and no business of ours.
  simple(
    'datetime2',
    '2a03',
    byteLength(datetime2('2018-11-04', '00:30:00', 3)),
    '"2018-11-04T00:30:00.000Z"',
  ),
  simple(
    'datetimeoffset',
    '2b07',
    byteLength(datetimeoffset('2026-11-30', '03:20:30.123', 7, 420)),
    '"2026-11-30T10:20:30.123+07:00"',
  ),
  simple(
    'datetimeoffset',
    '2b07',
    byteLength(datetimeoffset('2026-11-30', '10:20:30.1234567', 7, 840)),
    '"2026-12-01T00:20:30.1234567+14:00"',
  ),
  simple(
    'datetimeoffset',
    '2b00',
    byteLength(datetimeoffset('2026-12-01', '00:00:00', 0, -720)),
    '"2026-11-30T12:00:00.000-12:00"',
  ),
  simple(
    'datetimeoffset',
    '2b04',
    byteLength(datetimeoffset('2026-03-29', '01:00:00', 4, 120)),
    '"2026-03-29T03:00:00.000+02:00"',
  ),
  simple(
    'datetimeoffset',
    '2b07',
    byteLength(datetimeoffset('0001-01-01', '00:00:00', 7, 0)),
    '"0001-01-01T00:00:00.000+00:00"',
  ),
  simple(
    'datetimeoffset',
    '2b07',
    byteLength(datetimeoffset('2026-06-30', '18:30:00', 7, 330)),
    '"2026-07-01T00:00:00.000+05:30"',
  ),
  simple(
    'datetimeoffset',
    '2b07',
    byteLength(datetimeoffset('2026-06-30', '18:30:00', 7, -30)),
    '"2026-06-30T18:00:00.000-00:30"',
  ),
  ...variantCases(),
];

function variantCases(): WireCase[] {
  const make = (bytes: Buffer, json: string, value?: RowValue) =>
    simple('sql_variant', '6271 1f0000'.replace(' ', ''), bytes, json, value);
  return [
    make(variant(0x38, '', hex('2a000000')), '42'),
    make(variant(0x30, '', hex('ff')), '255'),
    make(variant(0x34, '', hex('ffff')), '-1'),
    make(variant(0x7f, '', int64(9007199254740993n)), '9007199254740993', 9007199254740993n),
    make(variant(0x32, '', hex('01')), 'true'),
    make(variant(0x3e, '', double(1.5)), '1.5'),
    make(variant(0x3b, '', single(0.1)), '0.1'),
    make(variant(0x3c, '', moneyBytes(12345n)), '1.2345', '1.2345'),
    make(variant(0x7a, '', hex('39300000')), '1.2345', '1.2345'),
    make(variant(0x6c, '1202', hex('01e204000000000000')), '12.50', '12.50'),
    make(variant(0xe7, `${latin1}401f`, utf16('vé')), '"vé"'),
    make(variant(0xa7, `${cyrillic}401f`, hex('c6')), '"Ж"'),
    make(variant(0xa5, '401f', hex('0102')), '"AQI="', hex('0102')),
    make(variant(0x24, '', guid), guidText),
    make(variant(0x28, '', dayBytes('2026-11-30')), '"2026-11-30T00:00:00.000Z"'),
    make(variant(0x29, '03', timeBytes('10:20:30', 3)), '"10:20:30"'),
    make(variant(0x2a, '07', datetime2('2026-11-30', '10:20:30.5', 7)), '"2026-11-30T10:20:30.500Z"'),
    make(
      variant(0x2b, '07', datetimeoffset('2026-11-30', '10:00:00', 7, 60)),
      '"2026-11-30T11:00:00.000+01:00"',
    ),
    make(variant(0x3d, '', datetime('2026-11-30', 0)), '"2026-11-30T00:00:00.000Z"'),
    make(variant(0x3a, '', smalldatetime('2026-11-30', 1)), '"2026-11-30T00:01:00.000Z"'),
  ];
}

/** How NULL is written in a ROW for this TYPE_INFO; undefined for the types that can't be NULL there. */
export function nullBytes(typeInfo: Buffer): Buffer | undefined {
  const type = typeInfo[0]!;
  if ([0x30, 0x32, 0x34, 0x38, 0x3a, 0x3b, 0x3c, 0x3d, 0x3e, 0x7a, 0x7f].includes(type)) return undefined;
  if (type === 0xf1 || type === 0xf0) return Buffer.alloc(8, 0xff);
  if (type === 0x62) return u32(0);
  if ([0xa5, 0xa7, 0xe7].includes(type) && typeInfo.readUInt16LE(1) === 0xffff) return Buffer.alloc(8, 0xff);
  if ([0xa5, 0xa7, 0xad, 0xaf, 0xe7, 0xef].includes(type)) return hex('ffff');
  return hex('00');
}
