import { afterAll, describe, expect, test } from 'vitest';
import { findFiles } from '../../../../src/dev/host/config/glob.js';
import { JsonError, type JsonNode, readJson } from '../../../../src/dev/host/config/json-reader.js';
import { readAppSettings } from '../../../../src/dev/host/index.js';
import { makeApp, removeApps } from '../apps.js';

afterAll(removeApps);

const plain = ({ value }: JsonNode): unknown => {
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, node]) => [name, plain(node)]));
  return Array.isArray(value) ? value.map(plain) : value;
};

describe('JSON as the host reads it', () => {
  test('comments, trailing commas and a byte order mark are allowed', () => {
    const text = '\uFEFF// one\n{ "a": [1, -2.5e3, true, null,], /* two */ "b": { "c": "\\u00fc\\n" }, }';
    expect(plain(readJson(text))).toEqual({ a: [1, -2500, true, null], b: { c: 'ü\n' } });
  });

  test.each([
    ['{ "a": 1', 1, /no closing }/],
    ['{\n  "a": 1\n  "b": 2\n}', 2, /Expected , or }, found "b"/],
    ['{\n  "a" 1\n}', 2, /no : after the property name "a"/],
    ["{\n  'a': 1\n}", 2, /Expected .* found 'a':/],
    ['{\n\n  "a": tru\n}', 3, /found tru/],
    ['{\n "a": [1, 2\n', 2, /no closing \]/],
    ['{}\n{}', 2, /after the end/],
    ['', 1, /ends where a value/],
    ['{\n "a": "x\n"}', 2, /found "x/],
  ])('%j is wrong on line %i', (text, line, message) => {
    const error = (() => {
      try {
        readJson(text);
      } catch (thrown) {
        return thrown;
      }
      return undefined;
    })();
    expect(error).toBeInstanceOf(JsonError);
    expect(error).toMatchObject({ line, message: expect.stringMatching(message) });
  });
});

test('main finds files as the worker does: direct children, choices, folders, no dot files', async () => {
  const names = [
    'dist/app.js',
    'dist/functions/A.js',
    'dist/functions/a.test.js',
    'dist/functions/.b.js',
    'dist/functions/deep/C.js',
    'dist/functions/A.d.ts',
  ];
  const app = await makeApp(Object.fromEntries(names.map((name) => [name, ''])));
  expect(findFiles(app, 'dist/{app,functions/*}.js')).toEqual([
    'dist/app.js',
    'dist/functions/A.js',
    'dist/functions/a.test.js',
  ]);
  expect(findFiles(app, './dist/app.js')).toEqual(['dist/app.js']);
  expect(findFiles(app, 'dist/**/[AC].js')).toEqual(['dist/functions/A.js', 'dist/functions/deep/C.js']);
  expect(findFiles(app, 'dist/functions/deep')).toEqual(['dist/functions/deep/C.js']);
  expect(findFiles(app, 'dist/app')).toEqual([]);
});

test('settings: values of any simple type, connection strings, CORS; the environment wins', async () => {
  const app = await makeApp({
    'local.settings.json': {
      Values: { A: 'file', B: 5, C: true, D: null },
      ConnectionStrings: { Db: 'one', Other: { ConnectionString: 'two', ProviderName: 'x' } },
      Host: { CORS: 'http://a/, http://b', CORSCredentials: true, LocalHttpPort: 7072 },
    },
  });
  const { values, cors, localHttpPort } = readAppSettings(app, { A: 'environment', E: '' });
  expect(values).toEqual({
    A: 'environment',
    B: '5',
    C: 'true',
    'ConnectionStrings:Db': 'one',
    'ConnectionStrings:Other': 'two',
    E: '',
  });
  expect(cors).toEqual({ origins: ['http://a', 'http://b'], credentials: true });
  expect(localHttpPort).toBe(7072);
});

test('encrypted settings are refused with the remedy', async () => {
  const app = await makeApp({ 'local.settings.json': '{\n "IsEncrypted": true }' });
  expect(() => readAppSettings(app)).toThrow(/local\.settings\.json:2: .*func settings decrypt/);
});
