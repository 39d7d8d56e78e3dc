import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { run } from '../helpers/run.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
let clone: string;

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'build-'));
  for (const name of ['package.json', 'tsconfig.json', '.config']) {
    cpSync(join(root, name), join(clone, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  for (const folder of ['src/dev', 'src/functions', 'src/threads'])
    mkdirSync(join(clone, folder), { recursive: true });
  cpSync(join(root, 'src/dev/build.mjs'), join(clone, 'src/dev/build.mjs'));
  writeFileSync(join(clone, 'src/app.ts'), 'export const app = 1;\n');
  writeFileSync(join(clone, 'src/index.ts'), 'export const index = 1;\n');
  writeFileSync(join(clone, 'src/functions/One.ts'), 'export const one = 1;\n');
  writeFileSync(join(clone, 'src/dev/cli.ts'), "export * from '../index.js';\n");
});

afterEach(() => rmSync(clone, { recursive: true, force: true }));

const build = () => run(process.execPath, [join(clone, 'src/dev/build.mjs')]);
const compiled = (name: string) => existsSync(join(clone, name));

test('a build makes dist and the development tools, and the next one finds nothing to do', async () => {
  expect(await build()).toMatchObject({ code: 0, stdout: 'Building ...\n' });
  expect(
    ['dist/app.js', 'dist/index.d.ts', 'dist/functions/One.js', '.build/dev/cli.js'].map(compiled),
  ).toEqual(Array(4).fill(true));
  expect(compiled('dist/dev')).toBe(false);
  expect(await build()).toMatchObject({ code: 0, stdout: '' });
});

test('two builds at once both succeed and one of them compiles', async () => {
  const results = await Promise.all([build(), build()]);
  expect(results.map(({ code }) => code)).toEqual([0, 0]);
  expect(results.filter(({ stdout }) => stdout.includes('Building'))).toHaveLength(1);
  expect(compiled('dist/functions/One.js')).toBe(true);
});

test('a function that is gone leaves no stale output for main to match', async () => {
  await build();
  rmSync(join(clone, 'src/functions/One.ts'));
  writeFileSync(join(clone, 'src/functions/Two.ts'), 'export const two = 2;\n');
  expect(await build()).toMatchObject({ code: 0 });
  expect([compiled('dist/functions/One.js'), compiled('dist/functions/Two.js')]).toEqual([false, true]);
});

test('code that does not compile stops the build with the place, and keeps the last good output', async () => {
  await build();
  const before = readFileSync(join(clone, 'dist/app.js'), 'utf8');
  writeFileSync(join(clone, 'src/app.ts'), "export const app: number = 'x';\n");
  const { code, stderr } = await build();
  expect(code).toBe(1);
  expect(stderr).toMatch(/src\/app\.ts.*TS2322/);
  expect(readFileSync(join(clone, 'dist/app.js'), 'utf8')).toBe(before);
  expect(compiled('.build.lock')).toBe(false);
});

test('the lock of a build that was killed is taken over', async () => {
  // A process number that no live process has: one that has just ended.
  const ended = await run(process.execPath, ['-e', 'console.log(process.pid)']);
  writeFileSync(join(clone, '.build.lock'), ended.stdout.trim());
  expect(await build()).toMatchObject({ code: 0 });
  expect(compiled('dist/app.js')).toBe(true);
});
