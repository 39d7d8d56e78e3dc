import type { ByteReader } from './byte-reader.js';
import { decodeText } from './code-pages.js';
import type { SqlValue, TypeName } from './engine.js';
import { daysTo1900, fixed, lastDay, ticksPerDay, timeSize, token, unitOfScale } from './type-tokens.js';
import { guidFrom } from './value-payloads.js';

/** What is wrong with a parameter: the cause of 8009, 8016 or 8023. */
export class ParameterError extends Error {
  readonly kind: 'unknown type' | 'invalid length' | 'invalid value' | 'refused type';
  readonly typeByte: number;

  constructor(kind: ParameterError['kind'], typeByte: number, message: string = kind) {
    super(message);
    this.kind = kind;
    this.typeByte = typeByte;
  }
}

/** Reads `size` bytes as a value that is not NULL. */
export type Decode = (reader: ByteReader, size: number) => SqlValue;

export function decodeDays(reader: ByteReader): number {
  const days = reader.uint(3);
  if (days > lastDay) throw new RangeError();
  return days;
}

export function decodeTime(reader: ByteReader, scale: number, size: number): number {
  if (size !== timeSize(scale)) throw new RangeError();
  const units = reader.uint(size) * unitOfScale(scale);
  if (units >= Number(ticksPerDay)) throw new RangeError();
  return units;
}

export function decodeDateTime2(reader: ByteReader, scale: number, size: number): bigint {
  const units = decodeTime(reader, scale, size - 3);
  return BigInt(decodeDays(reader)) * ticksPerDay + BigInt(units);
}

function decodeDateTime(reader: ByteReader, size: number): bigint {
  if (size === 4) {
    const days = BigInt(reader.u16() + daysTo1900);
    const minutes = reader.u16();
    if (minutes >= 1440) throw new RangeError();
    return days * ticksPerDay + BigInt(minutes) * 600_000_000n;
  }
  const days = reader.i32() + daysTo1900;
  const parts = reader.u32();
  // 1753-01-01 is where datetime begins.
  if (days < 639_905 || days > lastDay || parts >= 25_920_000) throw new RangeError();
  return BigInt(days) * ticksPerDay + BigInt(Math.round((parts * 100_000) / 3));
}

export function decodeDecimal(reader: ByteReader, size: number, precision: number): bigint {
  const sign = reader.u8();
  let magnitude = 0n;
  const bytes = reader.take(size - 1);
  for (let at = bytes.length; at > 0; at--) magnitude = (magnitude << 8n) | BigInt(bytes[at - 1]!);
  if (sign > 1 || magnitude >= 10n ** BigInt(precision)) throw new RangeError();
  return sign === 0 ? -magnitude : magnitude;
}

function decodeReal(reader: ByteReader, size: number): number {
  const bytes = reader.take(size);
  const value = size === 4 ? bytes.readFloatLE(0) : bytes.readDoubleLE(0);
  if (!Number.isFinite(value)) throw new RangeError();
  return value;
}

const decodeMoney = (reader: ByteReader, size: number): bigint =>
  size === 4 ? BigInt(reader.i32()) : (BigInt(reader.i32()) << 32n) | BigInt(reader.u32());

export const decodeUtf16: Decode = (reader, size) => {
  if (size % 2 !== 0) throw new RangeError();
  return reader.take(size).toString('utf16le');
};
/** A copy: the message that it lies in is gone when the handler returns. */
export const decodeBytes: Decode = (reader, size) => Uint8Array.from(reader.take(size));
export const decodeIn =
  (codePage: number): Decode =>
  (reader, size) =>
    decodeText(reader.take(size), codePage);

interface Sized {
  readonly name: TypeName;
  readonly decode: Decode;
}
const bit: Decode = (reader) => reader.u8() !== 0;
export const bySize: Record<number, Record<number, Sized>> = {
  [token.bit]: { 1: { name: 'bit', decode: bit } },
  [token.int]: {
    1: { name: 'tinyint', decode: (reader) => reader.u8() },
    2: { name: 'smallint', decode: (reader) => reader.i16() },
    4: { name: 'int', decode: (reader) => reader.i32() },
    8: { name: 'bigint', decode: (reader) => reader.i64() },
  },
  [token.float]: { 4: { name: 'real', decode: decodeReal }, 8: { name: 'float', decode: decodeReal } },
  [token.money]: {
    4: { name: 'smallmoney', decode: decodeMoney },
    8: { name: 'money', decode: decodeMoney },
  },
  [token.datetime]: {
    4: { name: 'smalldatetime', decode: decodeDateTime },
    8: { name: 'datetime', decode: decodeDateTime },
  },
  [token.guid]: { 16: { name: 'uniqueidentifier', decode: (reader, size) => guidFrom(reader.take(size)) } },
};
export const fixedSizes: Record<number, readonly [typeByte: number, size: number]> = {
  [fixed.bit]: [token.bit, 1],
  [fixed.tinyint]: [token.int, 1],
  [fixed.smallint]: [token.int, 2],
  [fixed.int]: [token.int, 4],
  [fixed.bigint]: [token.int, 8],
  [fixed.real]: [token.float, 4],
  [fixed.float]: [token.float, 8],
  [fixed.smallmoney]: [token.money, 4],
  [fixed.money]: [token.money, 8],
  [fixed.smalldatetime]: [token.datetime, 4],
  [fixed.datetime]: [token.datetime, 8],
};
