import { expect, test } from 'vitest';
import { formatFor, jsonArray, ndjson } from '../../src/http/formats.js';

test.each([
  [null, 'json'],
  ['', 'json'],
  ['*/*', 'json'],
  ['application/json', 'json'],
  ['text/html, application/xml;q=0.9, */*;q=0.8', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['Application/X-NDJSON ; q=0.2', 'ndjson'],
  ['application/x-ndjson, */*', 'ndjson'],
  ['application/x-ndjson, application/json', 'ndjson'],
  ['application/json, application/x-ndjson', 'json'],
  ['application/json;q=0.5, application/x-ndjson;q=0.6', 'ndjson'],
  ['application/x-ndjson;q=0.5, application/json', 'json'],
  ['application/x-ndjson;q=0', 'json'],
  ['application/x-ndjson;q=nonsense', 'ndjson'],
])('Accept %j means %s', (accept, format) => {
  expect(formatFor(accept)).toBe(format === 'json' ? jsonArray : ndjson);
});

test('names of columns are JSON strings, whatever they hold', () => {
  const columns = ['a"b', '__proto__', 'x\n'].map((name) => ({ name, type: 'int', nullable: true }) as const);
  const prefixes = jsonArray.writer.columnPrefixes(columns);
  const row = `${prefixes.map((prefix, index) => prefix + index).join('')}${jsonArray.writer.rowEnd}`;
  expect(Object.entries(JSON.parse(row))).toEqual([
    ['a"b', 0],
    ['__proto__', 1],
    ['x\n', 2],
  ]);
});
