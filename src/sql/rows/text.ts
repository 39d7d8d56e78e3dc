import type { CodePage } from './code-pages.js';
import type { Codec } from './codec.js';
import type { JsonOutput } from './json-output.js';

const quote = 0x22;
const backslash = 0x5c;
const hex = '0123456789abcdef';
/** Units written between two looks at the room that is left; a unit takes 6 bytes at most. */
const slice = 2_048;

/** For ASCII: 0 goes out as it is, 1 as \u00xx, and else after a backslash as this letter. */
const escapes = new Uint8Array(128);
escapes.fill(1, 0, 0x20);
for (const [unit, letter] of [
  [0x08, 'b'],
  [0x09, 't'],
  [0x0a, 'n'],
  [0x0c, 'f'],
  [0x0d, 'r'],
  [quote, '"'],
  [backslash, '\\'],
] as const) {
  escapes[unit] = letter.charCodeAt(0);
}

function writeEscaped(buffer: Buffer, from: number, unit: number): number {
  buffer[from] = backslash;
  const letter = unit < 128 ? escapes[unit]! : 1;
  if (letter !== 1) {
    buffer[from + 1] = letter;
    return from + 2;
  }
  buffer[from + 1] = 0x75; // u
  for (let digit = 0; digit < 4; digit++) {
    buffer[from + 2 + digit] = hex.charCodeAt((unit >> (12 - 4 * digit)) & 15);
  }
  return from + 6;
}

/** A unit over 0x7F that is no surrogate. */
function writeUnit(buffer: Buffer, from: number, unit: number): number {
  if (unit < 0x800) {
    buffer[from] = 0xc0 | (unit >> 6);
    buffer[from + 1] = 0x80 | (unit & 63);
    return from + 2;
  }
  buffer[from] = 0xe0 | (unit >> 12);
  buffer[from + 1] = 0x80 | ((unit >> 6) & 63);
  buffer[from + 2] = 0x80 | (unit & 63);
  return from + 3;
}

/** UTF-16 as a JSON string, exactly as JSON.stringify writes it: a lone surrogate as an escape. `count` units, from `unitAt(0)`. */
function writeUnits(out: JsonOutput, count: number, unitAt: (index: number) => number): void {
  out.ensure(1);
  out.buffer[out.position++] = quote;
  for (let index = 0; index < count; ) {
    out.ensure((slice + 1) * 6 + 1);
    const { buffer } = out;
    const end = Math.min(count, index + slice);
    let at = out.position;
    while (index < end) {
      const unit = unitAt(index++);
      if (unit < 128) {
        if (escapes[unit] === 0) buffer[at++] = unit;
        else at = writeEscaped(buffer, at, unit);
      } else if (unit < 0xd800 || unit > 0xdfff) at = writeUnit(buffer, at, unit);
      else {
        const next = unit < 0xdc00 && index < count ? unitAt(index) : 0;
        if (next >= 0xdc00 && next <= 0xdfff) {
          index++;
          const point = 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00);
          buffer[at] = 0xf0 | (point >> 18);
          buffer[at + 1] = 0x80 | ((point >> 12) & 63);
          buffer[at + 2] = 0x80 | ((point >> 6) & 63);
          buffer[at + 3] = 0x80 | (point & 63);
          at += 4;
        } else at = writeEscaped(buffer, at, unit);
      }
    }
    out.position = at;
  }
  out.ensure(1);
  out.buffer[out.position++] = quote;
}

function writeString(out: JsonOutput, text: string): void {
  writeUnits(out, text.length, (index) => text.charCodeAt(index));
}

/** Plain ASCII at the start of UTF-16 text, the common case, without a call for each unit. Returns the units written. */
function writeAsciiUtf16(source: Buffer, start: number, units: number, out: JsonOutput): number {
  out.ensure(units + 2);
  const { buffer } = out;
  let at = out.position;
  buffer[at++] = quote;
  let from = start;
  const end = start + 2 * units;
  while (from < end) {
    const low = source[from]!;
    if (source[from + 1] !== 0 || low > 127 || escapes[low] !== 0) return (from - start) >> 1;
    buffer[at++] = low;
    from += 2;
  }
  buffer[at++] = quote;
  out.position = at;
  return units;
}

/** nchar, nvarchar, ntext: UTF-16LE. */
export const utf16: Codec = {
  json(source, start, length, out) {
    const units = length >> 1;
    if (units <= slice && writeAsciiUtf16(source, start, units, out) === units) return;
    writeUnits(out, units, (index) => source[start + 2 * index]! | (source[start + 2 * index + 1]! << 8));
  },
  value: (source, start, length) => source.toString('utf16le', start, start + (length & ~1)),
};

function withoutMark(source: Buffer, start: number, length: number): number {
  return length >= 2 && source[start] === 0xff && source[start + 1] === 0xfe ? 2 : 0;
}

/** xml: UTF-16LE, perhaps after a byte order mark, which is no part of the value. */
export const xml: Codec = {
  json(source, start, length, out) {
    const mark = withoutMark(source, start, length);
    utf16.json(source, start + mark, length - mark, out);
  },
  value(source, start, length) {
    const mark = withoutMark(source, start, length);
    return utf16.value(source, start + mark, length - mark);
  },
};

/** False, and nothing written, when a byte needs more than a copy. */
function writeAscii(source: Buffer, start: number, length: number, out: JsonOutput): boolean {
  out.ensure(length + 2);
  const { buffer } = out;
  let at = out.position;
  buffer[at++] = quote;
  for (let from = start; from < start + length; from++) {
    const byte = source[from]!;
    if (byte > 127 || escapes[byte] !== 0) return false;
    buffer[at++] = byte;
  }
  buffer[at++] = quote;
  out.position = at;
  return true;
}

/** char, varchar, text of a code page. */
export function encoded({ table, decode }: CodePage): Codec {
  return {
    json(source, start, length, out) {
      if (length <= slice && writeAscii(source, start, length, out)) return;
      if (table !== undefined) writeUnits(out, length, (index) => table[source[start + index]!]!);
      else writeString(out, decode(source.subarray(start, start + length)));
    },
    value: (source, start, length) => decode(source.subarray(start, start + length)),
  };
}
