import type { ByteWriter } from './byte-writer.js';
import { collationOf } from './collations.js';
import type { SqlType, SqlValue, VariantValue } from './engine.js';
import { decimalSize, fixed, token } from './type-tokens.js';
import { payloadOf } from './value-payloads.js';

/** How a type is announced and its values are written. */
export interface Codec {
  /** TYPE_INFO (MS-TDS 2.2.5.6). */
  info(writer: ByteWriter): void;
  /** The value with its length; NULL as well where the type is nullable. */
  write(writer: ByteWriter, value: SqlValue): void;
  /** Bytes of a NULL in a ROW: what NBCROW saves. 0 when there is none. */
  readonly nullSize: number;
}

/** UserType of COLMETADATA: only rowversion needs it, for the bytes are those of a binary(8). */
export const userTypeOf = (type: SqlType): number => (type.name === 'rowversion' ? 0x50 : 0);

/** Where a text pointer would be: 16 bytes and a timestamp of 8, which clients only skip. */
const textPointer = Buffer.alloc(25);
textPointer[0] = 16;
const plpUnknownNull = Buffer.alloc(8, 0xff);
const variantLimit = 8016;

/** Sizes of the types that have a form of their own for NOT NULL. */
const fixedSizes: Partial<Record<SqlType['name'], readonly [token: number, size: number]>> = {
  bit: [token.bit, 1],
  tinyint: [token.int, 1],
  smallint: [token.int, 2],
  int: [token.int, 4],
  bigint: [token.int, 8],
  real: [token.float, 4],
  float: [token.float, 8],
  smallmoney: [token.money, 4],
  money: [token.money, 8],
  smalldatetime: [token.datetime, 4],
  datetime: [token.datetime, 8],
};

const byteLength = (info: readonly number[], type: SqlType): Codec => {
  const payload = payloadOf(type);
  const announced = Uint8Array.from(info);
  return {
    nullSize: 1,
    info: (writer) => writer.bytes(announced),
    write(writer, value) {
      const at = writer.claim(1);
      if (value !== null) payload(writer, value);
      writer.buffer[at] = writer.length - at - 1;
    },
  };
};

/** `unit` is the bytes of a character; `collation` goes with text only. */
const shortLength = (typeByte: number, type: SqlType, unit: number, collation?: Uint8Array): Codec => {
  const most = unit * ((type.length as number | undefined) ?? 1);
  const payload = payloadOf(type);
  return {
    nullSize: 2,
    info(writer) {
      writer.u8(typeByte);
      writer.u16(most);
      if (collation) writer.bytes(collation);
    },
    write(writer, value) {
      if (value === null) return writer.u16(0xffff);
      const at = writer.claim(2);
      payload(writer, value);
      const size = writer.length - at - 2;
      if (size > most)
        throw new RangeError(`A value of ${size} bytes is too long for ${type.name}(${type.length}).`);
      writer.buffer.writeUInt16LE(size, at);
    },
  };
};

/** PARTLENTYPE (MS-TDS 2.2.5.2.3): the whole length, one chunk, the end. */
const partial = (type: SqlType, info: (writer: ByteWriter) => void): Codec => {
  const payload = payloadOf(type);
  return {
    nullSize: 8,
    info,
    write(writer, value) {
      if (value === null) return writer.bytes(plpUnknownNull);
      const at = writer.claim(12);
      payload(writer, value);
      const size = writer.length - at - 12;
      writer.buffer.writeBigUInt64LE(BigInt(size), at);
      writer.buffer.writeUInt32LE(size, at + 8);
      // No chunk but the end, when the value is empty.
      if (size === 0) writer.length = at + 12;
      else writer.u32(0);
    },
  };
};

/** text, ntext and image: a text pointer before the length. */
const longLength = (typeByte: number, type: SqlType, collation?: Uint8Array): Codec => {
  const payload = payloadOf(type);
  return {
    nullSize: 1,
    info(writer) {
      writer.u8(typeByte);
      writer.u32(typeByte === token.ntext ? 0x7fff_fffe : 0x7fff_ffff);
      if (collation) writer.bytes(collation);
    },
    write(writer, value) {
      if (value === null) return writer.u8(0);
      writer.bytes(textPointer);
      const at = writer.claim(4);
      payload(writer, value);
      writer.buffer.writeUInt32LE(writer.length - at - 4, at);
    },
  };
};

