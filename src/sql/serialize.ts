import type { ResolvedFormats } from './rows/codec.js';
import type { ColumnInfo } from './types.js';

export const exactNumbers = new Set(['decimal', 'money', 'smallmoney']);
export const decimalText = /^-?\d+(\.\d+)?$/;

export type WriteValue = (value: unknown) => string | undefined;

function plain(value: unknown): string | undefined {
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

/** JSON of any row, whatever became of it; see `RowBytes`. */
export function rowSerializer(
  columns: readonly ColumnInfo[],
  formats: ResolvedFormats,
): (row: unknown) => string {
  const writers = new Map(columns.map((info) => [info.name, writerFor(info, formats)]));
  const writerOf = (key: string) => writers.get(key) ?? plain;
  return (row) => {
    if (isRecord(row)) return serializeFields(Object.entries(row), writerOf);
    return plain(row) ?? 'null';
  };
}

/** An object that is written by its fields. */
export function isRecord(row: unknown): row is Record<string, unknown> {
  return (
    row !== null &&
    typeof row === 'object' &&
    !Array.isArray(row) &&
    !(row instanceof Uint8Array) &&
    !isWrappedOrCustom(row)
  );
}
