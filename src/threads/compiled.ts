/**
 * A file that threads load, as JavaScript: beside this one, or in the development build when this one is a source file, as
 * it is in tests. (Node 20 can load no TypeScript.)
 */
export function compiled(name: string): URL {
  const folder = import.meta.url.endsWith('.ts') ? '../../.build/threads/' : './';
  return new URL(`${folder}${name}`, import.meta.url);
}
