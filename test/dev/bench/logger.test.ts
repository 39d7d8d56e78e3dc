import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { main } from '../../../src/dev/bench/logger.js';
import { reportLines } from '../../../src/dev/bench/logger-report.js';
import { type RunFigures, runFigures, spreadOf } from '../../../src/dev/bench/logger-statistics.js';
import { captureOutput } from '../lab/helpers.js';

function figures(requestsPerSecond: number, ms: number): RunFigures {
  return { requestsPerSecond, mean: ms, p50: ms, p75: ms, p90: ms, p99: ms };
}

test('percentiles are times that were measured, by the nearest rank', () => {
  const shuffled = Float64Array.from({ length: 100 }, (_, i) => ((i * 37) % 100) + 1);
  expect(runFigures(shuffled, 2_000)).toEqual({
    requestsPerSecond: 50,
    mean: 50.5,
    p50: 50,
    p75: 75,
    p90: 90,
    p99: 99,
  });
  expect(runFigures(Float64Array.of(7), 1_000)).toMatchObject({ p50: 7, p99: 7 });
});

test.each([
  [[3, 1, 2], { median: 2, min: 1, max: 3 }],
  [[10, 4, 2, 8], { median: 6, min: 2, max: 10 }],
  [[5], { median: 5, min: 5, max: 5 }],
])('the spread of %j', (values, expected) => {
  expect(spreadOf(values)).toEqual(expected);
});

test('when spreads overlap the report says that the difference is within noise', () => {
  const text = reportLines(
    [figures(1_000, 10), figures(1_200, 8), figures(1_100, 9)],
    [figures(1_010, 9.5), figures(900, 11), figures(950, 10.5)],
  ).join('\n');
  expect(text).toMatch(/requests\/s +1,100 \(1,000 - 1,200\) +950 \(900 - 1,010\)/);
  expect(text).toMatch(/p99, ms +9\.00 \(8\.00 - 10\.00\) +10\.50 \(9\.50 - 11\.00\)/);
  expect(text).toContain('The difference is within noise');
});

test('when they do not, it says what is better or worse, and by how much', () => {
  const slow = { ...figures(800, 12), p99: 9 };
  const text = reportLines([figures(1_000, 10), figures(1_000, 8)], [slow, slow]).join('\n');
  expect(text).toContain('requests/s: the cache makes it better (+25.0 %)');
  expect(text).toContain('mean: the cache makes it better (-25.0 %)');
  expect(text).toContain('Within noise, since the spreads overlap: p99.');
  const worse = reportLines([slow], [figures(1_000, 8)]).join('\n');
  expect(worse).toContain('requests/s: the cache makes it worse (-20.0 %)');
  expect(worse).toContain('mean: the cache makes it worse (+50.0 %)');
});

test('measures both settings on the real runtime, and leaves nothing behind', async () => {
  const apps = () => readdirSync(tmpdir()).filter((name) => name.startsWith('bench-logger-'));
  const before = apps();
  const output = captureOutput();
  expect(await main(['--runs', '1', '--time', '1', '--connections', '4'])).toBe(0);
  expect(output.out()).toMatch(
    /2 runs of 1 s.*round 1 of 1, with the cache: [1-9]\d* requests\/s.*round 1 of 1, without: [1-9]\d* requests\/s/s,
  );
  expect(output.out()).toMatch(
    /requests\/s +[\d,]+ \(.*p99, ms +[\d.]+ \(.*do(?:es)? not overlap|within noise/is,
  );
  expect(output.out()).not.toContain('NaN');
  expect(apps()).toEqual(before);
}, 60_000);

test.each([
  [['--runs', '0'], /--runs takes a whole number from 1 to 1000, not '0'/],
  [['--time', '1.5'], /--time takes a whole number/],
  [['--fast'], /Unknown option '--fast'[\s\S]*Usage: npm run bench:logger/],
])('%j is refused with what would be right', async (args, message) => {
  await expect(main(args)).rejects.toMatchObject({
    code: 'EUSAGE',
    message: expect.stringMatching(message),
  });
});
