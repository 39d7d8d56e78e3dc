import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  clientSignal,
  closeSqlStreams,
  httpHandler,
  poolStats,
  type SqlStreamOptions,
  sqlStream,
} from '../src/index.js';
import { FunctionsProxy } from './helpers/functions-proxy.js';
import { within } from './helpers/run.js';
import { RawServer } from './helpers/sql-raw-server.js';
import { counts, recordset, script } from './helpers/sql-script.js';

interface Numbered {
  readonly Id: number;
}

/** As JSON more than a chunk, and short enough to be read from the socket at once. */
const manyIds = Array.from({ length: 6_000 }, (_, id) => id);

let server: RawServer;
let proxy: FunctionsProxy;

const define = (commandText: string, more: Partial<SqlStreamOptions> = {}) =>
  sqlStream<Numbered>({ commandText, connectionStringSetting: 'TestSql', ...more });

beforeAll(async () => {
  server = await new RawServer((request, session) =>
    // Only a command with parameters comes as an RPC.
    request.type === 3 ? session.send(recordset(1)) : script(request, session),
  ).listen();
  process.env['TestSql'] = `${server.connectionString};Max Pool Size=4`;
  const three = define('ids 0,1,2');
  const wait = define('wait');
  proxy = await FunctionsProxy.start({
    Three: three.handler(),
    Bare: (request, context) => three.respond(request, context),
    Iterated: three.handler(async function* (request, context) {
      for await (const { Id } of three.rows(request, context)) yield { Id, Square: Id * Id };
    }),
    Broken: three.handler(async (request, context) => {
      for await (const one of three.rows(request, context)) return { jsonBody: one };
      return undefined;
    }),
    Many: define(`ids ${manyIds.join()}`).handler(),
    Wait: wait.handler(),
    Aborted: wait.handler((request, context) =>
      wait.rows(request, context, { signal: AbortSignal.timeout(20) }),
    ),
    Stream: define('stream').handler(),
    Fail: define('error 208').handler(),
    HalfRow: define('half-row').handler(),
    Missing: define('ids 1', { connectionStringSetting: 'NoSuchSetting' }).handler(),
    Wrong: define('ids 1', { commandType: 'Table' as 'Text' }).handler(),
    Silence: define('ids 1', { deadlines: { clientSilenceMs: -1 } }).handler(),
    Record: define('ids 1', { parameters: { id: 1 } as never }).handler(),
    Function: define('ids 1', { parameters: (request) => ({ id: request.query.get('id') }) }).handler(),
    Unbound: define('ids 1', { parameters: '@id={Query.id}' }).handler(),
    Late: define('wait', { deadlines: { firstRowMs: 30 } }).handler(),
    Signal: httpHandler(async (_request, context) => {
      await new Promise((resolve) => clientSignal(context).addEventListener('abort', resolve));
    }),
  });
});

beforeEach(() => {
  for (const level of ['info', 'warn', 'error'] as const)
    vi.spyOn(console, level).mockClear().mockReturnValue();
  proxy.logs.length = 0;
});

afterAll(async () => {
  await closeSqlStreams(0);
  await server.close();
});

test('rows that are all there but make several chunks arrive whole', async () => {
  const answer = await proxy.call('Many');
  expect(answer).toMatchObject({ status: 200, complete: true });
  expect(JSON.parse(answer.body)).toEqual(manyIds.map((Id) => ({ Id })));
});

test('rows of the database are a JSON array of known length, as it is all there', async () => {
  for (const name of ['Three', 'Bare']) {
    const answer = await proxy.call(name);
    expect(answer).toMatchObject({ status: 200, body: '[{"Id":0},{"Id":1},{"Id":2}]', complete: true });
    expect(answer.headers['content-length']).toBe('28');
    expect(proxy.logs.splice(0)).toMatchObject([
      {
        category: 'user',
        message: expect.stringMatching(
          /^sqlStream: 3 rows, 28 bytes; acquire \d+ ms, first row \d+ ms, end \d+ ms; complete$/,
        ),
      },
    ]);
  }
});

