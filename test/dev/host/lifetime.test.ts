import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from 'vitest';
import { isAlive } from '../../helpers/processes.js';
import { start as startProgram, within } from '../../helpers/run.js';
import { fixture, makeApp, raw, removeApps, type StartedApp, startApp, until } from './apps.js';

const started: StartedApp[] = [];
async function start(...args: Parameters<typeof startApp>): Promise<StartedApp> {
  const app = await startApp(...args);
  started.push(app);
  return app;
}
afterEach(() => Promise.all(started.splice(0).map(({ host }) => host.stop({ graceMs: 0 }))));
afterAll(removeApps);

const packageJson = { name: 'app', main: 'app.js' };

test.each(['false', 'true'])(
  'a worker that dies is replaced once; running requests fail at once (typed: %s)',
  async (TYPED) => {
    const app = await start(fixture('basic'), { env: { TYPED } });
    const first = app.host.workerPid;
    const slow = app.get('/api/Slow?ms=8000');
    await app.logged(/Executing 'Functions.Slow'/);
    const [died, other] = await within(5_000, 'the answers', Promise.all([app.get('/api/Die'), slow]));
    expect([died.status, other.status]).toEqual([502, 502]);
    expect(await other.json()).toMatchObject({ code: 'WorkerDied', invocationId: expect.any(String) });
    await app.logged(/a floating rejection/);
    await app.logged(
      new RegExp(`The worker process \\(pid ${first}\\) ended with exit code 1\\. It is restarted, once\\.`),
    );
    // Requests wait for the new worker.
    expect(await (await within(8_000, 'the new worker', app.get('/api/Pid'))).text()).toBe(
      String(app.host.workerPid),
    );
    expect(app.host.workerPid).not.toBe(first);

    expect((await app.get('/api/Exit')).status).toBe(502);
    const end = await within(5_000, 'the end', app.host.ended);
    expect(end).toMatchObject({ reason: 'workerDied', message: expect.stringContaining('exit code 3') });
    expect((await app.get('/api/Pid')).status).toBe(503);
  },
);

test('a body that is on its way is broken when the worker dies', async () => {
  const app = await start(fixture('basic'));
  const answer = await app.get('/api/Chunks?count=1000&delay=20');
  process.kill(app.host.workerPid, 'SIGKILL');
  await expect(within(5_000, 'the end', answer.arrayBuffer())).rejects.toThrow('terminated');
  await app.logged(/was ended by SIGKILL\. It is restarted, once/);
});

test('stop lets running requests end, runs the appTerminate hooks and ends the worker', async () => {
  const app = await start(fixture('hooks'));
  const { workerPid, url } = app.host;
  const slow = app.get('/api/Slow?ms=400');
  await app.logged(/Executing 'Functions.Slow'/);
  const stopped = app.host.stop({ graceMs: 5_000 });
  await expect(fetch(`${url}/api/Slow`)).rejects.toThrow();
  expect(await (await slow).text()).toBe('slow');
  await within(5_000, 'the stop', stopped);
  expect(isAlive(workerPid)).toBe(false);
  const log = app.log();
  const ended = log.findIndex((line) => line.includes("Executed 'Functions.Slow' (Succeeded"));
  expect(log.findIndex((line) => line.includes('appTerminate after appStart'))).toBeGreaterThan(ended);
  await expect(app.host.ended).resolves.toEqual({ reason: 'stopped' });
});

test('what still runs after the grace time is broken off', async () => {
  const app = await start(fixture('basic'));
  const slow = app.get('/api/Slow?ms=9000');
  const body = await app.get('/api/Chunks?count=1000&delay=20');
  await app.logged(/Executing 'Functions.Slow'/);
  await within(4_000, 'the stop', app.host.stop({ graceMs: 100 }));
  expect((await slow).status).toBe(503);
  await expect(body.arrayBuffer()).rejects.toThrow('terminated');
});

