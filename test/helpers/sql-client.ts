import type { ColumnInfo, RowSource, RowWriter } from '../../src/sql/index.js';

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

/** Rows as a response writes those that came through a loop. */
export function written(source: RowSource, rows: readonly unknown[], writer = jsonWriter): string {
  const bytes = source.rowBytes(writer);
  for (const row of rows) bytes.add(row);
  bytes.close();
  const chunks: Uint8Array[] = [];
  for (let chunk = bytes.take(); chunk !== undefined; chunk = bytes.take()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
