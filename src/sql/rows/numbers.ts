import type { NumberFormat } from '../types.js';
import type { Codec } from './codec.js';
import { writeWhole } from './digits.js';
import type { JsonOutput } from './json-output.js';
import { viewOf } from './view.js';

const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const quote = 0x22;
/** 39 digits of the largest decimal, a sign, a point, quotes and room to spare. */
const room = 64;

/** Writes a whole number of 64 bits, its magnitude given as two of 32, with `scale` digits after the point. Room must be ensured. */
function writeScaled(out: JsonOutput, isNegative: boolean, high: number, low: number, scale: number): void {
  const { buffer, view } = out;
  let at = out.position;
  if (isNegative) buffer[at++] = minus;
  let end = writeWhole(view, at, high, low);
  if (scale > 0) {
    // Zeros first, where the number is shorter than its fraction and a digit before it.
    const missing = scale + 1 - (end - at);
    if (missing > 0) {
      buffer.copyWithin(at + missing, at, end);
      buffer.fill(zero, at, at + missing);
      end += missing;
    }
    const fraction = end - scale;
    for (let digit = end; digit > fraction; digit--) buffer[digit] = buffer[digit - 1]!;
    buffer[fraction] = point;
    end++;
  }
  out.position = end;
}

/** A whole number up to 2^53 either way. */
export function writeSafeInteger(out: JsonOutput, value: number): void {
  out.ensure(room);
  const magnitude = Math.abs(value);
  const high = Math.floor(magnitude / 4_294_967_296);
  writeScaled(out, value < 0, high, magnitude - high * 4_294_967_296, 0);
}

