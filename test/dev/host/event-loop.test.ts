import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ThreadsReport } from '../../../src/dev/lab/threads-report.js';
import { type LocalRuntime, startRuntime } from '../../helpers/runtime.js';
import { makeApp, removeApps, until } from './apps.js';

let runtime: LocalRuntime;
beforeAll(async () => {
  const app = await makeApp({
    'package.json': { main: 'app.js' },
    'host.json': { version: '2.0' },
    'local.settings.json': { Values: {} },
    'app.js': `const { app } = require('@azure/functions');
      function computeFor(ms) { for (const end = Date.now() + ms; Date.now() < end; ); }
      app.http('Compute', {
        route: 'Compute/{ms}',
        handler: function computeHandler(request) { computeFor(Number(request.params.ms)); return { body: 'done' }; },
      });`,
  });
  runtime = await startRuntime({ args: ['--app', app, '--no-sql'] });
}, 40_000);
afterAll(async () => {
  await runtime?.stop();
  removeApps();
});

async function report(): Promise<ThreadsReport> {
  const answer = await fetch(`${runtime.url}/admin/threads`, { signal: AbortSignal.timeout(10_000) });
  expect(answer.status).toBe(200);
  return (await answer.json()) as ThreadsReport;
}

test('a handler that computes shows in /admin/threads with its frame, and for how long it held the loop', async () => {
  const before = await report();
  expect(before.eventLoop).toMatchObject({ delayMs: { max: expect.any(Number) } });
  expect(await (await fetch(`${runtime.url}/api/Compute/400`)).text()).toBe('done');
  await until(
    'the handler in the report',
    async () =>
      /^at computeHandler \(.*app\.js:\d+:\d+\)$/m.test((await report()).eventLoop?.longest?.stack ?? ''),
    10_000,
  );
  const { eventLoop } = await report();
  expect(eventLoop?.longest?.stack).toMatch(/^at computeFor /);
  expect(eventLoop?.longest?.ms).toBeGreaterThan(250);
  expect(eventLoop?.delayMs.max).toBeGreaterThan(250);
}, 20_000);

test('a worker that is held gives no answer, and the page is there all the same', async () => {
  const held = fetch(`${runtime.url}/api/Compute/3000`);
  await runtime.line(/Executing 'Functions\.Compute'/);
  await until('a report without the event loop', async () => (await report()).eventLoop === null, 3_000);
  expect((await held).status).toBe(200);
  await until('the longest', async () => ((await report()).eventLoop?.longest?.ms ?? 0) > 2_000, 10_000);
}, 20_000);
