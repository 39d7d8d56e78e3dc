import type { CodePage } from './code-pages.js';
import type { Codec } from './codec.js';
import type { JsonOutput } from './json-output.js';
import { writeAscii, writeText, writeUnits, writeUtf16 } from './json-text.js';
import { viewOf } from './view.js';

/** nchar, nvarchar, ntext: UTF-16LE. */
export const utf16: Codec = {
  json: (source, start, length, out) => writeUtf16(source, start, length >> 1, out),
  value(source, start, length) {
    const units = length >> 1;
    const narrow = units <= scratch.length ? narrowText(source, start, units) : undefined;
    return narrow ?? source.toString('utf16le', start, start + 2 * units);
  },
};

const scratch = Buffer.alloc(512);
const scratchView = new DataView(scratch.buffer, scratch.byteOffset, scratch.length);

/**
 * Text without characters over U+00FF as a string of one byte each: half the memory, and faster in all that is done with it. Undefined for other
 * text, and when it is long.
 */
function narrowText(source: Buffer, start: number, units: number): string | undefined {
  const bytes = viewOf(source);
  let from = start;
  let at = 0;
  for (; at + 4 <= units; at += 4, from += 8) {
    const low = bytes.getInt32(from, true);
    const high = bytes.getInt32(from + 4, true);
    if (((low | high) & 0xff00ff00) !== 0) return undefined;
    scratchView.setInt32(
      at,
      (low & 0xff) | ((low >> 8) & 0xff00) | ((high & 0xff) << 16) | ((high << 8) & 0xff000000),
      true,
    );
  }
  for (; at < units; at++, from += 2) {
    if (source[from + 1] !== 0) return undefined;
    scratch[at] = source[from]!;
  }
  return scratch.toString('latin1', 0, units);
}

function isAscii(source: Buffer, start: number, length: number): boolean {
  const bytes = viewOf(source);
  let from = start;
  for (const end = start + length - 4; from <= end; from += 4) {
    if ((bytes.getInt32(from, true) & 0x80808080) !== 0) return false;
  }
  for (; from < start + length; from++) if (source[from]! > 127) return false;
  return true;
}

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

function writeTable(
  source: Buffer,
  start: number,
  length: number,
  table: CodePage['table'] & object,
  out: JsonOutput,
): void {
  writeUnits(out, length, (index) => table[source[start + index]!]!);
}

/** char, varchar, text of a code page. */
export function encoded({ table, decode }: CodePage): Codec {
  return {
    json(source, start, length, out) {
      if (writeAscii(source, start, length, out)) return;
      if (table !== undefined) writeTable(source, start, length, table, out);
      else writeText(out, decode(source.subarray(start, start + length)));
    },
    value(source, start, length) {
      // The lower half of every code page is ASCII, where its characters of one byte are meant.
      if (isAscii(source, start, length)) return source.toString('latin1', start, start + length);
      return decode(source.subarray(start, start + length));
    },
  };
}
