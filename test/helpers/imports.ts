import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const sourceFolder = fileURLToPath(new URL('../../src', import.meta.url));

/** One import, as written: from a source file to a source file (`sql/pool.ts`) or to a package (`node:net`). */
export interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

/** `import`, `export ... from`, and `import(...)` with a literal. */
const statement =
  /^\s*(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

/** TypeScript files of `src`, relative to it, with forward slashes. */
export function sourceFiles(): string[] {
  return readdirSync(sourceFolder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts'))
    .sort();
}

export function importsOf(file: string): Import[] {
  const text = readFileSync(join(sourceFolder, file), 'utf8');
  return [...text.matchAll(statement)].map((match) => {
    const specifier = match[2] ?? match[3] ?? '';
    return { from: file, to: resolve(file, specifier), typeOnly: isTypeOnly(match[0], match[1]) };
  });
}

function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier;
  const target = normalize(join(dirname(from), specifier)).replaceAll('\\', '/');
  if (target.startsWith('..')) return relative(dirname(sourceFolder), join(sourceFolder, target));
  return target.replace(/\.js$/, '.ts');
}

function isTypeOnly(text: string, keyword: string | undefined): boolean {
  if (keyword) return true;
  const names = /\{([^}]*)\}/.exec(text)?.[1];
  if (names === undefined || /^\s*import\s+[\w*]/.test(text)) return false;
  const parts = names.split(',').map((name) => name.trim());
  return parts.every((name) => name === '' || name.startsWith('type '));
}
