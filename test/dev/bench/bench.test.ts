import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { main } from '../../../src/dev/bench/bench.js';
import { parseBenchOptions } from '../../../src/dev/bench/bench-options.js';
import { childrenOf, isAlive } from '../../helpers/processes.js';
import { within } from '../../helpers/run.js';
import { captureOutput, startProgram } from './helpers.js';

test.each([
  [['--rows', '0'], "--rows takes a whole number from 1 to 100000000, not '0'."],
  [['--mixes', 'strings,dates'], "--mixes takes one or more of strings,numbers, not 'dates'."],
  [
    ['--paths', ''],
    "--paths takes one or more of respond,rows,mssql-query,mssql-stream,mssql-batched,tedious, not ''.",
  ],
  [['--users', '1000,0'], "--users takes one or more whole numbers from 1 to 10000, not '0'."],
  [['--users', '80,1.5'], "--users takes one or more whole numbers from 1 to 10000, not '1.5'."],
  [['--users', '10001'], "--users takes one or more whole numbers from 1 to 10000, not '10001'."],
  [['--users', '80,'], "--users takes one or more whole numbers from 1 to 10000, not ''."],
  [['--speed'], "Unknown option '--speed'"],
])('%j is refused with the reason, and starts nothing', async (args, message) => {
  const output = captureOutput();
  expect(await main(args)).toBe(2);
  expect(output.err()).toContain(message);
});

test('--help names every option', async () => {
  const output = captureOutput();
  expect(await main(['--help'])).toBe(0);
  for (const option of ['rows', 'runs', 'parts', 'paths', 'mixes', 'transports', 'users', 'write'])
    expect(output.out()).toContain(`--${option}`);
});

test('--users is a list, in the order it has and each number once, with more than one by default', () => {
  expect(parseBenchOptions(['--users', '80, 50,80'])?.users).toEqual([80, 50]);
  expect(parseBenchOptions([])?.users).toEqual([1_000, 2_000]);
});

test('a run of few rows measures all paths, and says what is reached', async () => {
  const args = [
    '--rows',
    '1000',
    '--runs',
    '1',
    '--parts',
    'streams',
    '--mixes',
    'numbers',
    '--transports',
    'plain',
  ];
  const { code, stdout, stderr } = await within(50_000, 'the run', startProgram('bench', args).finished);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toContain('#### numbers and dates, plain');
  // So few rows can be sent between two pings: then there is no figure for them.
  for (const label of ['`respond()`', '`rows()`', '`query()`', '`toReadableStream()`', '`row` events'])
    expect(stdout).toMatch(
      new RegExp(`^\\| .*${label.replace(/[()]/g, '\\$&')}.*\\|( +[\\d,.]+ \\|){5} +([\\d,.]+|-) \\|$`, 'm'),
    );
  expect(stdout).toMatch(
    /respond\(\), rows\/s to mssql stream: [\d.]+ \(at least 10\.00\), (reached|MISSED)/,
  );
  expect(stdout).toMatch(/peak RSS at 5,000 rows: [\d.]+ MiB/);
}, 60_000);

test('Ctrl-C ends the run and all that it started', async () => {
  const running = startProgram('bench', ['--rows', '50000000', '--parts', 'streams', '--paths', 'respond']);
  const pid = running.process.pid as number;
  let children: number[] = [];
  for (let tries = 0; children.length < 2 && tries < 150; tries++) {
    await sleep(100);
    children = childrenOf(pid).filter(isAlive);
  }
  expect(children.length).toBeGreaterThanOrEqual(2);
  running.process.kill('SIGINT');
  const { code, stderr } = await within(8_000, 'the end after SIGINT', running.finished);
  expect(code).toBe(130);
  expect(stderr).toBe('Stopping.\n');
  expect(children.filter(isAlive)).toEqual([]);
});
