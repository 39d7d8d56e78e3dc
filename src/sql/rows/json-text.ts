import type { JsonOutput } from './json-output.js';
import { viewOf } from './view.js';

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

/** One unit, or a pair of surrogates, that is not plain ASCII; a lone surrogate as an escape. `next` is the unit after it, 0 at the end. */
function writeSpecial(buffer: Buffer, at: number, unit: number, next: number): number {
  if (unit < 128) return writeEscaped(buffer, at, unit);
  if (unit < 0xd800 || unit > 0xdfff) return writeUnit(buffer, at, unit);
  if (!isPair(unit, next)) return writeEscaped(buffer, at, unit);
  const point = 0x10000 + ((unit - 0xd800) << 10) + (next - 0xdc00);
  buffer[at] = 0xf0 | (point >> 18);
  buffer[at + 1] = 0x80 | ((point >> 12) & 63);
  buffer[at + 2] = 0x80 | ((point >> 6) & 63);
  buffer[at + 3] = 0x80 | (point & 63);
  return at + 4;
}

function isPair(unit: number, next: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next <= 0xdfff;
}

/** UTF-16 as a JSON string, exactly as JSON.stringify writes it. `count` units, from `unitAt(0)`. */
export function writeUnits(out: JsonOutput, count: number, unitAt: (index: number) => number): void {
  out.ensure(1);
  out.buffer[out.position++] = quote;
  for (let index = 0; index < count; ) {
    out.ensure((slice + 1) * 6 + 1);
    const { buffer } = out;
    const end = Math.min(count, index + slice);
    let at = out.position;
    while (index < end) {
      const unit = unitAt(index++);
      if (unit < 128 && escapes[unit] === 0) buffer[at++] = unit;
      else {
        const next = index < count ? unitAt(index) : 0;
        at = writeSpecial(buffer, at, unit, next);
        if (isPair(unit, next)) index++;
      }
    }
    out.position = at;
  }
  out.ensure(1);
  out.buffer[out.position++] = quote;
}

function writeLongText(out: JsonOutput, text: string): void {
  writeUnits(out, text.length, (index) => text.charCodeAt(index));
}

/** A JSON string, exactly as JSON.stringify writes it. */
export function writeText(out: JsonOutput, text: string): void {
  const { length } = text;
  if (length > slice) {
    writeLongText(out, text);
    return;
  }
  out.ensure(length * 6 + 2);
  const { buffer } = out;
  let at = out.position;
  buffer[at++] = quote;
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 128 && escapes[unit] === 0) buffer[at++] = unit;
    else {
      const next = index + 1 < length ? text.charCodeAt(index + 1) : 0;
      at = writeSpecial(buffer, at, unit, next);
      if (isPair(unit, next)) index++;
    }
  }
  buffer[at++] = quote;
  out.position = at;
}

/** Whether four ASCII characters at once go out as they are: none is a control, a quote or a backslash. Each byte must be below 0x80. */
function arePlain(four: number): boolean {
  // A difference has the upper bit of a byte set when the byte was less than what is taken from it.
  const controls = four - 0x20202020;
  const quotes = (four ^ 0x22222222) - 0x01010101;
  const backslashes = (four ^ 0x5c5c5c5c) - 0x01010101;
  return ((controls | quotes | backslashes) & 0x80808080) === 0;
}

/** The same as `writeUnits` for UTF-16LE, of which plain ASCII is the common case: four units at once, without a call for each. */
export function writeUtf16(source: Buffer, start: number, count: number, out: JsonOutput): void {
  const units = viewOf(source);
  const end = start + 2 * count;
  out.ensure(1);
  out.buffer[out.position++] = quote;
  for (let from = start; from < end; ) {
    out.ensure((Math.min(slice, (end - from) >> 1) + 1) * 6 + 1);
    const { buffer, view: target } = out;
    const sliceEnd = Math.min(end, from + 2 * slice);
    let at = out.position;
    while (from < sliceEnd) {
      let stop = sliceEnd;
      if (from + 8 <= sliceEnd) {
        const low = units.getInt32(from, true);
        const high = units.getInt32(from + 4, true);
        if (((low | high) & 0xff80ff80) === 0) {
          const four =
            (low & 0x7f) | ((low >> 8) & 0x7f00) | ((high & 0x7f) << 16) | ((high << 8) & 0x7f000000);
          if (arePlain(four)) {
            target.setInt32(at, four, true);
            at += 4;
            from += 8;
            continue;
          }
        }
        stop = from + 8;
      }
      while (from < stop) {
        const unit = source[from]! | (source[from + 1]! << 8);
        from += 2;
        if (unit < 128 && escapes[unit] === 0) buffer[at++] = unit;
        else {
          const next = from < end ? source[from]! | (source[from + 1]! << 8) : 0;
          at = writeSpecial(buffer, at, unit, next);
          if (isPair(unit, next)) from += 2;
        }
      }
    }
    out.position = at;
  }
  out.ensure(1);
  out.buffer[out.position++] = quote;
}

/** Plain ASCII of moderate length as a JSON string; false, and nothing written, for any other. */
export function writeAscii(source: Buffer, start: number, length: number, out: JsonOutput): boolean {
  if (length > slice) return false;
  const bytes = viewOf(source);
  out.ensure(length + 2);
  const { buffer, view: target } = out;
  let at = out.position;
  buffer[at++] = quote;
  const end = start + length;
  let from = start;
  for (; from + 4 <= end; from += 4, at += 4) {
    const four = bytes.getInt32(from, true);
    if ((four & 0x80808080) !== 0 || !arePlain(four)) return false;
    target.setInt32(at, four, true);
  }
  for (; from < end; from++) {
    const byte = source[from]!;
    if (byte > 127 || escapes[byte] !== 0) return false;
    buffer[at++] = byte;
  }
  buffer[at++] = quote;
  out.position = at;
  return true;
}
