import type { ColumnInfo, RowWriter } from '../../src/sql/index.js';

export { within } from './run.js';

function prefixes(columns: readonly ColumnInfo[]): string[] {
  return columns.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
}

export const jsonWriter: RowWriter = {
  open: '[',
  separator: ',',
  columnPrefixes: prefixes,
  rowEnd: '}',
  close: ']',
};

export const ndjsonWriter: RowWriter = {
  open: '',
  separator: '',
  columnPrefixes: prefixes,
  rowEnd: '}\n',
  close: '',
};

/** All chunks as text. */
export async function text(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString();
}

export async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const result: T[] = [];
  for await (const one of rows) result.push(one);
  return result;
}
