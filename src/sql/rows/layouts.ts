import type { LongValue, RowReader } from './row-reader.js';

/**
 * Finds the next value of a column: sets `source`, `start` and `length` of the reader and moves its position past the value.
 * False when not all of it has arrived; what was taken of a long value is then kept in the reader, so that a value of many packets is read once.
 */
export type Layout = (reader: RowReader) => boolean;

/** Fixed length (MS-TDS 2.2.5.4.1). */
export function fixed(length: number): Layout {
  return (reader) => {
    const start = reader.position;
    if (start + length > reader.end) return false;
    reader.source = reader.buffer;
    reader.start = start;
    reader.length = length;
    reader.position = start + length;
    return true;
  };
}

/** NULLTYPE: no bytes at all. */
export const nothing: Layout = (reader) => {
  reader.length = -1;
  return true;
};

/** A length of one byte; 0 is NULL (MS-TDS 2.2.5.4.2, BYTELEN_TYPE). */
export const byteLength: Layout = (reader) => {
  const at = reader.position;
  if (at >= reader.end) return false;
  const length = reader.buffer[at]!;
  if (at + 1 + length > reader.end) return false;
  reader.source = reader.buffer;
  reader.start = at + 1;
  reader.length = length === 0 ? -1 : length;
  reader.position = at + 1 + length;
  return true;
};

/** A length of two bytes; 0xFFFF is NULL (USHORTLEN_TYPE). */
export const shortLength: Layout = (reader) => {
  const at = reader.position;
  if (at + 2 > reader.end) return false;
  const length = reader.buffer[at]! | (reader.buffer[at + 1]! << 8);
  if (length === 0xffff) {
    reader.length = -1;
    reader.position = at + 2;
    return true;
  }
  if (at + 2 + length > reader.end) return false;
  reader.source = reader.buffer;
  reader.start = at + 2;
  reader.length = length;
  reader.position = at + 2 + length;
  return true;
};

/** sql_variant: a length of four bytes; 0 is NULL (MS-TDS 2.2.5.5.4). */
export const variantLength: Layout = (reader) => {
  const at = reader.position;
  if (at + 4 > reader.end) return false;
  const length = reader.buffer.readUInt32LE(at);
  if (at + 4 + length > reader.end) return false;
  reader.source = reader.buffer;
  reader.start = at + 4;
  reader.length = length === 0 ? -1 : length;
  reader.position = at + 4 + length;
  return true;
};

/** True, and the reader says so, when a value is longer than it may be; a reader that discards takes any length. */
function isTooLong(reader: RowReader, bytes: number): boolean {
  if (reader.discards || bytes <= reader.maxValueBytes) return false;
  reader.tooLong = true;
  return true;
}

/** Takes pieces until the value is whole; then it is the reader's value. */
function collect(reader: RowReader): boolean {
  const long = reader.long!;
  if (takePieces(reader, long)) return true;
  for (; long.kept < long.pieces.length; long.kept++)
    long.pieces[long.kept] = Buffer.from(long.pieces[long.kept]!);
  return false;
}

function takePieces(reader: RowReader, long: LongValue): boolean {
  for (;;) {
    if (long.remaining > 0) {
      const take = Math.min(long.remaining, reader.end - reader.position);
      if (take === 0) return false;
      if (!reader.discards) long.pieces.push(reader.buffer.subarray(reader.position, reader.position + take));
      reader.position += take;
      long.remaining -= take;
      if (long.remaining > 0) return false;
    }
    if (long.single) break;
    if (reader.position + 4 > reader.end) return false;
    long.remaining = reader.buffer.readUInt32LE(reader.position);
    reader.position += 4;
    if (long.remaining === 0) break;
    long.total += long.remaining;
    if (isTooLong(reader, long.total)) return false;
  }
  reader.source = long.pieces.length === 1 ? long.pieces[0]! : Buffer.concat(long.pieces);
  reader.start = 0;
  reader.length = reader.discards ? -1 : long.total;
  reader.long = undefined;
  return true;
}

/**
 * Partially length-prefixed (MS-TDS 2.2.5.2.3): eight bytes of total length, all ones for NULL, 0xFFFFFFFFFFFFFFFE for unknown;
 * then pieces with four bytes of length each; an empty piece ends it.
 */
export const partialLength: Layout = (reader) => {
  if (reader.long === undefined) {
    const at = reader.position;
    if (at + 8 > reader.end) return false;
    reader.position = at + 8;
    const low = reader.buffer.readUInt32LE(at);
    const high = reader.buffer.readUInt32LE(at + 4);
    if (high === 0xffffffff && low === 0xffffffff) {
      reader.length = -1;
      return true;
    }
    reader.long = { pieces: [], kept: 0, remaining: 0, total: 0, single: false };
    if (high !== 0xffffffff && isTooLong(reader, high * 4_294_967_296 + low)) return false;
  }
  return collect(reader);
};

/** text, ntext, image: text pointer, timestamp, four bytes of length (MS-TDS 2.2.7.19, TextPointer). */
export const textPointer: Layout = (reader) => {
  if (reader.long === undefined) {
    const at = reader.position;
    if (at >= reader.end) return false;
    const pointerLength = reader.buffer[at]!;
    if (pointerLength === 0) {
      reader.length = -1;
      reader.position = at + 1;
      return true;
    }
    const lengthAt = at + 1 + pointerLength + 8;
    if (lengthAt + 4 > reader.end) return false;
    const length = reader.buffer.readUInt32LE(lengthAt);
    reader.position = lengthAt + 4;
    reader.long = { pieces: [], kept: 0, remaining: length, total: length, single: true };
    if (isTooLong(reader, length)) return false;
  }
  return collect(reader);
};
