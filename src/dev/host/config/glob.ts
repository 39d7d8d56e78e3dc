import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The files that a `main` of package.json means, as the worker finds them (globby 11): `*` and `?` stay within one path
 * segment and skip names that begin with a dot, `**` crosses segments, `{a,b}` and `[abc]` choose, a folder means all
 * that is in it. A name without an extension is not completed.
 *
 * @returns paths relative to `root`, with forward slashes, sorted
 */
export function findFiles(root: string, pattern: string): string[] {
  const found = new Set<string>();
  for (const alternative of expandBraces(pattern.replace(/^\.\//, ''))) {
    const path = alternative.replace(/\/+$/, '');
    const segments = (isFolder(join(root, path)) ? `${path}/**` : path)
      .split('/')
      .filter((part) => part !== '.');
    walk(root, '', segments, found);
  }
  return [...found].sort();
}

function walk(root: string, folder: string, segments: readonly string[], found: Set<string>): void {
  const [segment, ...rest] = segments;
  if (segment === undefined) return;
  if (segment === '**') {
    if (rest.length > 0) walk(root, folder, rest, found);
    for (const { name, isDirectory } of list(root, folder)) {
      if (name.startsWith('.') || name === 'node_modules') continue;
      if (isDirectory) walk(root, join(folder, name), segments, found);
      else if (rest.length === 0) found.add(toSlashes(join(folder, name)));
    }
    return;
  }
  if (segment === '..') {
    walk(root, join(folder, '..'), rest, found);
    return;
  }
  const matches = segmentPattern(segment);
  for (const { name, isDirectory } of list(root, folder)) {
    if (!matches.test(name)) continue;
    if (rest.length > 0 && isDirectory) walk(root, join(folder, name), rest, found);
    if (rest.length === 0 && !isDirectory) found.add(toSlashes(join(folder, name)));
  }
}

function list(root: string, folder: string): { name: string; isDirectory: boolean }[] {
  try {
    return readdirSync(join(root, folder)).map((name) => ({
      name,
      isDirectory: isFolder(join(root, folder, name)),
    }));
  } catch {
    return [];
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function toSlashes(path: string): string {
  return path.replaceAll('\\', '/');
}

function segmentPattern(segment: string): RegExp {
  const source = segment.replace(/\[(!?)([^\]]+)\]|[*?]|[^\w]/g, (part, not: string, characters: string) => {
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    if (characters !== undefined) return `[${not ? '^' : ''}${characters.replace(/[\\^]/g, '\\$&')}]`;
    return `\\${part}`;
  });
  return new RegExp(`^${/^[*?[]/.test(segment) ? '(?!\\.)' : ''}${source}$`);
}

function expandBraces(pattern: string): string[] {
  const match = /\{([^{}]*,[^{}]*)\}/.exec(pattern);
  if (!match) return [pattern];
  const before = pattern.slice(0, match.index);
  const after = pattern.slice(match.index + match[0].length);
  return (match[1] ?? '').split(',').flatMap((choice) => expandBraces(before + choice + after));
}
