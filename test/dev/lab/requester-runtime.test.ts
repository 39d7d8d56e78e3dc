import { expect, test } from 'vitest';
import { childrenOf, isAlive } from '../../helpers/processes.js';
import { within } from '../../helpers/run.js';
import { startCli } from '../../helpers/runtime.js';

// Ten users and two threads: blocked, about 2 / 0.25 s are answered, awaited 10 / 0.25 s.
const env = { TIME_API_MIN_MS: '200', TIME_API_MAX_MS: '300', PORTAL_THREADS: '2' };

test('starts the runtime, counts what it answers to both actions, works out the cost, and stops it', async () => {
  const running = startCli(
    ['requester', '--users', '10', '--time', '4s', '--server-cost', '100', '--currency', 'EUR'],
    env,
  );
  await within(
    40_000,
    'the first action',
    running.line(/^10 users, 4 s for each action, on http:\/\/127\.0\.0\.1:\d+$/),
  );
  const children = childrenOf(running.process.pid as number);
  expect(children).toHaveLength(1);
  const { code, stdout, stderr } = await within(40_000, 'the end', running.finished);
  expect([code, stderr]).toEqual([0, '']);

  const answered = (action: string) => {
    const line = new RegExp(
      `^Portal/${action}: (\\d+) answered in [\\d.]+ s, \\d+ unfinished, none failed$`,
      'm',
    );
    return Number(line.exec(stdout)?.[1]);
  };
  const [blocked, awaited] = [answered('Index'), answered('IndexAsync')];
  // At most one round of two for each 200 ms, and the same for ten.
  expect(blocked).toBeGreaterThanOrEqual(4);
  expect(blocked).toBeLessThanOrEqual(42);
  expect(awaited).toBeGreaterThan(2 * blocked);
  expect(awaited).toBeLessThanOrEqual(210);

  const servers = Math.ceil(awaited / blocked);
  expect(stdout).toContain(
    `${awaited} awaited / ${blocked} blocked = ${(awaited / blocked).toFixed(1)} times`,
  );
  expect(stdout).toContain(
    `For ${awaited} answers: ${servers} servers that block, EUR ${(servers * 100).toLocaleString('en-US')}; 1 server that awaits, EUR 100.`,
  );
  expect(stdout).toContain('ceil(305 / 14) = 22 servers, BRL 264,000');
  expect(children.filter(isAlive)).toEqual([]);
}, 90_000);

test('SIGINT stops the runtime with it, and gives no comparison', async () => {
  const running = startCli(['requester', '--users', '4', '--time', '60s'], env);
  await within(40_000, 'the first action', running.line(/^4 users, 60 s/));
  const children = childrenOf(running.process.pid as number);
  running.process.kill('SIGINT');
  const { code, stdout } = await within(20_000, 'the end', running.finished);
  expect(code).toBe(130);
  expect(stdout).toContain('Interrupted: no comparison.');
  expect(children.filter(isAlive)).toEqual([]);
}, 90_000);
