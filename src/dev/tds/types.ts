/**
 * Types on the wire, both ways: TYPE_INFO (MS-TDS 2.2.5.6), then values with their lengths.
 */

import type { SqlType, SqlValue, TypeName, VariantValue } from '../sql-engine.js';
import { collationNameOf, collationOf } from '../text/collations.js';
import { ByteReader, type ByteWriter, ProtocolError } from './bytes.js';
import { decimalSize, type Payload, payloadOf, timeSize } from './payloads.js';
import { ParameterError } from './request-error.js';
import { type Form, forms } from './type-forms.js';

/** A type with its TYPE_INFO, and its values with their lengths. */
export interface Codec {
  readonly type: SqlType;
  /** Bytes of a NULL in a ROW: what NBCROW saves. 0 when there is none. */
  readonly nullSize: number;
  info(writer: ByteWriter): void;
  /** NULL as well where the type is nullable. Throws a RangeError for a value that the type can't hold. */
  write(writer: ByteWriter, value: SqlValue): void;
  /** Throws a ParameterError, a RangeError (no value of the type) or a ProtocolError (the message ends too early). */
  read(reader: ByteReader): SqlValue;
}

/** Type bytes that no form has: NULLTYPE, NUMERICN (as DECIMALN), and those that are refused. */
export const otherTokens = { null: 0x1f, numeric: 0x6c } as const;
const refused: Record<number, string> = { 243: 'A table-valued parameter', 240: 'A parameter of a CLR type' };

const notNullNames = new Map<number, TypeName>();
const nullableNames = new Map<number, TypeName[]>([[otherTokens.numeric, ['decimal']]]);
for (const [name, { token, notNull }] of Object.entries(forms) as [TypeName, Form][]) {
  if (notNull !== undefined) notNullNames.set(notNull, name);
  nullableNames.set(token, [...(nullableNames.get(token) ?? []), name]);
}

const shortMost = 8_000;
const maxLength = 0xffff;
const variantMost = 8_016;
const u16 = (value: number): number[] => [value & 0xff, value >> 8];
const u32 = (value: number): number[] => [...u16(value & 0xffff), ...u16(value >>> 16)];

/** What follows the type byte in TYPE_INFO; or the properties in a sql_variant, where the collation comes first. */
function properties(type: SqlType, { kind, size, unit }: Form, isVariant: boolean): number[] {
  const collation = unit ? [...collationOf(type.collation).bytes] : [];
  switch (kind) {
    case 'date':
      return [];
    case 'fixed':
      return isVariant ? [] : [size!];
    case 'time':
      return [type.scale ?? 7];
    case 'decimal': {
      const { precision = 18, scale = 0 } = type;
      return [...(isVariant ? [] : [decimalSize(precision)]), precision, scale];
    }
    case 'sized': {
      const max = isVariant ? shortMost : maxLength;
      const length = u16(type.length === 'max' ? max : bytesOf(type, unit));
      return isVariant ? [...collation, ...length] : [...length, ...collation];
    }
  }
  if (isVariant) throw new TypeError(`A sql_variant holds no ${type.name}.`);
  if (kind === 'long') return [...u32(unit === 2 ? 0x7fff_fffe : 0x7fff_ffff), ...collation];
  // xml: no schema collection.
  return kind === 'xml' ? [0] : u32(variantMost);
}

function bytesOf({ name, length }: SqlType, unit = 1): number {
  return name === 'rowversion' ? 8 : unit * ((length as number | undefined) ?? 1);
}

