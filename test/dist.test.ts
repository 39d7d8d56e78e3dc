import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { importsOf, sourceFiles } from './helpers/imports.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const shippedRooms = /^(index|app)\.ts$|^(functions|sql|http|threads)\//;

function filesOf(folder: string): string[] {
  return readdirSync(`${root}/${folder}`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(`${root}/${folder}`.length).replace(/^\/+/, ''))
    .sort();
}

test('dist holds the shipped rooms, each file with its types, and nothing else', () => {
  const shipped = sourceFiles().filter((name) => shippedRooms.test(name));
  const expected = shipped.flatMap((name) => {
    const base = name.replace(/\.ts$/, '');
    return [`${base}.d.ts`, `${base}.js`];
  });
  expect(filesOf('dist').filter((name) => !name.startsWith('.'))).toEqual(expected.sort());
});

test('no shipped file imports the development rooms', () => {
  const shipped = sourceFiles().filter((name) => shippedRooms.test(name));
  expect(shipped.flatMap(importsOf).filter(({ to }) => to.startsWith('dev/'))).toEqual([]);
});

test('main matches exactly the entry file and one file for each function', () => {
  const functions = sourceFiles().filter((name) => name.startsWith('functions/'));
  const names = filesOf('dist').filter((name) => /^(app|functions\/[^/]+)\.js$/.test(name));
  expect(names).toEqual(['app.js', ...functions.map((name) => name.replace(/\.ts$/, '.js'))]);
  const { main } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
  expect(main).toBe('dist/{app,functions/*}.js');
});
