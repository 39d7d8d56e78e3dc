import { expect, test } from 'vitest';
import { splitBatches } from '../../../src/dev/scripts/batches.js';

const texts = (script: string) => splitBatches(script).map(({ text }) => text.trim());

test('a script without GO is one batch', () => {
  expect(texts('SELECT 1;\nSELECT 2;')).toEqual(['SELECT 1;\nSELECT 2;']);
});

test('GO on its own line separates batches in any letter case, with spaces, a semicolon or a comment', () => {
  expect(texts('a\nGO\nb\n  go  \nc\nGo;\nd\nGO -- next\ne')).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('GO with a count repeats the batch before it', () => {
  expect(splitBatches('INSERT t\nGO 5\nSELECT 1')).toEqual([
    { text: 'INSERT t', firstLine: 1, count: 5 },
    { text: 'SELECT 1', firstLine: 3, count: 1 },
  ]);
});

test('GO in a string, a quoted name, a block comment or a longer line separates nothing', () => {
  for (const script of [
    "PRINT 'a\nGO\nb'",
    'SELECT 1 AS "a\nGO\n"',
    'SELECT 1 AS [a\nGO\n]',
    '/* a /* b */\nGO\n*/ SELECT 1',
    'SELECT 1 AS [a]]\nGO\n]',
    'SELECT GO\n, 1',
    "PRINT 'it''s\nGO\n'",
  ]) {
    expect(splitBatches(script)).toHaveLength(1);
  }
});

test('a quote in a comment opens no string', () => {
  expect(texts("-- it's\nGO\nSELECT 1")).toEqual(['SELECT 1']);
});

test('batches of white space and comments are left out and the line numbers stay true', () => {
  expect(splitBatches('-- nothing\n\nGO\nGO\n\r\nSELECT 1\r\nGO\r\n')).toEqual([
    { text: '\nSELECT 1', firstLine: 5, count: 1 },
  ]);
});
