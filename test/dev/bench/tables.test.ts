import { expect, test } from 'vitest';
import { markdownTable, mebibyte, numberText, spreadText } from '../../../src/dev/bench/table.js';
import { isReached, targetLine, throughputTargets } from '../../../src/dev/bench/targets.js';

const same = (value: number) => ({ median: value, min: value, max: value });
const figures = (path: 'respond' | 'rows' | 'mssql-stream', rows: number, cpu: number, peak: number) => ({
  path,
  rowsPerSecond: same(rows),
  cpuSecondsPerMillion: same(cpu),
  firstByteMs: same(1),
  peakRssBytes: same(peak),
  loopP99Ms: 5,
  pingP99Ms: 5,
});

test('a table is padded to its longest cells, numbers to the right', () => {
  expect(
    markdownTable(
      ['path', 'rows/s'],
      [
        ['`respond()`', '616,000'],
        ['tedious', '59,000'],
      ],
    ),
  ).toBe(
    [
      '| path        |  rows/s |',
      '|-------------|--------:|',
      '| `respond()` | 616,000 |',
      '| tedious     |  59,000 |',
    ].join('\n'),
  );
});

test('a spread that can be seen stands behind the median', () => {
  expect(spreadText({ median: 1_234.4, min: 1_000, max: 2_000 })).toBe('1,234 (1,000-2,000)');
  expect(spreadText({ median: 1.234, min: 1.231, max: 1.234 }, 2)).toBe('1.23');
  expect(numberText(Number.NaN)).toBe('-');
});

test('targets are ratios to mssql streaming, reached from their limit on', () => {
  const targets = throughputTargets([
    figures('respond', 500, 1, 120 * mebibyte),
    figures('rows', 149, 4, 120 * mebibyte),
    figures('mssql-stream', 50, 8, 150 * mebibyte),
  ]);
  const lines = targets.map(targetLine);
  expect(lines[0]).toBe('respond(), rows/s to mssql stream: 10.00 (at least 10.00), reached');
  expect(lines[1]).toBe('respond(), CPU to mssql stream: 0.13 (at most 0.13), reached');
  expect(lines[2]).toBe('rows(), rows/s to mssql stream: 2.98 (at least 3.00), MISSED');
  expect(lines[3]).toBe('respond(), peak RSS: 120.00 MiB (at most 130.00 MiB), reached');
  expect(isReached({ name: '', value: Number.NaN, least: 1 })).toBe(false);
});

test('without a path to compare with there is no ratio', () => {
  expect(throughputTargets([figures('mssql-stream', 50, 8, 150 * mebibyte)])).toEqual([]);
});
