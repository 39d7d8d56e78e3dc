import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SqlStreamError, sqlStream } from '../../src/index.js';
import { FunctionsProxy } from '../helpers/functions-proxy.js';
import { within } from '../helpers/run.js';
import { RawServer } from '../helpers/sql-raw-server.js';
import { counts, script } from '../helpers/sql-script.js';

let server: RawServer;

beforeAll(async () => {
  for (const level of ['info', 'warn', 'error'] as const) vi.spyOn(console, level).mockReturnValue();
  server = await new RawServer(script).listen();
  process.env['TestSql'] = server.connectionString;
  process.env['FUNCTIONS_WORKER_RUNTIME'] = 'node';
});

afterAll(() => server.close());

const define = (commandText: string, connectionStringSetting = 'TestSql') =>
  sqlStream({ commandText, connectionStringSetting });

test('outside a host, nothing is checked, logged or registered when an app is loaded', () => {
  delete process.env['FUNCTIONS_WORKER_RUNTIME'];
  const listeners = process.listenerCount('SIGTERM');
  define('ids 1', 'NoSuchSetting');
  expect(console.error).not.toHaveBeenCalled();
  expect(process.listenerCount('SIGTERM')).toBe(listeners);
  process.env['FUNCTIONS_WORKER_RUNTIME'] = 'node';
});

test('in a host, a wrong setting is logged once when the app loads, and the app goes on', () => {
  define('ids 1', 'NoSuchSetting');
  expect(vi.mocked(console.error).mock.calls).toEqual([
    [expect.stringMatching(/^sqlStream: ESetting: .*'NoSuchSetting'/)],
  ]);
});

test('in development, a wrong setting stops the app', () => {
  process.env['AZURE_FUNCTIONS_ENVIRONMENT'] = 'Development';
  expect(() => define('ids 1', 'NoSuchSetting')).toThrow(SqlStreamError);
  expect(() => define('')).toThrow(expect.objectContaining({ code: 'EOptions' }));
  delete process.env['AZURE_FUNCTIONS_ENVIRONMENT'];
});

test('when the host ends the worker, responses may end, new ones are refused, and what still runs is cancelled', async () => {
  const proxy = await FunctionsProxy.start({
    Slow: define('slow 500').handler(),
    Stream: define('stream').handler(),
    Wait: define('wait').handler(),
  });
  const sent = () => server.requests.filter(({ text }) => /^(slow|stream|wait)/.test(text)).length;
  const slow = proxy.call('Slow');
  const wait = proxy.call('Wait');
  const stream = proxy.open('Stream');
  let streamed = '';
  stream.socket.setEncoding('latin1').on('data', (chunk: string) => {
    streamed = (streamed + chunk).slice(-100);
  });
  await vi.waitFor(() => expect(sent()).toBe(3));
  expect(FunctionsProxy.hasHook('appTerminate')).toBe(true);

  const ending = FunctionsProxy.runHook('appTerminate');
  const refused = await proxy.call('Slow');
  expect(refused).toMatchObject({ status: 503 });
  expect(refused.headers['retry-after']).toBeDefined();
  expect(JSON.parse(refused.body)).toMatchObject({ code: 'EClosed' });

  expect(await slow).toMatchObject({ status: 200, body: '[{"Id":1}]', complete: true });
  await within(7_000, 'the end', ending);
  expect(JSON.parse((await wait).body)).toMatchObject({ status: 503, code: 'EClosed' });
  expect(await stream.ended).toMatchObject({ code: 'EClosed' });
  await vi.waitFor(() => expect(stream.socket.destroyed).toBe(true));
  expect(streamed.endsWith('0\r\n\r\n')).toBe(false);
  expect(counts.attentions).toBe(2);
  await vi.waitFor(() => expect(server.sessions.size).toBe(0));
});