/** The inverse of `properties`. */
function readProperties(reader: ByteReader, token: number, isVariant: boolean): SqlType {
  const names = nullableNames.get(token);
  if (!names) throw new ParameterError(refused[token] ? 40510 : 8009, refused[token]);
  const name = names[0]!;
  const { kind, unit } = forms[name];
  const collation = (): Pick<SqlType, 'collation'> => {
    const known = unit && collationNameOf(reader.take(5));
    return known ? { collation: known } : {};
  };
  const valid = (isValid: boolean, number: 8016 | 8017 = 8016): void => {
    if (!isValid) throw new ParameterError(number);
  };
  switch (kind) {
    case 'date':
      return { name };
    case 'fixed': {
      if (isVariant) {
        // A number has a type byte without a length there.
        if (forms[name].notNull !== undefined) throw new ParameterError(8009);
        return { name };
      }
      const size = reader.u8();
      const sized = names.find((candidate) => forms[candidate].size === size);
      valid(sized !== undefined);
      return { name: sized! };
    }
    case 'time': {
      const scale = reader.u8();
      valid(scale <= 7, 8017);
      return { name, scale };
    }
    case 'decimal': {
      const size = isVariant ? decimalSize(38) : reader.u8();
      const [precision, scale] = [reader.u8(), reader.u8()];
      valid(size >= 2 && size <= 17);
      valid(precision >= 1 && precision <= 38 && scale <= precision, 8017);
      return { name, precision, scale };
    }
    case 'sized': {
      const before = isVariant ? collation() : undefined;
      const size = reader.u16();
      const own = before ?? collation();
      if (size === maxLength && !isVariant) return { name, length: 'max', ...own };
      valid(size <= shortMost);
      return { name, length: Math.max(1, Math.floor(size / (unit ?? 1))), ...own };
    }
  }
  if (isVariant) throw new ParameterError(8009);
  if (kind === 'xml') {
    if (reader.u8() !== 0) {
      for (let part = 0; part < 2; part++) reader.shortText();
      reader.utf16(reader.u16());
    }
  } else reader.u32();
  return { name, ...(kind === 'long' && collation()) };
}

/** The codec of a TYPE_INFO. Throws a ParameterError. */
export function readTypeInfo(reader: ByteReader): Codec {
  const token = reader.u8();
  const exact = notNullNames.get(token);
  if (exact) return codecOf({ name: exact }, false);
  if (token === otherTokens.null)
    return { ...codecOf({ name: 'nvarchar', length: 1 }, true), read: () => null };
  return codecOf(readProperties(reader, token, false), true);
}

export function codecOf(type: SqlType, nullable: boolean): Codec {
  const form = forms[type.name];
  if (!nullable && form.notNull !== undefined) {
    const { write, read } = payloadOf(type);
    const { notNull, size } = form;
    return { type, nullSize: 0, info: (to) => to.u8(notNull), write, read: (from) => read(from, size!) };
  }
  const info = Uint8Array.of(form.token, ...properties(type, form, false));
  return { type, info: (writer) => writer.bytes(info), ...framed(type, form) };
}

type Frame = Pick<Codec, 'nullSize' | 'write' | 'read'>;

function framed(type: SqlType, form: Form): Frame {
  if (form.kind === 'variant') return lengthFirst(variant, 4, 0, () => true);
  const payload = payloadOf(type);
  if (form.kind === 'long') return longLength(payload);
  if (form.kind === 'xml' || type.length === 'max') return partial(payload);
  const mayBe = lengthsOf(type, form);
  return form.kind === 'sized' ? lengthFirst(payload, 2, 0xffff, mayBe) : lengthFirst(payload, 1, 0, mayBe);
}

/** Tells which lengths the values of a type may have. */
function lengthsOf(type: SqlType, form: Form): (size: number) => boolean {
  if (form.kind === 'sized') {
    const most = bytesOf(type, form.unit);
    return (size) => size <= most;
  }
  const sizes = sizesOf(type, form);
  return (size) => sizes.includes(size);
}

function sizesOf({ name, scale = 7 }: SqlType, { kind, size }: Form): number[] {
  if (kind === 'decimal') return [5, 9, 13, 17];
  if (kind === 'date') return [3];
  if (kind === 'fixed') return [size!];
  return [timeSize(scale) + { time: 0, datetime2: 3, datetimeoffset: 5 }[name as 'time']];
}

