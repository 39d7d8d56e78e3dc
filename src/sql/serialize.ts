import type { ResolvedFormats } from './rows/codec.js';
import type { ColumnInfo } from './types.js';

const exactNumbers = new Set(['decimal', 'money', 'smallmoney']);
const decimalText = /^-?\d+(\.\d+)?$/;

export type WriteValue = (value: unknown) => string | undefined;

/** A text with what JSON.stringify escapes: controls, quote, backslash, surrogates. */
const escaped = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

function plain(value: unknown): string | undefined {
  if (typeof value === 'string') return escaped.test(value) ? JSON.stringify(value) : `"${value}"`;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return serializeObject(value);
}

function isWrappedOrCustom(value: object): boolean {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

/** JSON.stringify, but for bigint (its digits) and bytes (base64), at any depth. */
function serializeObject(value: object): string | undefined {
  if (isWrappedOrCustom(value)) return plain((value as { toJSON(): unknown }).toJSON());
  if (Array.isArray(value)) return `[${value.map((item) => plain(item) ?? 'null').join(',')}]`;
  if (value instanceof Number || value instanceof String || value instanceof Boolean)
    return JSON.stringify(value);
  return serializeFields(Object.entries(value), () => plain);
}

function serializeFields(entries: [string, unknown][], writerOf: (key: string) => WriteValue): string {
  const fields: string[] = [];
  for (const [key, value] of entries) {
    const json = writerOf(key)(value);
    if (json !== undefined) fields.push(`${JSON.stringify(key)}:${json}`);
  }
  return `{${fields.join(',')}}`;
}

/** JSON of a value that came from a column, or of what took its place; undefined where JSON has no value. */
export function writerFor(info: ColumnInfo, formats: ResolvedFormats): WriteValue {
  if (info.type === 'bigint' && formats.bigint === 'string') {
    return (value) => (typeof value === 'bigint' ? `"${value}"` : plain(value));
  }
  // Exact digits are text in a row; they are a number in JSON unless the app asked for text.
  if (exactNumbers.has(info.type) && formats.decimal === 'number') {
    return (value) => (typeof value === 'string' && decimalText.test(value) ? value : plain(value));
  }
  return plain;
}

/** JSON of a row with the columns that it came with, all of them and in their order; undefined for any other. */
type SerializeWhole = (row: Record<string, unknown>) => string | undefined;

/** Without looking each name up, and without an array for each value: most rows are sent as they came, or with other values in their columns. */
function wholeRowSerializer(columns: readonly ColumnInfo[], formats: ResolvedFormats): SerializeWhole {
  const names = columns.map(({ name }) => name);
  const writers = columns.map((info) => writerFor(info, formats));
  const prefixes = names.map((name, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return (row) => {
    const keys = Object.keys(row);
    if (keys.length !== names.length || names.length === 0) return undefined;
    let json = '';
    for (let index = 0; index < names.length; index++) {
      const name = names[index]!;
      if (keys[index] !== name) return undefined;
      const value = writers[index]!(row[name]);
      if (value === undefined) return undefined;
      json += prefixes[index] + value;
    }
    return `${json}}`;
  };
}

/**
 * JSON of rows that came from `rows()` and may have been changed: what still has the type of its column is written as `chunks` writes it.
 * Keys that are no columns, and values of other types, are written as JSON.stringify does; a bigint as its digits, bytes as base64.
 */
export function rowSerializer(
  columns: readonly ColumnInfo[],
  formats: ResolvedFormats,
): (row: unknown) => string {
  // Made with the first row: for a response of bytes it is not needed.
  let whole: SerializeWhole | undefined;
  let writers: ReadonlyMap<string, WriteValue> | undefined;
  const writerOf = (key: string) => {
    writers ??= new Map(columns.map((info) => [info.name, writerFor(info, formats)]));
    return writers.get(key) ?? plain;
  };
  return (row) => {
    const isRecord =
      row !== null && typeof row === 'object' && !Array.isArray(row) && !isWrappedOrCustom(row);
    if (!isRecord || row instanceof Uint8Array) return plain(row) ?? 'null';
    whole ??= wholeRowSerializer(columns, formats);
    return whole(row as Record<string, unknown>) ?? serializeFields(Object.entries(row), writerOf);
  };
}
