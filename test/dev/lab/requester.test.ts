import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { costLines, serversNeeded } from '../../../src/dev/lab/cost.js';
import { main } from '../../../src/dev/lab/requester.js';
import { Users } from '../../../src/dev/lab/users.js';
import { captureOutput, serve } from './helpers.js';

/** A portal of which the blocking action serves one request at a time. */
function portal() {
  let last: Promise<unknown> = Promise.resolve();
  return serve(async (request, response) => {
    if (request.url === '/api/Portal/Information') {
      response.end(JSON.stringify({ total: 1, available: 0, blocked: 1, queued: 7 }));
      return;
    }
    if (request.url === '/api/Portal/Index') {
      last = last.then(() => sleep(100));
      await last;
    } else await sleep(100);
    response.end('{}');
  });
}

test('counts both actions and compares them', async () => {
  const output = captureOutput();
  const code = await main(['--users', '8', '--time', '1s', '--url', await portal()]);
  expect(output.err()).toBe('');
  expect(code).toBe(0);
  const blocked = Number(/Portal\/Index: (\d+) answered/.exec(output.out())?.[1]);
  const awaited = Number(/Portal\/IndexAsync: (\d+) answered/.exec(output.out())?.[1]);
  expect(blocked).toBeGreaterThan(0);
  expect(awaited).toBeGreaterThan(blocked);
  expect(output.out()).toContain(
    `${awaited} awaited / ${blocked} blocked = ${(awaited / blocked).toFixed(1)} times`,
  );
  expect(output.out()).toContain(
    `For ${awaited} answers: ${Math.ceil(awaited / blocked)} servers that block`,
  );
});

test('the published figures are shown with their slip: 22 servers, not 14', () => {
  expect(serversNeeded(305, 14)).toBe(22);
  const text = costLines(14, 305, { serverCost: 12_000, currency: 'BRL' }).join('\n');
  expect(text).toContain(
    'For 305 answers: 22 servers that block, BRL 264,000; 1 server that awaits, BRL 12,000.',
  );
  expect(text).toContain('14 servers, BRL 168,000, against 1, BRL 12,000');
  expect(text).toMatch(/slip.*\n.*ceil\(305 \/ 14\) = 22 servers, BRL 264,000/);
});

test('the price and the currency are those that were asked for', () => {
  const text = costLines(10, 95, { serverCost: 99.5, currency: 'EUR' }).join('\n');
  expect(text).toContain('10 servers that block, EUR 995; 1 server that awaits, EUR 99.5.');
});

test('without a blocking answer there is no ratio, and the exit code says so', async () => {
  const output = captureOutput();
  const url = await serve((request, response) => {
    if (request.url !== '/api/Portal/Index') response.end('{}');
  });
  expect(await main(['--users', '2', '--time', '300ms', '--url', url])).toBe(1);
  expect(output.out()).toMatch(/Portal\/Index: 0 answered in .*, 2 unfinished, none failed/);
  expect(output.out()).toContain('no ratio');
  expect(output.out()).not.toMatch(/Infinity|NaN/);
});

test('answers, refusals, broken bodies and dead connections are counted apart', async () => {
  let calls = 0;
  const url = await serve((_request, response) => {
    const kind = calls++ % 4;
    if (kind === 0) response.end('ok');
    if (kind === 1) response.writeHead(503).end();
    if (kind === 2)
      response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy());
    if (kind === 3) response.destroy();
  });
  const users = new Users({ url, users: 1, durationMs: 1_500, signal: new AbortController().signal });
  const { answered, failures, unfinished } = await users.run();
  expect(answered).toBeGreaterThan(0);
  expect(Object.keys(failures).sort()).toEqual(['ECONNRESET', 'status 503']);
  // The one under way at the end may not have reached the server.
  expect(answered + users.failed).toBeLessThanOrEqual(calls);
  expect(answered + users.failed + unfinished).toBeGreaterThanOrEqual(calls);
});

test('users that are still waiting at the end close their connections', async () => {
  let open = 0;
  const url = await serve((request) => {
    open++;
    request.socket.on('close', () => open--);
  });
  const result = await new Users({
    url,
    users: 20,
    durationMs: 300,
    signal: new AbortController().signal,
  }).run();
  expect(result).toMatchObject({ answered: 0, unfinished: 20, failures: {} });
  await expect.poll(() => open).toBe(0);
});

test.each([
  [['--users', '0'], /--users takes a whole number from 1 to 10000, not '0'/],
  [['--time', 'soon'], /--time takes a time .* not 'soon'/],
  [['--url', '127.0.0.1:7071'], /--url takes a URL/],
  [['--server-cost', 'much'], /--server-cost takes a price, not 'much'/],
  [['--user', '3'], /Unknown option '--user'[\s\S]*Usage: npm run requester/],
])('%j is refused with what would be right', async (args, message) => {
  const output = captureOutput();
  expect(await main(args)).toBe(2);
  expect(output.err()).toMatch(message);
});

test('--help tells the options and does nothing else', async () => {
  const output = captureOutput();
  expect(await main(['--help'])).toBe(0);
  expect(output.out()).toMatch(/^Usage: npm run requester[\s\S]*--currency/);
});
