import { expect, test } from 'vitest';
import { type Import, importsOf, sourceFiles } from './helpers/imports.js';

/**
 * What each room may import: a pattern for the path below `src`, or for the package. `types` may be imported
 * with `import type` only. A room is named by the longest prefix that fits a file.
 */
interface Room {
  readonly may: readonly RegExp[];
  readonly types?: readonly RegExp[];
}

const node = /^node:/;
const functionsLibrary = /^@azure\/functions$/;
const within = (room: string) => new RegExp(`^${room}/`);
const file = (name: string) => new RegExp(`^${name.replaceAll('.', '\\.')}$`);

const rooms: Record<string, Room> = {
  'functions/': { may: [functionsLibrary, file('index.ts'), file('threads/index.ts'), node] },
  'app.ts': { may: [functionsLibrary, file('index.ts'), file('threads/index.ts'), node] },
  'index.ts': { may: [file('sql/index.ts'), file('http/index.ts')], types: [functionsLibrary] },
  'sql/': { may: [within('sql'), /^tarn$/, node], types: [functionsLibrary, /^tedious$/] },
  'sql/tedious/driver.ts': { may: [file('sql/tedious/lazy-identity.ts'), /^tedious$/] },
  'http/': { may: [within('http'), functionsLibrary, node], types: [file('sql/index.ts')] },
  'threads/': { may: [within('threads'), node] },
  'dev/host/': { may: [within('dev/host'), file('threads/index.ts'), file('sql/index.ts'), node] },
  'dev/sql-engine.ts': { may: [] },
  'dev/faults/': { may: [within('dev/faults'), /^node:timers/], types: [file('dev/sql-engine.ts')] },
  'dev/text/': { may: [within('dev/text')] },
  'dev/tds/': { may: [within('dev/tds'), within('dev/text'), node], types: [file('dev/sql-engine.ts')] },
  'dev/tsql/': {
    may: [within('dev/tsql'), within('dev/text'), /^@sqlite\.org\/sqlite-wasm$/, /^node:(crypto|timers.*)$/],
    types: [file('dev/sql-engine.ts')],
  },
  'dev/scripts/': { may: [within('dev/scripts'), file('sql/index.ts'), /^mssql$/, node] },
  'dev/docs/': { may: [within('dev/docs'), node] },
  'dev/lab/': { may: [within('dev/lab'), file('dev/docs/markers.ts'), node] },
  'dev/bench/': {
    may: [
      within('dev/bench'),
      file('index.ts'),
      file('dev/docs/markers.ts'),
      /^(mssql|tedious|@azure\/functions)$/,
      node,
    ],
  },
  'dev/cli.ts': { may: [within('dev'), file('sql/index.ts'), node, /^selfsigned$/] },
  'dev/cli/': { may: [within('dev'), file('sql/index.ts'), file('threads/index.ts'), node, /^selfsigned$/] },
};

function roomOf(path: string): string {
  const fitting = Object.keys(rooms).filter((prefix) => path === prefix || path.startsWith(prefix));
  return fitting.sort((a, b) => b.length - a.length)[0] ?? '';
}

function isAllowed({ from, to, typeOnly }: Import): boolean {
  const room = rooms[roomOf(from)];
  if (room === undefined) return false;
  if (room.may.some((pattern) => pattern.test(to))) return true;
  return typeOnly && (room.types ?? []).some((pattern) => pattern.test(to));
}

const imports = sourceFiles().flatMap(importsOf);

test('every source file belongs to a room', () => {
  expect(sourceFiles().filter((name) => roomOf(name) === '')).toEqual([]);
});

test('rooms import only what the table allows', () => {
  expect(imports.length).toBeGreaterThan(0);
  const broken = imports.filter((one) => !isAllowed(one));
  expect(broken.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test('there are no import cycles', () => {
  const edges = new Map<string, string[]>();
  for (const { from, to } of imports) edges.set(from, [...(edges.get(from) ?? []), to]);
  const cycles: string[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const visit = (name: string, path: readonly string[]) => {
    if (state.get(name) === 'done') return;
    if (state.get(name) === 'open') {
      cycles.push([...path.slice(path.indexOf(name)), name].join(' -> '));
      return;
    }
    state.set(name, 'open');
    for (const next of edges.get(name) ?? []) visit(next, [...path, name]);
    state.set(name, 'done');
  };
  for (const name of edges.keys()) visit(name, []);
  expect(cycles).toEqual([]);
});
