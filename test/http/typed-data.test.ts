import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { closeSqlStreams, sqlStream } from '../../src/index.js';
import { FunctionsProxy, type TypedResponse } from '../helpers/functions-proxy.js';
import { RawServer } from '../helpers/sql-raw-server.js';
import { script } from '../helpers/sql-script.js';

let server: RawServer;
let proxy: FunctionsProxy;

beforeAll(async () => {
  vi.spyOn(console, 'info').mockReturnValue();
  vi.spyOn(console, 'error').mockReturnValue();
  server = await new RawServer(script).listen();
  process.env['TestSql'] = server.connectionString;
  const define = (commandText: string) => sqlStream({ commandText, connectionStringSetting: 'TestSql' });
  const trickle = define('trickle 20');
  const handlers = {
    Whole: define('ids 1,2').handler(),
    Trickle: trickle.handler(),
    Changed: trickle.handler(async function* (request, context) {
      for await (const { Id } of trickle.rows(request, context)) yield { Id, Text: 'ü' };
    }),
    Fails: define('error 208').handler(),
    Cut: define('cut').handler(),
    Throws: trickle.handler(() => {
      throw new Error('no');
    }),
    Nothing: trickle.handler(() => undefined),
  };
  proxy = await FunctionsProxy.start(handlers, false);
});

afterAll(async () => {
  await closeSqlStreams(0);
  await server.close();
});

const text = (response: TypedResponse | undefined) => Buffer.from(response?.body.bytes ?? []).toString();

test('the library was told not to stream', () => {
  expect(proxy.port).toBe(0);
});

test.each([
  ['Whole', '[{"Id":1},{"Id":2}]'],
  ['Trickle', '[{"Id":1},{"Id":2}]'],
  ['Changed', '[{"Id":1,"Text":"ü"},{"Id":2,"Text":"ü"}]'],
])('without streaming, %s goes back as a whole', async (name, body) => {
  const response = await proxy.invoke(name, 'id');
  expect(response?.statusCode).toBe('200');
  expect(response?.headers).toMatchObject({ 'content-type': 'application/json', vary: 'Accept' });
  expect(text(response)).toBe(body);
});

test('an error before the first row has its status, one amid the rows fails the invocation', async () => {
  const response = await proxy.invoke('Fails', 'id');
  expect(response?.statusCode).toBe('500');
  expect(JSON.parse(text(response))).toMatchObject({ code: 'EServer', invocationId: 'id' });
  await expect(proxy.invoke('Cut', 'id')).rejects.toMatchObject({ code: 'EConnectionLost' });
});

test('a handler that throws is a 500, one that returns nothing a 204', async () => {
  expect((await proxy.invoke('Throws', 'id'))?.statusCode).toBe('500');
  expect((await proxy.invoke('Nothing', 'id'))?.statusCode).toBe('204');
});