test('a connection that is only kept alive does not hold up the stop', async () => {
  const app = await start(fixture('basic'));
  await (await app.get('/api/Trivial')).text();
  const idle = raw(app.host, '');
  await sleep(50);
  await within(2_000, 'the stop', app.host.stop({ graceMs: 10_000 }));
  await within(1_000, 'the end of the connection', idle);
});

test('the signals of the group end no worker; its host does', async () => {
  const app = await start(fixture('basic'));
  process.kill(app.host.workerPid, 'SIGINT');
  process.kill(app.host.workerPid, 'SIGTERM');
  await sleep(100);
  expect(await (await app.get('/api/Pid')).text()).toBe(String(app.host.workerPid));
});

test('a host that is killed takes its worker with it', async () => {
  const door = new URL('../../../.build/dev/host/index.js', import.meta.url).href;
  const script = `
    const { startHost } = await import(${JSON.stringify(door)});
    const host = await startHost({ appDir: ${JSON.stringify(fixture('basic'))}, port: 0 });
    console.log('worker ' + host.workerPid);`;
  const host = startProgram(process.execPath, ['--input-type=module', '-e', script]);
  const worker = Number((await within(10_000, 'the start', host.line(/^worker (\d+)$/)))[1]);
  host.process.kill('SIGKILL');
  await until('the worker has ended', () => !isAlive(worker));
});

test('hooks see and change invocations, and log hooks what the app logs', async () => {
  const app = await start(fixture('hooks'));
  const answer = await (await app.get('/api/Hooked')).json();
  expect(answer).toEqual({
    input: 'from preInvocation',
    hookData: 'shared',
    appHookData: 'app',
    after: true,
  });
  await app.logged(/\] hooked: a line$/);
  expect((await app.get('/api/Rescued')).status).toBe(202);
  expect((await app.get('/api/Refused')).status).toBe(500);
  await app.logged(/'Functions.Refused' \(Failed, .*refused by the hook/);
});

test('functionTimeout ends a request, not its neighbours', async () => {
  const files = {
    'package.json': packageJson,
    'host.json': { version: '2.0', functionTimeout: '00:00:01' },
    'app.js': `
      const { app } = require('@azure/functions');
      app.http('Stuck', { handler: () => new Promise(() => {}) });
      app.http('Fine', { handler: () => ({ body: 'fine' }) });`,
  };
  const app = await start(await makeApp(files));
  const stuck = await within(5_000, 'the answer', app.get('/api/Stuck'));
  expect([stuck.status, (await stuck.json()).code]).toEqual([500, 'FunctionTimeout']);
  await app.logged(/'Functions.Stuck' \(Failed, .*functionTimeout of host.json, 1 s, is over/);
  expect(await (await app.get('/api/Fine')).text()).toBe('fine');
});

test('maxConcurrentRequests and maxOutstandingRequests hold', async () => {
  const http = { maxConcurrentRequests: 2, maxOutstandingRequests: 4 };
  const files = {
    'package.json': packageJson,
    'host.json': { version: '2.0', extensions: { http } },
    'app.js': `
      const { app } = require('@azure/functions');
      let running = 0;
      app.http('Count', { handler: async () => {
        const seen = ++running;
        await new Promise((resolve) => setTimeout(resolve, 150));
        running--;
        return { jsonBody: seen };
      } });`,
  };
  const app = await start(await makeApp(files));
  const answers = await Promise.all(Array.from({ length: 7 }, () => app.get('/api/Count')));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(3);
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
  const served = answers.filter(({ status }) => status === 200);
  const counts = await Promise.all(served.map(async (one) => Number(await one.text())));
  expect(Math.max(...counts)).toBe(2);
  await until('all have left', async () => (await app.get('/api/Count')).status === 200);
});

test('an app of ES modules with top-level await, and an empty route prefix', async () => {
  const app = await start(fixture('esm'));
  expect(await (await app.get('/late')).text()).toBe('after a top-level await');
  expect(app.host.functions).toMatchObject([
    { name: 'late', url: `${app.host.url}/late`, methods: ['GET', 'POST'] },
  ]);
});
