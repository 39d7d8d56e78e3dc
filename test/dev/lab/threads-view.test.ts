import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ThreadsReport } from '../../../src/dev/lab/threads-report.js';
import { threadsText } from '../../../src/dev/lab/threads-text.js';
import { main } from '../../../src/dev/lab/threads-view.js';
import { BlockingPool } from '../../../src/threads/index.js';
import { captureOutput, serve } from './helpers.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'threads-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const place = `${pathToFileURL(process.cwd()).href}/.build/dev/host/binding.js:12:5`;
const stack = `at readSyncOverAsync (${place})\nat fillTable (${place})`;
const part = `${place}#fillTable`;
const blocked = (id: number, since: string) => ({
  id,
  state: 'blocked',
  since,
  functionName: 'Blog',
  invocationId: `i-${id}`,
  part,
  stack,
  startedBy: 'at invoke (node:x)',
});
const report: ThreadsReport = {
  takenAt: '2026-11-30T10:00:10.000Z',
  pools: [
    {
      name: 'sql binding',
      min: 8,
      max: 128,
      completed: 12,
      threads: [
        {
          ...blocked(3, ''),
          state: 'idle',
          since: '2026-11-30T10:00:09.000Z',
          functionName: null,
          invocationId: null,
          part: null,
          stack: null,
          startedBy: null,
        },
        blocked(1, '2026-11-30T10:00:09.500Z'),
        blocked(2, '2026-11-30T10:00:09.250Z'),
      ],
      queue: [
        { since: '2026-11-30T10:00:02.000Z', functionName: 'Blog', invocationId: 'i-8' },
        { since: '2026-11-30T10:00:05.500Z', functionName: 'Blog', invocationId: 'i-9' },
      ],
    },
  ],
};

const expected = `Threads at 2026-11-30T10:00:10.000Z

sql binding: 3 threads (1 idle, 2 blocked; 8 to 128), 2 requests wait, 12 done

2 threads blocked
  #2     0.8 s  Blog  i-2
  #1     0.5 s  Blog  i-1
    at readSyncOverAsync (.build/dev/host/binding.js:12:5)
    at fillTable (.build/dev/host/binding.js:12:5)
    --- handed to the pool by
    at invoke (node:x)

1 thread idle
  #3     1.0 s

2 requests wait for a thread, oldest first
     8.0 s  Blog  i-8
     4.5 s  Blog  i-9
`;

test('equal stacks are folded with a count, then those who wait, oldest first', () => {
  expect(threadsText(report)).toBe(expected);
});

test('the event loop’s delay and what held it longest are shown', () => {
  const longest = { ms: 812.4, at: '2026-11-30T10:00:01.000Z', stack: `at primes (${place})` };
  const eventLoop = { delayMs: { mean: 10.1, p99: 11, max: 812.4 }, utilization: 0.31, longest };
  const text = threadsText({ ...report, pools: [], eventLoop });
  expect(text).toContain('No pool of threads runs here.');
  expect(text).toContain('31 % in use, delay mean 10.1 ms, p99 11.0 ms, max 812.4 ms');
  expect(text).toMatch(/812 ms at 2026-11-30T10:00:01.000Z\n {4}at primes \(\.build/);
});

test('a real pool’s snapshot is such a report', async () => {
  const pool = new BlockingPool({ min: 2, max: 2, name: 'real' });
  let open = (_value: string) => {};
  const io = new Promise<string>((resolve) => {
    open = resolve;
  });
  const module = new URL('../../threads/parts.js', import.meta.url);
  const start = () => io;
  const jobs = [1, 2, 3].map((id) =>
    pool.run({ module, exportName: 'readTheTable', start, functionName: 'F', invocationId: `${id}` }),
  );
  await expect.poll(() => pool.counts().blocked).toBe(2);
  const real: ThreadsReport = { takenAt: new Date().toISOString(), pools: [pool.snapshot()] };
  expect(threadsText(real)).toMatch(
    /^2 threads blocked\n.*\n.*\n {4}at readSyncOverAsync .*\n {4}at readTheTable /m,
  );
  expect(threadsText(real)).toMatch(/^1 requests wait for a thread, oldest first\n +\d+\.\d s {2}F {2}3$/m);
  open('x');
  await Promise.all(jobs);
  await pool.close();
});

test('reads a runtime, keeps a dump, and shows the dump later', async () => {
  const output = captureOutput();
  const file = join(folder, 'dump.json');
  const url = await serve((request, response) => {
    response.writeHead(request.url === '/admin/threads' ? 200 : 404).end(JSON.stringify(report));
  });
  expect(await main(['--url', url, '--json', file])).toBe(0);
  expect(output.out()).toBe(expected);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(report);
  expect(await main(['--from', file])).toBe(0);
  expect(output.out()).toBe(expected + expected);
});

test('--watch shows it again until it is interrupted', async () => {
  const output = captureOutput();
  let asked = 0;
  const url = await serve((_request, response) => {
    asked++;
    response.end(JSON.stringify(report));
  });
  const watching = main(['--url', url, '--watch']);
  await expect.poll(() => asked, { timeout: 10_000 }).toBe(2);
  process.emit('SIGINT');
  expect(await watching).toBe(0);
  expect(output.out().split('Threads at').length - 1).toBeGreaterThanOrEqual(1);
});

test('a runtime that does not run is one clear message with the remedy', async () => {
  const output = captureOutput();
  expect(await main(['--url', 'http://127.0.0.1:1'])).toBe(1);
  expect(output.err()).toMatch(
    /^http:\/\/127\.0\.0\.1:1\/admin\/threads can't be read \(.+\)\. Start the runtime with npm start/,
  );
});

test.each([
  ['no JSON', '<html>', /holds no JSON/],
  ['another JSON', '{"takenAt":"x","pools":[{}]}', /holds no report of threads/],
])('a file with %s is refused by name', async (_what, text, message) => {
  const output = captureOutput();
  const file = join(folder, 'dump.json');
  writeFileSync(file, text);
  expect(await main(['--from', file])).toBe(1);
  expect(output.err()).toContain(file);
  expect(output.err()).toMatch(message);
});

test('--from with --watch is a usage error', async () => {
  const output = captureOutput();
  expect(await main(['--from', 'x', '--watch'])).toBe(2);
  expect(output.err()).toMatch(/--from shows a file as it is/);
});

test('a server that is no such runtime is told by its status', async () => {
  const output = captureOutput();
  const url = await serve((_request, response) => response.writeHead(404).end());
  expect(await main(['--url', url])).toBe(1);
  expect(output.err()).toMatch(/answered 404/);
});

test('a worker whose event loop is held just now is said to give no answer', () => {
  expect(threadsText({ ...report, eventLoop: null })).toMatch(
    /Event loop of the worker: no answer.*holds it/,
  );
  expect(threadsText(report)).not.toContain('Event loop');
});