/** Lengths of one, two or four bytes, of which one means NULL. */
const lengthFirst = (
  { write, read }: Payload,
  bytes: 1 | 2 | 4,
  nullLength: number,
  mayBe: (size: number) => boolean,
): Frame => ({
  nullSize: bytes,
  write(writer, value) {
    if (value === null) return writer.uint(nullLength, bytes);
    const at = writer.claim(bytes);
    write(writer, value);
    const size = writer.length - at - bytes;
    if (!mayBe(size)) throw new RangeError(`A value has ${size} bytes, which its type has not.`);
    writer.buffer.writeUIntLE(size, at, bytes);
  },
  read(reader) {
    const size = reader.uint(bytes);
    if (size === nullLength) return null;
    if (!mayBe(size)) throw new ParameterError(8016);
    return read(reader, size);
  },
});

/** PARTLENTYPE (MS-TDS 2.2.5.2.3): out as the whole length, one chunk and the end; in as any chunks. */
const partial = ({ write, read }: Payload): Frame => ({
  nullSize: 8,
  write(writer, value) {
    if (value === null) return writer.i64(-1n);
    const at = writer.claim(12);
    write(writer, value);
    const size = writer.length - at - 12;
    writer.buffer.writeBigUInt64LE(BigInt(size), at);
    writer.buffer.writeUInt32LE(size, at + 8);
    // No chunk but the end, when the value is empty.
    if (size === 0) writer.length = at + 12;
    else writer.u32(0);
  },
  read(reader) {
    // The total that the client declares is not believed; it may also be "unknown".
    if (reader.i64() === -1n) return null;
    const chunks: Buffer[] = [];
    for (let size = reader.u32(); size !== 0; size = reader.u32()) chunks.push(reader.take(size));
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    return read(new ByteReader(bytes), bytes.length);
  },
});

/** Where a text pointer would be: 16 bytes and a timestamp of 8, which clients only skip. */
const textPointer = Buffer.alloc(25);
textPointer[0] = 16;

/** text, ntext and image: out with a text pointer before the length; in, as a parameter, without (2.2.5.5.2). */
function longLength(payload: Payload): Frame {
  const { write, read } = lengthFirst(payload, 4, 0xffff_ffff, () => true);
  return {
    nullSize: 1,
    write(writer, value) {
      if (value === null) return writer.u8(0);
      writer.bytes(textPointer);
      write(writer, value);
    },
    read,
  };
}

/** MS-TDS 2.2.5.5.4: the base type, its properties, the value. */
const variant: Payload = {
  write(writer, value) {
    const { type, value: inner } = value as VariantValue;
    if (inner === null) throw new TypeError('A sql_variant of NULL is NULL itself.');
    const form = forms[type.name];
    const head = form.notNull === undefined ? properties(type, form, true) : [];
    writer.bytes(Uint8Array.of(form.notNull ?? form.token, head.length, ...head));
    // A decimal in a variant takes all 17 bytes, whatever its precision; Microsoft.Data.SqlClient gives the connection up for less.
    const stored = type.name === 'decimal' ? { ...type, precision: 38 } : type;
    payloadOf(stored).write(writer, inner);
  },
  read(reader, size) {
    const content = new ByteReader(reader.take(size));
    const type = readVariantType(content);
    if (!lengthsOf(type, forms[type.name])(content.left)) throw new ParameterError(8013);
    return { type, value: payloadOf(type).read(content, content.left) };
  },
};

/** Numbers of what is wrong with a type, where it is in a sql_variant; all others are 8014. */
const inVariant: Record<number, ParameterError['number']> = { 8016: 8011, 8017: 8012 };

function readVariantType(content: ByteReader): SqlType {
  try {
    const token = content.u8();
    const head = new ByteReader(content.take(content.u8()));
    const exact = notNullNames.get(token);
    const read = exact ? { name: exact } : readProperties(head, token, true);
    if (head.left === 0) return read;
  } catch (error) {
    if (error instanceof ParameterError) throw new ParameterError(inVariant[error.number] ?? 8014);
    // The variant ends too early, but the message does not.
    if (!(error instanceof ProtocolError)) throw error;
  }
  throw new ParameterError(8011);
}
