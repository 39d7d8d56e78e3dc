import type { ByteReader } from './byte-reader.js';
import { decodeText } from './code-pages.js';
import { codePageOf } from './collations.js';
import {
  bySize,
  type Decode,
  decodeBytes,
  decodeDateTime2,
  decodeDays,
  decodeDecimal,
  decodeIn,
  decodeTime,
  decodeUtf16,
  fixedSizes,
  ParameterError,
} from './decode-values.js';
import type { SqlType, SqlValue } from './engine.js';
import { readVariant } from './read-variant.js';
import { timeSize, token } from './type-tokens.js';

/** The length of a NULL where lengths have four bytes. */
const nothing = 0xffff_ffff;

export interface TypedReader {
  readonly type: SqlType;
  read(reader: ByteReader): SqlValue;
}

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
function readPartial(reader: ByteReader): Buffer | null {
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
