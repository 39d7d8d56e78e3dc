import type { SqlType, SqlValue } from './contract.js';
import { fail, refuse } from './errors.js';
import { isBinary, isInteger, isString, isUnicode } from './types.js';

type Present = NonNullable<SqlValue>;

export function toBinary(value: Present, from: SqlType, to: SqlType, style: number): Uint8Array {
  const { bytes, left } = bytesOf(value, from, style);
  const limit = to.length ?? 'max';
  if (to.name === 'rowversion') return fitBytes(bytes, 8, true, true);
  if (limit === 'max') return bytes;
  return fitBytes(bytes, limit, left, to.name === 'binary');
}

/** Numbers are cut and padded on the left, all else on the right. */
function fitBytes(bytes: Uint8Array, size: number, left: boolean, pad: boolean): Uint8Array {
  if (bytes.length >= size) return left ? bytes.slice(bytes.length - size) : bytes.slice(0, size);
  if (!pad) return bytes;
  const padded = new Uint8Array(size);
  padded.set(bytes, left ? size - bytes.length : 0);
  return padded;
}

function bytesOf(value: Present, from: SqlType, style: number): { bytes: Uint8Array; left: boolean } {
  if (isBinary(from)) return { bytes: value as Uint8Array, left: false };
  if (isString(from)) {
    const text = value as string;
    if (style === 1 || style === 2) {
      const hex = style === 1 ? text.replace(/^0x/i, '') : text;
      if ((style === 1 && !/^0x/i.test(text)) || hex.length % 2 || !/^[0-9a-f]*$/i.test(hex))
        fail(8114, from.name, 'varbinary');
      return { bytes: Uint8Array.from(Buffer.from(hex, 'hex')), left: false };
    }
    if (isUnicode(from)) return { bytes: Uint8Array.from(Buffer.from(text, 'utf16le')), left: false };
    return { bytes: Uint8Array.from(text, latin1), left: false };
  }
  if (from.name === 'bit') return { bytes: Uint8Array.of(value ? 1 : 0), left: true };
  if (isInteger(from)) {
    const size = { tinyint: 1, smallint: 2, int: 4, bigint: 8 }[from.name as 'int'];
    const hex = BigInt.asUintN(size * 8, BigInt(value as number | bigint)).toString(16);
    return { bytes: Uint8Array.from(Buffer.from(hex.padStart(size * 2, '0'), 'hex')), left: true };
  }
  if (from.name === 'uniqueidentifier') return { bytes: guidBytes(value as string), left: false };
  return refuse(`A conversion of ${from.name} to binary`);
}

function latin1(character: string): number {
  const code = character.charCodeAt(0);
  if (code > 127) refuse('A conversion of non-ASCII varchar text to binary');
  return code;
}

/** The order of the bytes in memory and on the wire: the first three groups are little-endian. */
const guidByteOrder = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];

function guidBytes(guid: string): Uint8Array {
  const plain = Buffer.from(guid.replaceAll('-', ''), 'hex');
  return Uint8Array.from(guidByteOrder, (i) => plain[i]!);
}

export function toUniqueidentifier(value: Present, from: SqlType): string {
  if (from.name === 'uniqueidentifier') return value as string;
  if (isString(from)) {
    const match = /^\{?([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})/i.exec((value as string).trimStart());
    return match ? match[1]!.toUpperCase() : fail(8169);
  }
  if (!isBinary(from)) return fail(529, from.name, 'uniqueidentifier');
  const bytes = new Uint8Array(16);
  bytes.set((value as Uint8Array).slice(0, 16));
  const hex = Buffer.from(guidByteOrder.map((i) => bytes[i]!))
    .toString('hex')
    .toUpperCase();
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
