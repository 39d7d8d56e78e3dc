import type { RawRecordset, RawType, RawValue } from './recordset.js';

/**
 * The JSON that the extension makes of a recordset: a DataTable filled by a data adapter, written by Newtonsoft.Json with the
 * date format `yyyy-MM-ddTHH:mm:ss.fffZ`, losses included. A pure function, to run on a thread of its own one day.
 *
 * @throws RangeError for a decimal that no System.Decimal can hold, as the extension fails for it
 */
export function dataTableJson(recordset: RawRecordset | undefined): string {
  if (recordset === undefined) return '[]';
  const names = columnNames(recordset.names).map((name, index) => `${index === 0 ? '{' : ','}${text(name)}:`);
  const writers = recordset.types.map((type) => writerOf[type]);
  let json = '[';
  for (const row of recordset.rows) {
    if (json.length > 1) json += ',';
    for (const [index, name] of names.entries()) {
      const value = row[index];
      json += name + (value === null || value === undefined ? 'null' : writers[index]?.(value));
    }
    json += '}';
  }
  return `${json}]`;
}

/**
 * An unnamed column is `Column1`; a name that is taken, whatever its case, gets the first number that makes it unique.
 * Names that are in the set already keep theirs.
 */
function columnNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  const isFirst = names.map((name) => {
    if (name === '' || taken.has(name.toLowerCase())) return false;
    taken.add(name.toLowerCase());
    return true;
  });
  return names.map((name, index) => {
    if (isFirst[index]) return name;
    for (let number = 1; ; number++) {
      const candidate = `${name || 'Column'}${number}`;
      if (taken.has(candidate.toLowerCase())) continue;
      taken.add(candidate.toLowerCase());
      return candidate;
    }
  });
}

type Writer = (value: NonNullable<RawValue>) => string;

const writerOf: Record<RawType, Writer> = {
  bigint: String,
  decimal,
  real,
  time,
  uniqueidentifier: (value) => text(String(value).toLowerCase()),
  other,
};

function other(value: NonNullable<RawValue>): string {
  if (typeof value === 'string') return text(value);
  if (value instanceof Date) return `"${value.toISOString()}"`;
  if (value instanceof Uint8Array) {
    return `"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}"`;
  }
  return String(value);
}

/** Newtonsoft escapes these three besides what JSON must. A lone surrogate does not survive the way to the worker as UTF-8. */
const loneSurrogate = /\p{Cs}/gu;
const escaped = /[\u0085\u2028\u2029]/g;

function text(value: string): string {
  const json = JSON.stringify(value.replace(loneSurrogate, '\uFFFD'));
  return json.replace(escaped, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const largestDecimal = 2 ** 96;

function decimal(value: NonNullable<RawValue>): string {
  if (Math.abs(Number(value)) > largestDecimal) {
    throw new RangeError(`Conversion overflows: ${String(value)} is more than a System.Decimal holds.`);
  }
  return String(value);
}

/** The shortest text that reads back as the same 32-bit number. */
function real(value: NonNullable<RawValue>): string {
  const number = Number(value);
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(number.toPrecision(digits));
    if (Math.fround(short) === number) return String(short);
  }
  return String(number);
}

/** As TimeSpan is written: seven digits of a fraction, or none. */
function time(value: NonNullable<RawValue>): string {
  const ticks = Number(value);
  const seconds = Math.floor(ticks / 10_000_000);
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60];
  const clock = parts.map((part) => String(Math.floor(part)).padStart(2, '0')).join(':');
  const fraction = ticks % 10_000_000;
  return fraction === 0 ? `"${clock}"` : `"${clock}.${String(fraction).padStart(7, '0')}"`;
}
