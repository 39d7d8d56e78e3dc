import { expect, test } from 'vitest';
import { main } from '../../../src/dev/bench/soak.js';
import { idleViolations, memoryFigures, memoryViolations } from '../../../src/dev/bench/soak-checks.js';
import { soakFaults } from '../../../src/dev/bench/soak-faults.js';
import { expectedBody } from '../../../src/dev/bench/soak-rows.js';
import { Tally } from '../../../src/dev/bench/soak-tally.js';
import { mebibyte } from '../../../src/dev/bench/table.js';
import { parseFaultRules } from '../../../src/dev/faults/fault-rules.js';
import { within } from '../../helpers/run.js';
import { captureOutput, startProgram } from './helpers.js';

const sample = (atMs: number, rssBytes: number) => ({
  atMs,
  rssBytes,
  cpuMs: 0,
  peakRssBytes: rssBytes,
  loopDelaysMs: [],
  sockets: 1,
  pools: [{ name: 'db', used: 0, free: 1, pending: 0, connecting: 0, max: 9 }],
  invocations: { begun: 1, running: 0, failed: 0 },
});

test.each([
  [['--minutes', '0'], "--minutes takes a number from 0.01 to 10000, not '0'."],
  [['--users', 'many'], "--users takes a whole number from 1 to 5000, not 'many'."],
])('%j is refused with the reason', async (args, message) => {
  const output = captureOutput();
  expect(await main(args)).toBe(2);
  expect(output.err()).toContain(message);
});

test('memory that goes on growing in the second half is a violation, growth before it is not', () => {
  const minutes = Array.from({ length: 40 }, (_, index) => index * 60_000);
  const leak = memoryFigures(minutes.map((at, index) => sample(at, 1e8 + index * 4 * mebibyte)));
  expect(leak.slopeBytesPerMinute).toBeCloseTo(4 * mebibyte);
  expect(memoryViolations(leak)).toEqual(['RSS grew by 40 MiB in the second half']);
  const warmUp = memoryFigures(minutes.map((at, index) => sample(at, 1e8 + Math.min(index, 15) * 4e6)));
  expect(memoryViolations(warmUp)).toEqual([]);
});

test('what is left over at rest is named', () => {
  const rest = sample(0, 1);
  expect(idleViolations(rest)).toEqual([]);
  const pools = [{ ...rest.pools[0]!, used: 2 }];
  const left = idleViolations({
    ...rest,
    pools,
    sockets: 3,
    invocations: { begun: 9, running: 1, failed: 0 },
  });
  expect(left).toEqual([
    'pool db has 2 used, 0 pending, 0 connecting at rest',
    '1 invocations still run',
    '3 sockets are open, of which the pools know 1',
  ]);
});

test('the faults are rules that the server takes, and meet the wanted share in all', () => {
  const rules = parseFaultRules(JSON.stringify(soakFaults(0.02)), 'soak');
  expect(rules.reduce((sum, { probability = 1 }) => sum + probability, 0)).toBeCloseTo(0.02);
});

test('the expected body is the JSON of its rows', () => {
  expect(JSON.parse(expectedBody(9, 'json'))).toHaveLength(9);
  expect(expectedBody(1, 'ndjson')).toBe(
    '{"Id":1,"Name":"row 1: \\"é\\" ☃ 𝒳\\\\ x","Amount":1.01,"Created":"2026-11-02T10:20:30.123Z"}\n',
  );
});

test('a soak in which nothing came whole has not shown anything', () => {
  const tally = new Tally();
  tally.add({ outcome: 'refused', detail: '503 EPoolExhausted' });
  tally.add({ outcome: 'violation', detail: 'hangs: soak' });
  expect(tally.violations()).toEqual(['1 times hangs: soak', 'not one body came whole']);
  expect(tally.text()).toContain('1 refused (503 EPoolExhausted: 1), 1 wrong');
});

test('a soak of seconds ends with all put away', async () => {
  const args = ['--minutes', '0.05', '--users', '8'];
  const running = startProgram('soak', args);
  const { code, stdout, stderr } = await within(50_000, 'the soak', running.finished);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/Requests: [1-9][\d,]* whole/);
  expect(stdout).toMatch(/ATTENTION after a client left, 8 times: median [\d.]+ ms/);
  expect(stdout).toContain('Nothing was wrong.');
  expect(code).toBe(0);
}, 60_000);
