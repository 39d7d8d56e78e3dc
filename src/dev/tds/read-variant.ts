import type { ByteReader } from './byte-reader.js';
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
import { token } from './type-tokens.js';

/** A sql_variant (MS-TDS 2.2.5.5.4). */
export function readVariant(reader: ByteReader): SqlValue {
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
