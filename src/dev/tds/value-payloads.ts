import type { ByteWriter } from './byte-writer.js';
import { encodeText } from './code-pages.js';
import { collationOf } from './collations.js';
import type { OffsetDateTime, SqlType, SqlValue } from './engine.js';
import { daysTo1900, decimalSize, lastDay, ticksPerDay, timeSize, unitOfScale } from './type-tokens.js';

/** Writes the bytes of a value that is not NULL, without its length (MS-TDS 2.2.5.5). */
export type Payload = (writer: ByteWriter, value: SqlValue) => void;

/** A value that its type can't hold would be another value for the client: refused, not cut. */
function outOfRange(value: SqlValue, type: string): never {
  throw new RangeError(`The value ${String(value)} is no ${type}.`);
}

function integer(type: string, size: number, least: number, most: number): Payload {
  return (writer, value) => {
    const number = value as number;
    if (!(number >= least && number <= most) || !Number.isInteger(number)) outOfRange(value, type);
    if (size === 1) writer.u8(number);
    else if (size === 2) writer.u16(number);
    else writer.u32(number);
  };
}

/** A bigint of 8 bytes; `money` puts the upper half first (MS-TDS 2.2.5.5.1.2). */
function eightBytes(type: string, upperFirst: boolean): Payload {
  return (writer, value) => {
    const number = value as bigint;
    if (BigInt.asIntN(64, number) !== number) outOfRange(value, type);
    if (!upperFirst) return writer.i64(number);
    writer.u32(Number(number >> 32n));
    writer.u32(Number(number & 0xffff_ffffn));
  };
}

function decimal(precision: number): Payload {
  const size = decimalSize(precision);
  const limit = 10n ** BigInt(precision);
  return (writer, value) => {
    const number = value as bigint;
    let rest = number < 0n ? -number : number;
    if (rest >= limit) outOfRange(value, `decimal(${precision})`);
    writer.u8(number < 0n ? 0 : 1);
    for (let left = size; left > 0; left -= 4) {
      writer.u32(Number(rest & 0xffff_ffffn));
      rest >>= 32n;
    }
  };
}

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0').toUpperCase());
/** Where the bytes of a GUID's text go: its first three groups are little-endian. */
export const guidOrder = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15] as const;
const guidText = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function guid(writer: ByteWriter, value: SqlValue): void {
  const text = value as string;
  if (!guidText.test(text)) outOfRange(value, 'uniqueidentifier');
  const digits = Buffer.from(text.replaceAll('-', ''), 'hex');
  for (const from of guidOrder) writer.u8(digits[from]!);
}

export function guidFrom(bytes: Uint8Array): string {
  const h = guidOrder.map((from) => hex[bytes[from]!]!);
  const group = (from: number, to: number): string => h.slice(from, to).join('');
  return `${group(0, 4)}-${group(4, 6)}-${group(6, 8)}-${group(8, 10)}-${group(10, 16)}`;
}

function date(writer: ByteWriter, days: number): void {
  if (!(days >= 0 && days <= lastDay)) outOfRange(days, 'date');
  writer.uint(days, 3);
}

function time(writer: ByteWriter, units: number, scale: number): void {
  const value = units / unitOfScale(scale);
  if (!Number.isInteger(value) || units < 0 || units >= Number(ticksPerDay))
    outOfRange(units, `time(${scale})`);
  writer.uint(value, timeSize(scale));
}

function dateTime2(writer: ByteWriter, ticks: bigint, scale: number): void {
  const days = ticks / ticksPerDay;
  time(writer, Number(ticks - days * ticksPerDay), scale);
  date(writer, Number(days));
}

function dateTime(writer: ByteWriter, value: SqlValue): void {
  const ticks = value as bigint;
  const days = ticks / ticksPerDay;
  // 1/300 s; the engine's ticks are the nearest 100 ns to one of these.
  const parts = Math.round((Number(ticks - days * ticksPerDay) * 3) / 100_000);
  const carry = parts === 25_920_000 ? 1 : 0;
  writer.u32(Number(days) - daysTo1900 + carry);
  writer.u32(carry ? 0 : parts);
}

function smallDateTime(writer: ByteWriter, value: SqlValue): void {
  const ticks = value as bigint;
  const days = Number(ticks / ticksPerDay) - daysTo1900;
  const minutes = Number(ticks % ticksPerDay) / 600_000_000;
  if (!(days >= 0 && days <= 0xffff) || !Number.isInteger(minutes)) outOfRange(value, 'smalldatetime');
  writer.u16(days);
  writer.u16(minutes);
}

const utf16: Payload = (writer, value) => writer.utf16(value as string);
const bytes: Payload = (writer, value) => writer.bytes(value as Uint8Array);

export function payloadOf(type: SqlType): Payload {
  const scale = type.scale ?? 7;
  switch (type.name) {
    case 'bit':
      return (writer, value) => writer.u8(value ? 1 : 0);
    case 'tinyint':
      return integer('tinyint', 1, 0, 255);
    case 'smallint':
      return integer('smallint', 2, -32_768, 32_767);
    case 'int':
      return integer('int', 4, -(2 ** 31), 2 ** 31 - 1);
    case 'bigint':
      return eightBytes('bigint', false);
    case 'money':
      return eightBytes('money', true);
    case 'smallmoney': {
      const write = integer('smallmoney', 4, -(2 ** 31), 2 ** 31 - 1);
      return (writer, value) => write(writer, Number(value));
    }
    case 'decimal':
      return decimal(type.precision ?? 18);
    case 'real':
      return (writer, value) => writer.f32(value as number);
    case 'float':
      return (writer, value) => writer.f64(value as number);
    case 'char':
    case 'varchar':
    case 'text': {
      const { codePage } = collationOf(type.collation);
      return (writer, value) => encodeText(writer, value as string, codePage);
    }
    case 'nchar':
    case 'nvarchar':
    case 'ntext':
    case 'xml':
      return utf16;
    case 'binary':
    case 'varbinary':
    case 'image':
    case 'rowversion':
      return bytes;
    case 'uniqueidentifier':
      return guid;
    case 'date':
      return (writer, value) => date(writer, value as number);
    case 'time':
      return (writer, value) => time(writer, value as number, scale);
    case 'datetime2':
      return (writer, value) => dateTime2(writer, value as bigint, scale);
    case 'datetime':
      return dateTime;
    case 'smalldatetime':
      return smallDateTime;
    case 'datetimeoffset':
      return (writer, value) => {
        const { ticks, offset } = value as OffsetDateTime;
        if (!(Math.abs(offset) <= 840)) outOfRange(offset, 'offset');
        dateTime2(writer, ticks, scale);
        writer.u16(offset);
      };
    case 'sql_variant':
      throw new TypeError('A sql_variant holds no sql_variant.');
  }
}
