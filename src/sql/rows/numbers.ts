import type { NumberFormat } from '../types.js';
import type { Codec } from './codec.js';
import type { JsonOutput } from './json-output.js';

const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const quote = 0x22;
/** 39 digits of the largest decimal, a sign, a point, quotes and room to spare. */
const room = 64;

/** Writes a whole number up to 2^53; with `scale` digits after the point. Room must be ensured. */
function writeScaled(out: JsonOutput, value: number, scale: number): void {
  const { buffer } = out;
  let at = out.position;
  let rest = value;
  if (rest < 0) {
    buffer[at++] = minus;
    rest = -rest;
  }
  let digits = 1;
  for (let limit = 10; limit <= rest; limit *= 10) digits++;
  if (digits <= scale) digits = scale + 1;
  let end = at + digits + (scale > 0 ? 1 : 0);
  out.position = end;
  for (let written = 0; written < digits; written++) {
    if (written === scale && scale > 0) buffer[--end] = point;
    if (rest < 0x7fffffff) {
      const next = (rest / 10) | 0;
      buffer[--end] = zero + (rest - next * 10);
      rest = next;
    } else {
      const next = Math.floor(rest / 10);
      buffer[--end] = zero + (rest - next * 10);
      rest = next;
    }
  }
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
      writeScaled(out, read(source, start, length), 0);
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

export function bigint(format: NumberFormat): Codec {
  const quoted = format === 'string';
  return {
    json(source, start, _length, out) {
      out.ensure(room);
      if (quoted) out.buffer[out.position++] = quote;
      const high = source.readInt32LE(start + 4);
      // Within 2^53 the arithmetic of doubles is exact, and far cheaper than BigInt.
      if (high < 0x200000 && high >= -0x200000) {
        writeScaled(out, high * 4_294_967_296 + source.readUInt32LE(start), 0);
      } else out.ascii(source.readBigInt64LE(start).toString());
      if (quoted) out.buffer[out.position++] = quote;
    },
    value: (source, start) => source.readBigInt64LE(start),
  };
}

export const bit: Codec = {
  json: (source, start, _length, out) => out.ascii(source[start] === 0 ? 'false' : 'true'),
  value: (source, start) => source[start] !== 0,
};

/** A scaled number: small and exact as a double, or undefined, and then `text` has its digits. */
interface ScaledReader {
  small(source: Buffer, start: number, length: number): number | undefined;
  text(source: Buffer, start: number, length: number): string;
}

function scaled(reader: ScaledReader, scale: number, inJson: NumberFormat, inRows: NumberFormat): Codec {
  const quoted = inJson === 'string';
  function text(source: Buffer, start: number, length: number): string {
    const small = reader.small(source, start, length);
    if (small === undefined) return reader.text(source, start, length);
    return withPoint(Math.abs(small).toString(), scale, small < 0);
  }
  return {
    json(source, start, length, out) {
      out.ensure(room);
      if (quoted) out.buffer[out.position++] = quote;
      const small = reader.small(source, start, length);
      if (small !== undefined) writeScaled(out, small, scale);
      else out.ascii(reader.text(source, start, length));
      if (quoted) out.buffer[out.position++] = quote;
    },
    value: inRows === 'string' ? text : (source, start, length) => Number(text(source, start, length)),
  };
}

/** A sign byte, 1 for positive, then 4, 8, 12 or 16 bytes of magnitude, little-endian (MS-TDS 2.2.5.5.1.6). */
export function decimal(scale: number, inJson: NumberFormat, inRows: NumberFormat): Codec {
  return scaled(
    {
      small(source, start, length) {
        const low = source.readUInt32LE(start + 1);
        let magnitude = low;
        if (length > 5) {
          const high = source.readUInt32LE(start + 5);
          if (high >= 0x200000) return undefined;
          for (let at = start + 9; at < start + length; at++) if (source[at] !== 0) return undefined;
          magnitude = high * 4_294_967_296 + low;
        }
        return source[start] === 0 && magnitude !== 0 ? -magnitude : magnitude;
      },
      text(source, start, length) {
        let magnitude = 0n;
        for (let at = start + length - 4; at > start; at -= 4) {
          magnitude = (magnitude << 32n) | BigInt(source.readUInt32LE(at));
        }
        return withPoint(magnitude.toString(), scale, source[start] === 0 && magnitude !== 0n);
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
      small(source, start, length) {
        if (length === 4) return source.readInt32LE(start);
        const high = source.readInt32LE(start);
        if (high >= 0x200000 || high < -0x200000) return undefined;
        return high * 4_294_967_296 + source.readUInt32LE(start + 4);
      },
      text(source, start) {
        const value = (BigInt(source.readInt32LE(start)) << 32n) | BigInt(source.readUInt32LE(start + 4));
        return withPoint((value < 0n ? -value : value).toString(), 4, value < 0n);
      },
    },
    4,
    inJson,
    inRows,
  );
}

/** The shortest decimal number that is this real: 0.1, not the 0.10000000149011612 that its bits are as a double. */
function shortestReal(value: number): number {
  if (Number.isSafeInteger(value) && Math.abs(value) < 1_000_000) return value;
  for (let digits = 6; digits < 9; digits++) {
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
    if (Number.isSafeInteger(value)) writeScaled(out, value, 0);
    else out.ascii(String(value));
  },
  value: (source, start, length) =>
    length === 4 ? shortestReal(source.readFloatLE(start)) : source.readDoubleLE(start),
};
