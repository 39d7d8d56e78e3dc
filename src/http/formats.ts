import type { ColumnInfo, RowWriter } from '../sql/index.js';

/** One way to write rows as text: the framing, and what an error amid the rows looks like. */
export interface Format {
  readonly contentType: string;
  readonly writer: RowWriter;
  /** The last line of a body that failed; undefined where nothing can be said without lying. */
  readonly errorLine: ((problem: object) => string) | undefined;
}

function columnPrefixes(columns: readonly ColumnInfo[]): string[] {
  return columns.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
}

/** One JSON array. A body that fails stays without its `]`, and its connection is broken. */
export const jsonArray: Format = {
  contentType: 'application/json',
  writer: { open: '[', separator: ',', columnPrefixes, rowEnd: '}', close: ']' },
  errorLine: undefined,
};

/** One JSON object a line (https://github.com/ndjson/ndjson-spec). */
export const ndjson: Format = {
  contentType: 'application/x-ndjson',
  writer: { open: '', separator: '', columnPrefixes, rowEnd: '}\n', close: '' },
  errorLine: (problem) => `${JSON.stringify({ error: problem })}\n`,
};

/** NDJSON for a client that asks for it and does not like JSON better (RFC 9110, 12.5.1); else a JSON array. */
export function formatFor(accept: string | null): Format {
  if (accept === null || !/x-ndjson/i.test(accept)) return jsonArray;
  let lines = 0;
  let array = 0;
  for (const range of accept.split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = weightOf(parameters);
    // Of two that are liked the same, the one named first.
    if (type === ndjson.contentType && weight > array) lines = weight;
    if (type === jsonArray.contentType && weight > lines) array = weight;
  }
  return lines > array ? ndjson : jsonArray;
}

function weightOf(parameters: readonly string[]): number {
  const q = parameters.find((parameter) => /^q\s*=/.test(parameter));
  if (q === undefined) return 1;
  const value = Number(q.slice(q.indexOf('=') + 1));
  return value >= 0 && value <= 1 ? value : 1;
}