function notNull(typeByte: number, type: SqlType): Codec {
  return { nullSize: 0, info: (writer) => writer.u8(typeByte), write: payloadOf(type) };
}

export function codecOf(type: SqlType, nullable: boolean): Codec {
  const { name, length, scale = 7 } = type;
  const sized = fixedSizes[name];
  if (sized) {
    return nullable ? byteLength(sized, type) : notNull(fixed[name as keyof typeof fixed], type);
  }
  const collation = collationOf(type.collation).bytes;
  const max = (typeByte: number, withCollation: boolean): Codec =>
    partial(type, (writer) => {
      writer.u8(typeByte);
      writer.u16(0xffff);
      if (withCollation) writer.bytes(collation);
    });
  switch (name) {
    case 'decimal': {
      const precision = type.precision ?? 18;
      return byteLength([token.decimal, decimalSize(precision) + 1, precision, type.scale ?? 0], type);
    }
    case 'uniqueidentifier':
      return byteLength([token.guid, 16], type);
    case 'date':
      return byteLength([token.date], type);
    case 'time':
    case 'datetime2':
    case 'datetimeoffset':
      return byteLength([token[name], scale], type);
    case 'char':
    case 'varchar':
      return length === 'max' ? max(token.varchar, true) : shortLength(token[name], type, 1, collation);
    case 'nchar':
    case 'nvarchar':
      return length === 'max' ? max(token.nvarchar, true) : shortLength(token[name], type, 2, collation);
    case 'binary':
    case 'varbinary':
      return length === 'max' ? max(token.varbinary, false) : shortLength(token[name], type, 1);
    case 'rowversion':
      return shortLength(token.binary, { name, length: 8 }, 1);
    case 'xml':
      // No schema collection.
      return partial(type, (writer) => writer.u16(token.xml));
    case 'text':
    case 'ntext':
      return longLength(token[name], type, collation);
    case 'image':
      return longLength(token.image, type);
    case 'sql_variant':
      return variant;
    default:
      throw new TypeError(`${name} has no form on the wire.`);
  }
}

/** MS-TDS 2.2.5.5.4: the length of all, the base type, its properties, the value. */
const variant: Codec = {
  nullSize: 4,
  info(writer) {
    writer.u8(token.variant);
    writer.u32(variantLimit);
  },
  write(writer, value) {
    const at = writer.claim(4);
    if (value !== null) {
      const inner = value as VariantValue;
      if (inner.value === null) throw new TypeError('A sql_variant of NULL is NULL itself.');
      writer.bytes(Uint8Array.from(variantHead(inner.type)));
      payloadOf(inner.type)(writer, inner.value);
    }
    writer.buffer.writeUInt32LE(writer.length - at - 4, at);
  },
};

/** The base type and its properties. */
function variantHead(type: SqlType): number[] {
  const { name, length, scale = 7 } = type;
  if (name in fixed) return [fixed[name as keyof typeof fixed], 0];
  const bytes = typeof length === 'number' ? length * (name.startsWith('n') ? 2 : 1) : 8_000;
  const size = [bytes & 0xff, bytes >> 8];
  switch (name) {
    case 'decimal':
      return [token.decimal, 2, type.precision ?? 18, type.scale ?? 0];
    case 'uniqueidentifier':
      return [token.guid, 0];
    case 'date':
      return [token.date, 0];
    case 'time':
    case 'datetime2':
    case 'datetimeoffset':
      return [token[name], 1, scale];
    case 'binary':
    case 'varbinary':
      return [token[name], 2, ...size];
    case 'char':
    case 'varchar':
    case 'nchar':
    case 'nvarchar':
      return [token[name], 7, ...collationOf(type.collation).bytes, ...size];
    default:
      throw new TypeError(`A sql_variant holds no ${name}.`);
  }
}
