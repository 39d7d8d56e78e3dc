import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { LoggerFactory } from '../../../../src/dev/host/log/logger-factory.js';
import { fixture, makeApp, removeApps, type StartedApp, startApp, until } from '../apps.js';

const started: StartedApp[] = [];
async function start(...args: Parameters<typeof startApp>): Promise<StartedApp> {
  const app = await startApp(...args);
  started.push(app);
  return app;
}
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(started.splice(0).map(({ host }) => host.stop({ graceMs: 0 })));
});
afterAll(removeApps);

/** How often a logger of a category has been made since the test began. */
function countLoggers(): (category: string) => number {
  const spy = vi.spyOn(LoggerFactory.prototype, 'createLogger');
  return (category) => spy.mock.calls.filter(([made]) => made === category).length;
}

describe('the logger cache', () => {
  test('keeps one logger for each function, which is made anew when the app is loaded again', async () => {
    const made = countLoggers();
    const app = await start(fixture('basic'));
    const { workerPid } = app.host;
    for (let i = 0; i < 3; i++) expect((await app.get('/api/Trivial')).status).toBe(200);
    expect([made('Function.Trivial'), made('Function.Trivial.User')]).toEqual([1, 1]);
    process.kill(workerPid, 'SIGKILL');
    await until('a new worker', () => app.host.workerPid !== workerPid, 10_000);
    for (let i = 0; i < 3; i++) expect((await app.get('/api/Trivial')).status).toBe(200);
    expect([made('Function.Trivial'), made('Function.Trivial.User')]).toEqual([2, 2]);
  });

  test('without it each invocation gets a logger of its own, its lines and the function’s go through it', async () => {
    const made = countLoggers();
    const folder = await writingApp({});
    const app = await start(folder, { loggerCache: false });
    for (let i = 0; i < 3; i++) expect((await app.get('/api/Writes')).status).toBe(200);
    expect([made('Function.Writes'), made('Function.Writes.User')]).toEqual([3, 3]);
    await until(
      'all lines',
      () => app.log().filter((line) => /Executed .*Succeeded/.test(line)).length === 3,
    );
    expect(app.log().filter((line) => /an information$/.test(line))).toHaveLength(3);
  });
});

function writingApp(logLevel: object): Promise<string> {
  return makeApp({
    'package.json': { main: 'app.js' },
    'host.json': { version: '2.0', logging: { logLevel } },
    'app.js': `const { app } = require('@azure/functions');
      for (const name of ['Writes', 'Other']) {
        app.http(name, { handler: (request, context) => {
          context.debug(name + ': a debug line');
          context.log(name + ': an information');
          context.warn(name + ': a warning');
          return {};
        } });
      }`,
  });
}

describe.each([true, false])('logging.logLevel of host.json (cache: %s)', (loggerCache) => {
  async function linesWith(logLevel: object, verbose = false): Promise<string> {
    const app = await start(await writingApp(logLevel), { loggerCache, verbose });
    await app.get('/api/Writes');
    await app.get('/api/Other');
    // Stopping writes what is not written yet.
    await app.host.stop();
    return app.log().join('\n');
  }

  test('shows information and more when it says nothing', async () => {
    const text = await linesWith({});
    expect(text).toMatch(/Executing 'Functions.Writes'.*Writes: an information.*Writes: a warning/s);
    expect(text).not.toContain('a debug line');
  });

  test('filters by the longest category that fits', async () => {
    const text = await linesWith({
      default: 'None',
      Function: 'Information',
      'function.writes': 'Warning',
      'Function.Other.User': 'debug',
    });
    expect(text).not.toMatch(/Functions\.Writes|Writes: (?:a debug|an information)/);
    expect(text).toMatch(/Writes: a warning.*Executing 'Functions.Other'.*Other: a debug line/s);
  });

  test('a * stands for any part of a category', async () => {
    const text = await linesWith({ 'Function.*.User': 'Error' });
    expect(text).toMatch(/Executed 'Functions.Writes'.*Executed 'Functions.Other'/s);
    expect(text).not.toMatch(/a warning|an information/);
  });

  test('--verbose overrules default, but no category', async () => {
    const text = await linesWith({ default: 'Error', 'Function.Other': 'None' }, true);
    expect(text).toMatch(/Executing 'Functions.Writes'.*Writes: a debug line/s);
    expect(text).not.toMatch(/Functions\.Other|Other: /);
  });
});

test.each([
  [{ Function: 'Loud' }, /host\.json:\d+: logging\.logLevel\.Function must be Trace, Debug,/],
  [{ 'a.*.b.*': 'None' }, /host\.json:\d+: logging\.logLevel\.a\.\*\.b\.\* may have one \* only/],
])('%j is refused with file and line', async (logLevel, message) => {
  await expect(writingApp(logLevel).then((folder) => startApp(folder))).rejects.toMatchObject({
    code: 'EConfig',
    message: expect.stringMatching(message),
  });
});