function withPoint(digits: string, scale: number, negative: boolean): string {
  const padded = digits.padStart(scale + 1, '0');
  const text = scale === 0 ? padded : `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
  return negative ? `-${text}` : text;
}

function whole(read: (source: Buffer, start: number, length: number) => number): Codec {
  return {
    json(source, start, length, out) {
      out.ensure(room);
      const value = read(source, start, length);
      writeScaled(out, value < 0, 0, Math.abs(value), 0);
    },
    value: read,
  };
}

/** tinyint, smallint and int, by the length on the wire: an INTN column holds any of them. */
export const integer: Codec = whole((source, start, length) =>
  length === 4
    ? source[start]! | (source[start + 1]! << 8) | (source[start + 2]! << 16) | (source[start + 3]! << 24)
    : length === 2
      ? ((source[start]! | (source[start + 1]! << 8)) << 16) >> 16
      : source[start]!,
);

/** The magnitude of a number of 64 bits, as two of 32. One object for all, read before the next is made. */
const magnitude = { isNegative: false, high: 0, low: 0 };

/** Sets `magnitude` to a number in two's complement. */
function setMagnitude(high: number, low: number): void {
  magnitude.isNegative = high < 0;
  if (high >= 0) {
    magnitude.high = high;
    magnitude.low = low;
  } else {
    magnitude.low = -low >>> 0;
    magnitude.high = (~high + (low === 0 ? 1 : 0)) >>> 0;
  }
}

export function bigint(format: NumberFormat): Codec {
  const quoted = format === 'string';
  return {
    json(source, start, _length, out) {
      out.ensure(room);
      if (quoted) out.buffer[out.position++] = quote;
      const bytes = viewOf(source);
      setMagnitude(bytes.getInt32(start + 4, true), bytes.getUint32(start, true));
      writeScaled(out, magnitude.isNegative, magnitude.high, magnitude.low, 0);
      if (quoted) out.buffer[out.position++] = quote;
    },
    value: (source, start) => viewOf(source).getBigInt64(start, true),
  };
}

export const bit: Codec = {
  json: (source, start, _length, out) => out.ascii(source[start] === 0 ? 'false' : 'true'),
  value: (source, start) => source[start] !== 0,
};

/** A number of 64 bits or less, which `magnitude` is set to, and true; or false, and then `digits` has what there is before the point is put. */
interface ScaledReader {
  read(source: Buffer, start: number, length: number): boolean;
  digits(source: Buffer, start: number, length: number): { readonly digits: string; isNegative: boolean };
}

function scaled(reader: ScaledReader, scale: number, inJson: NumberFormat, inRows: NumberFormat): Codec {
  const quoted = inJson === 'string';
  function text(source: Buffer, start: number, length: number): string {
    if (!reader.read(source, start, length) || magnitude.high >= 0x200000) {
      const { digits, isNegative } = reader.digits(source, start, length);
      return withPoint(digits, scale, isNegative);
    }
    return withPoint(String(magnitude.high * 4_294_967_296 + magnitude.low), scale, magnitude.isNegative);
  }
  return {
    json(source, start, length, out) {
      out.ensure(room);
      if (quoted) out.buffer[out.position++] = quote;
      if (reader.read(source, start, length)) {
        writeScaled(out, magnitude.isNegative, magnitude.high, magnitude.low, scale);
      } else {
        const { digits, isNegative } = reader.digits(source, start, length);
        out.ascii(withPoint(digits, scale, isNegative));
      }
      if (quoted) out.buffer[out.position++] = quote;
    },
    value: inRows === 'string' ? text : (source, start, length) => Number(text(source, start, length)),
  };
}

/** A sign byte, 1 for positive, then 4, 8, 12 or 16 bytes of magnitude, little-endian (MS-TDS 2.2.5.5.1.6). */
export function decimal(scale: number, inJson: NumberFormat, inRows: NumberFormat): Codec {
  return scaled(
    {
      read(source, start, length) {
        for (let at = start + 9; at < start + length; at++) if (source[at] !== 0) return false;
        const bytes = viewOf(source);
        magnitude.low = bytes.getUint32(start + 1, true);
        magnitude.high = length > 5 ? bytes.getUint32(start + 5, true) : 0;
        magnitude.isNegative = source[start] === 0 && (magnitude.low !== 0 || magnitude.high !== 0);
        return true;
      },
      digits(source, start, length) {
        let value = 0n;
        for (let at = start + length - 4; at > start; at -= 4) {
          value = (value << 32n) | BigInt(source.readUInt32LE(at));
        }
        return { digits: value.toString(), isNegative: source[start] === 0 && value !== 0n };
      },
    },
    scale,
    inJson,
    inRows,
  );
}

/** money has its upper half first; smallmoney is 4 bytes; both count 1/10,000 (MS-TDS 2.2.5.5.1.2). */
export function money(inJson: NumberFormat, inRows: NumberFormat): Codec {
  return scaled(
    {
      read(source, start, length) {
        const bytes = viewOf(source);
        const first = bytes.getInt32(start, true);
        if (length === 4) setMagnitude(first >> 31, first >>> 0);
        else setMagnitude(first, bytes.getUint32(start + 4, true));
        return true;
      },
      digits(source, start) {
        const value = (BigInt(source.readInt32LE(start)) << 32n) | BigInt(source.readUInt32LE(start + 4));
        return { digits: (value < 0n ? -value : value).toString(), isNegative: value < 0n };
      },
    },
    4,
    inJson,
    inRows,
  );
}

/** From here on up a real is as good as six decimal digits (IEEE 754 binary32); below it has fewer. */
const smallestNormalReal = 2 ** -126;

/** The shortest decimal number that is this real: 0.1, not the 0.10000000149011612 that its bits are as a double. */
function shortestReal(value: number): number {
  if (Number.isSafeInteger(value) && Math.abs(value) < 1_000_000) return value;
  for (let digits = Math.abs(value) < smallestNormalReal ? 1 : 6; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return candidate;
  }
  return Number(value.toPrecision(9));
}

/** real and float, by the length on the wire. */
export const float: Codec = {
  json(source, start, length, out) {
    const value = float.value(source, start, length) as number;
    out.ensure(room);
    if (Number.isSafeInteger(value)) writeSafeInteger(out, value);
    // The same text as of String, which keeps each in a cache that outlives the row: 30 MB more in a stream of numbers.
    else out.ascii(JSON.stringify(value));
  },
  value: (source, start, length) =>
    length === 4
      ? shortestReal(viewOf(source).getFloat32(start, true))
      : viewOf(source).getFloat64(start, true),
};
