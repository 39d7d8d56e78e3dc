import { refuse } from './errors.js';
import type { DatabaseObjects, Session, Table } from './session.js';
import type { Name } from './syntax.js';

/** What `schema.name` means; schemas other than dbo hold no objects, so that `database` is undefined. */
export function objectName([...parts]: Name, { home }: Session) {
  const [name = '', schema = '', database] = parts.reverse();
  if (database && !isSame(database, home.name)) refuse('A name of another database');
  const owner: DatabaseObjects | undefined = /^(dbo)?$/i.test(schema) ? home : undefined;
  return { name, schema: schema.toLowerCase(), database: owner };
}

export function findTable(parts: Name, session: Session): Table | undefined {
  const last = parts.at(-1)!.toLowerCase();
  if (last.startsWith('#')) return session.tempTables.get(last);
  return objectName(parts, session).database?.tables.get(last);
}

/** `[dbo].[x]` and `dbo.x` in a string, as OBJECT_ID and an RPC's name have them. */
export const splitName = (text: string): string[] =>
  (text.match(/\[[^\]]*\]|[^.]+/g) ?? ['']).map((part) => part.replace(/^\[|\]$/g, '').trim());

export const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
