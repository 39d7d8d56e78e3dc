import type { ColumnInfo, RowWriter } from '../../src/sql/index.js';

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

/** Fails as an assertion, with a name, when something does not happen in time. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${ms} ms: ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
