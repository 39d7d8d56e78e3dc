import type { Statement } from './ast.js';
import { parseBatch } from './parse-statement.js';

const maximumChars = 4_000_000;
const cache = new Map<string, readonly Statement[]>();
let chars = 0;

/** The statements of a batch; batches seen lately are not parsed again. */
export function parsed(sql: string): readonly Statement[] {
  const known = cache.get(sql);
  if (known) return known;
  const statements = parseBatch(sql);
  if (sql.length > maximumChars / 8) return statements;
  cache.set(sql, statements);
  chars += sql.length;
  for (const [oldest] of cache) {
    if (chars <= maximumChars && cache.size <= 2000) break;
    cache.delete(oldest);
    chars -= oldest.length;
  }
  return statements;
}
