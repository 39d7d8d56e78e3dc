import type { ByteReader } from './byte-reader.js';
import { decodeText } from './code-pages.js';
import { codePageOf } from './collations.js';
import type { SqlType, SqlValue, TypeName } from './engine.js';
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

export interface TypedReader {
  readonly type: SqlType;
  read(reader: ByteReader): SqlValue;
}

/** Reads `size` bytes as a value that is not NULL. */
type Decode = (reader: ByteReader, size: number) => SqlValue;

const nothing = 0xffff_ffff;

function decodeDays(reader: ByteReader): number {
  const days = reader.uint(3);
  if (days > lastDay) throw new RangeError();
  return days;
}

function decodeTime(reader: ByteReader, scale: number, size: number): number {
  if (size !== timeSize(scale)) throw new RangeError();
  const units = reader.uint(size) * unitOfScale(scale);
  if (units >= Number(ticksPerDay)) throw new RangeError();
  return units;
}

function decodeDateTime2(reader: ByteReader, scale: number, size: number): bigint {
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

function decodeDecimal(reader: ByteReader, size: number, precision: number): bigint {
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

const decodeUtf16: Decode = (reader, size) => {
  if (size % 2 !== 0) throw new RangeError();
  return reader.take(size).toString('utf16le');
};
/** A copy: the message that it lies in is gone when the handler returns. */
const decodeBytes: Decode = (reader, size) => Uint8Array.from(reader.take(size));
const decodeIn =
  (codePage: number): Decode =>
  (reader, size) =>
    decodeText(reader.take(size), codePage);

interface Sized {
  readonly name: TypeName;
  readonly decode: Decode;
}
const bit: Decode = (reader) => reader.u8() !== 0;
const bySize: Record<number, Record<number, Sized>> = {
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
const fixedSizes: Record<number, readonly [typeByte: number, size: number]> = {
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

/** A length byte before each value, 0 for NULL; `sizes` are the others that may be. */
function byteLength(typeByte: number, type: SqlType, decode: Decode, sizes: readonly number[]): TypedReader {
  return {
    type,
    read(reader) {
      const size = reader.u8();
      if (size === 0) return null;
      if (!sizes.includes(size)) throw new ParameterError('invalid length', typeByte);
      return decode(reader, size);
    },
  };
}

function shortLength(typeByte: number, type: SqlType, decode: Decode, most: number): TypedReader {
  return {
    type,
    read(reader) {
      const size = reader.u16();
      if (size === 0xffff) return null;
      if (size > most) throw new ParameterError('invalid length', typeByte);
      return decode(reader, size);
    },
  };
}

/** Joins the chunks; the total that the client declares is not believed (it may also be "unknown"). */
export function readPartial(reader: ByteReader): Buffer | null {
  if (reader.u64() === 0xffff_ffff_ffff_ffffn) return null;
  const chunks: Buffer[] = [];
  for (let size = reader.u32(); size !== 0; size = reader.u32()) chunks.push(reader.take(size));
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function partial(type: SqlType, decode: (bytes: Buffer) => SqlValue): TypedReader {
  return {
    type,
    read(reader) {
      const bytes = readPartial(reader);
      return bytes && decode(bytes);
    },
  };
}

const utf16Of = (bytes: Buffer): string => {
  if (bytes.length % 2 !== 0) throw new RangeError();
  return bytes.toString('utf16le');
};

/** In a parameter, these have no text pointer (MS-TDS 2.2.5.5.2). */
function longLength(type: SqlType, decode: Decode): TypedReader {
  return {
    type,
    read(reader) {
      const size = reader.u32();
      return size === nothing ? null : decode(reader, size);
    },
  };
}

/** Reads TYPE_INFO and returns the type with the reader of its values. Throws a ParameterError. */
export function readTypeInfo(reader: ByteReader): TypedReader {
  const typeByte = reader.u8();
  const notNull = fixedSizes[typeByte];
  if (notNull) {
    const { name, decode } = bySize[notNull[0]]![notNull[1]]!;
    return { type: { name }, read: (values) => decode(values, notNull[1]) };
  }
  const sizes = bySize[typeByte];
  if (sizes) {
    const size = reader.u8();
    const sized = sizes[size];
    if (!sized) throw new ParameterError('invalid length', typeByte);
    return byteLength(typeByte, { name: sized.name }, sized.decode, [size]);
  }
  switch (typeByte) {
    case token.null:
      return { type: { name: 'nvarchar', length: 1 }, read: () => null };
    case token.decimal:
    case token.numeric:
      return decimalInfo(reader, typeByte);
    case token.date:
      return byteLength(typeByte, { name: 'date' }, decodeDays, [3]);
    case token.time:
    case token.datetime2:
    case token.datetimeoffset:
      return timeInfo(reader, typeByte);
    case token.varchar:
    case token.char:
    case token.nvarchar:
    case token.nchar:
    case token.varbinary:
    case token.binary:
      return shortInfo(reader, typeByte);
    case token.text:
    case token.ntext:
    case token.image: {
      reader.u32();
      if (typeByte === token.image) return longLength({ name: 'image' }, decodeBytes);
      const codePage = codePageOf(reader.take(5));
      return typeByte === token.ntext
        ? longLength({ name: 'ntext' }, decodeUtf16)
        : longLength({ name: 'text' }, decodeIn(codePage));
    }
    case token.xml: {
      if (reader.u8() !== 0) {
        reader.shortText();
        reader.shortText();
        reader.utf16(reader.u16());
      }
      return partial({ name: 'xml' }, (bytes) => utf16Of(bytes).replace(/^\ufeff/, ''));
    }
    case token.variant:
      reader.u32();
      return { type: { name: 'sql_variant' }, read: readVariant };
    case token.table:
      throw new ParameterError('refused type', typeByte, 'A table-valued parameter');
    case token.udt:
      throw new ParameterError('refused type', typeByte, 'A parameter of a CLR type');
    default:
      throw new ParameterError('unknown type', typeByte);
  }
}

function decimalInfo(reader: ByteReader, typeByte: number): TypedReader {
  const [size, precision, scale] = [reader.u8(), reader.u8(), reader.u8()];
  if (size < 2 || size > 17 || precision < 1 || precision > 38 || scale > precision) {
    throw new ParameterError('invalid length', typeByte);
  }
  const decode: Decode = (values, length) => decodeDecimal(values, length, precision);
  return byteLength(typeByte, { name: 'decimal', precision, scale }, decode, [5, 9, 13, 17]);
}

function timeInfo(reader: ByteReader, typeByte: number): TypedReader {
  const scale = reader.u8();
  if (scale > 7) throw new ParameterError('invalid length', typeByte);
  const size = timeSize(scale);
  if (typeByte === token.time) {
    return byteLength(typeByte, { name: 'time', scale }, (values) => decodeTime(values, scale, size), [size]);
  }
  if (typeByte === token.datetime2) {
    const decode: Decode = (values, length) => decodeDateTime2(values, scale, length);
    return byteLength(typeByte, { name: 'datetime2', scale }, decode, [size + 3]);
  }
  const decode: Decode = (values, length) => {
    const ticks = decodeDateTime2(values, scale, length - 2);
    const offset = values.i16();
    if (Math.abs(offset) > 840) throw new RangeError();
    return { ticks, offset };
  };
  return byteLength(typeByte, { name: 'datetimeoffset', scale }, decode, [size + 5]);
}

function shortInfo(reader: ByteReader, typeByte: number): TypedReader {
  const size = reader.u16();
  const max = size === 0xffff;
  if (!max && size > 8000) throw new ParameterError('invalid length', typeByte);
  if (typeByte === token.varbinary || typeByte === token.binary) {
    const name = typeByte === token.binary ? 'binary' : 'varbinary';
    if (max) return partial({ name, length: 'max' }, (bytes) => Uint8Array.from(bytes));
    return shortLength(typeByte, { name, length: Math.max(1, size) }, decodeBytes, size);
  }
  const codePage = codePageOf(reader.take(5));
  if (typeByte === token.nvarchar || typeByte === token.nchar) {
    const name = typeByte === token.nchar ? 'nchar' : 'nvarchar';
    if (max) return partial({ name, length: 'max' }, utf16Of);
    return shortLength(typeByte, { name, length: Math.max(1, size >> 1) }, decodeUtf16, size);
  }
  const name = typeByte === token.char ? 'char' : 'varchar';
  if (max) return partial({ name, length: 'max' }, (bytes) => decodeText(bytes, codePage));
  return shortLength(typeByte, { name, length: Math.max(1, size) }, decodeIn(codePage), size);
}

function readVariant(reader: ByteReader): SqlValue {
  const size = reader.u32();
  if (size === 0) return null;
  const end = reader.at + size;
  const typeByte = reader.u8();
  const properties = reader.take(reader.u8());
  const left = end - reader.at;
  const inner = variantType(typeByte, properties);
  if (!inner || left < 0) throw new ParameterError('invalid value', token.variant);
  const value = inner.decode(reader, left);
  if (reader.at !== end) throw new ParameterError('invalid length', token.variant);
  return { type: inner.type, value };
}

function variantType(typeByte: number, properties: Buffer): { type: SqlType; decode: Decode } | undefined {
  const [first = 0, second = 0] = properties;
  const notNull = fixedSizes[typeByte];
  if (notNull) {
    const { name, decode } = bySize[notNull[0]]![notNull[1]]!;
    return { type: { name }, decode };
  }
  const length = properties.length >= 2 ? properties.readUInt16LE(properties.length - 2) : 0;
  switch (typeByte) {
    case token.guid:
      return { type: { name: 'uniqueidentifier' }, decode: bySize[token.guid]![16]!.decode };
    case token.decimal:
    case token.numeric: {
      const type: SqlType = { name: 'decimal', precision: first, scale: second };
      return { type, decode: (reader, size) => decodeDecimal(reader, size, first) };
    }
    case token.date:
      return { type: { name: 'date' }, decode: decodeDays };
    case token.time:
      return {
        type: { name: 'time', scale: first },
        decode: (reader, size) => decodeTime(reader, first, size),
      };
    case token.datetime2: {
      const type: SqlType = { name: 'datetime2', scale: first };
      return { type, decode: (reader, size) => decodeDateTime2(reader, first, size) };
    }
    case token.datetimeoffset: {
      const type: SqlType = { name: 'datetimeoffset', scale: first };
      const decode: Decode = (reader, size) => {
        const ticks = decodeDateTime2(reader, first, size - 2);
        return { ticks, offset: reader.i16() };
      };
      return { type, decode };
    }
    case token.binary:
    case token.varbinary:
      return {
        type: { name: typeByte === token.binary ? 'binary' : 'varbinary', length },
        decode: decodeBytes,
      };
    case token.char:
    case token.varchar: {
      const type: SqlType = { name: typeByte === token.char ? 'char' : 'varchar', length };
      return properties.length === 7 ? { type, decode: decodeIn(codePageOf(properties)) } : undefined;
    }
    case token.nchar:
    case token.nvarchar: {
      const type: SqlType = { name: typeByte === token.nchar ? 'nchar' : 'nvarchar', length: length >> 1 };
      return { type, decode: decodeUtf16 };
    }
    default:
      return undefined;
  }
}