test('rows that were changed on the way are streamed too', async () => {
  expect(await proxy.call('Iterated')).toMatchObject({
    status: 200,
    body: '[{"Id":0,"Square":0},{"Id":1,"Square":1},{"Id":2,"Square":4}]',
    complete: true,
  });
});

test('leaving the loop gives the connection back', async () => {
  expect(await proxy.call('Broken')).toMatchObject({ status: 200, body: '{"Id":0}' });
  await vi.waitFor(() => expect(poolStats()).toMatchObject([{ used: 0, pending: 0 }]));
});

test('an error of the server is a problem without its text', async () => {
  const answer = await proxy.call('Fail');
  expect(JSON.parse(answer.body)).toMatchObject({ status: 500, code: 'EServer', invocationId: answer.id });
  expect(answer.body).not.toContain('as asked');
  expect(proxy.logs).toMatchObject([
    {
      level: 'error',
      message: expect.stringMatching(
        /EServer in phase \w+ \(number 208, state 1, line 7, procedure dbo.Proc\)/,
      ),
    },
  ]);
});

test.each(['application/json', 'application/x-ndjson'])(
  'a connection that is lost amid the first row is a status too (%s)',
  async (accept) => {
    const answer = await proxy.call('HalfRow', { headers: { accept } });
    expect(answer).toMatchObject({ status: 500, complete: true });
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'EConnectionLost' });
  },
);

test('a deadline of the command and one of the caller are a 504, and cancel it at the server', async () => {
  for (const [name, code] of [
    ['Late', 'EFirstRowTimeout'],
    ['Aborted', 'EAborted'],
  ] as const) {
    const before = counts.attentions;
    expect(JSON.parse((await proxy.call(name)).body)).toMatchObject({ status: 504, code });
    await vi.waitFor(() => expect(counts.attentions).toBe(before + 1));
  }
});

test.each([
  ['Missing', 500, 'ESetting'],
  ['Wrong', 500, 'EOptions'],
  ['Silence', 500, 'EOptions'],
  ['Record', 500, 'EOptions'],
  ['Unbound', 400, 'EParameter'],
])('the endpoint %s answers %d with the code %s', async (name, status, code) => {
  const answer = await proxy.call(name);
  expect(answer).toMatchObject({ status, complete: true });
  expect(JSON.parse(answer.body)).toMatchObject({ code });
});

test('a function gives the parameters of a request', async () => {
  server.requests.length = 0;
  await proxy.call('Function', { path: '/api/Function?id=a,b=c' });
  const sent = server.requests.find(({ type }) => type === 3);
  expect(sent?.data.toString('utf16le')).toContain('a,b=c');
});

test('a client that does not read holds back the database, through both sockets', async () => {
  const sent = () => [...server.sessions].reduce((sum, session) => sum + session.socket.bytesWritten, 0);
  const atFirst = sent();
  const { socket, ended } = proxy.open('Stream');
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  let before = -1;
  // Until the buffers of two kernels are full; without backpressure the server never stops sending.
  await vi.waitFor(
    () => {
      const now = sent();
      const stopped = now === before;
      before = now;
      expect(stopped).toBe(true);
    },
    { interval: 200, timeout: 10_000 },
  );
  expect(before - atFirst).toBeLessThan(48 * 1024 * 1024);
  socket.destroy();
  expect(await within(5_000, 'the end of the invocation', ended)).toBeUndefined();
  await vi.waitFor(() => expect(poolStats()).toMatchObject([{ used: 0 }]), { timeout: 5_000 });
});

test('the signal of an invocation tells a function without rows that its client left', async () => {
  const { socket, ended } = proxy.open('Signal');
  await new Promise((resolve) => setTimeout(resolve, 30));
  socket.destroy();
  await within(5_000, 'the end of the invocation', ended);
});
