import { connect } from 'node:net';
import type { HttpHandler, HttpRequest, InvocationContext } from '@azure/functions';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createSqlStream, type SqlStream } from '../../src/http/index.js';
import {
  type OpenContext,
  plainRowBytes,
  type RowSource,
  type SqlErrorCode,
  SqlStreamError,
} from '../../src/sql/index.js';
import { fakeSource } from '../helpers/fake-rows.js';
import { FunctionsProxy } from '../helpers/functions-proxy.js';
import { within } from '../helpers/run.js';

type Open = (request: HttpRequest, context: InvocationContext, open: OpenContext) => Promise<RowSource>;
type Stream = SqlStream<{ Id: number }>;

const secret = "Invalid object name 'dbo.Secret' on server sql-prod-7";
let open: Open;
let handle: (stream: Stream) => HttpHandler;
let proxy: FunctionsProxy;

function failing(code: SqlErrorCode, afterRows: number, details = {}): Open {
  return async () => {
    const error = new SqlStreamError(code, secret, details);
    if (afterRows === 0) throw error;
    return fakeSource({
      next: (index) => {
        if (index === afterRows) throw error;
        return `{"Id":${index}}`;
      },
    });
  };
}

beforeAll(async () => {
  const stream = createSqlStream<{ Id: number }>({
    plainRowBytes,
    open: (...all) => open(...all),
    clientSilenceMs: 30_000,
  });
  proxy = await FunctionsProxy.start({ Rows: (request, context) => handle(stream)(request, context) });
});

beforeEach(() => {
  handle = (stream) => stream.handler();
  proxy.logs.length = 0;
  for (const level of ['info', 'warn', 'error'] as const)
    vi.spyOn(console, level).mockClear().mockReturnValue();
});

const statuses: Partial<Record<SqlErrorCode, number>> = {
  EParameter: 400,
  EPoolExhausted: 503,
  EConnect: 503,
  EResuming: 503,
  ETransient: 503,
  EClosed: 503,
  EConnectTimeout: 504,
  EFirstRowTimeout: 504,
  ETotalTimeout: 504,
  EOptions: 500,
  ESetting: 500,
  EConnectionString: 500,
  ELogin: 500,
  EServer: 500,
  EConnectionLost: 500,
  EValueTooLarge: 500,
  EProtocol: 500,
};

test.each(Object.entries(statuses))('%s before the first byte is a %d', async (code, status) => {
  open = failing(code as SqlErrorCode, 0, { phase: 'firstRow', number: 208, state: 1, lineNumber: 3 });
  const answer = await proxy.call('Rows');
  expect(answer).toMatchObject({ status, complete: true, failure: undefined });
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.headers['retry-after']).toBe(status === 503 ? '1' : undefined);
  const problem = JSON.parse(answer.body);
  expect(problem).toMatchObject({ status, code, invocationId: answer.id });
  // A wrong parameter is the client's: its message is made for it.
  if (code === 'EParameter') expect(problem.detail).toBe(secret);
  else expect(answer.body).not.toMatch(/secret|sql-prod/i);
  expect(proxy.logs.map(({ level, category, message }) => `${category} ${level}: ${message}`)).toEqual([
    `user error: sqlStream: 0 rows, 0 bytes; failed, ${code} in phase firstRow (number 208, state 1, line 3): ${secret}`,
  ]);
});

test('Retry-After is the time of the error in whole seconds', async () => {
  open = failing('EResuming', 0, { retryAfterMs: 30_001 });
  expect((await proxy.call('Rows')).headers['retry-after']).toBe('31');
});

test('a wrong parameter is named', async () => {
  open = failing('EParameter', 0, { subject: 'id' });
  expect(JSON.parse((await proxy.call('Rows')).body)).toMatchObject({ code: 'EParameter', parameter: 'id' });
});

test('an error in the first row of changed rows is a status too', async () => {
  open = failing('EServer', 1);
  handle = (stream) =>
    stream.handler(async function* (request, context) {
      for await (const row of stream.rows(request, context)) yield row;
    });
  expect(await proxy.call('Rows')).toMatchObject({ status: 500, complete: true });
});

const changed = (stream: Stream) =>
  stream.handler(async function* (request, context) {
    for await (const row of stream.rows(request, context)) yield row;
  });
const untouched = (stream: Stream) => stream.handler();

/** Rows in separate turns of the event loop, so that some have gone out when the error comes. */
function failingLate(rows: number): Open {
  return async () =>
    fakeSource({
      next: async (index) => {
        await new Promise((resolve) => setTimeout(resolve, 2));
        if (index === rows)
          throw new SqlStreamError('EServer', secret, { number: 8134, state: 1, lineNumber: 4 });
        return `{"Id":${index}}`;
      },
    });
}

test.each([
  ['untouched', untouched],
  ['changed', changed],
])('an error amid %s rows breaks a JSON body, whose head and rows have come', async (_, handler) => {
  open = failingLate(5);
  handle = handler;
  const answer = await within(5_000, 'an end of the response', proxy.call('Rows'));
  expect(answer).toMatchObject({
    status: 200,
    complete: false,
    body: '[{"Id":0},{"Id":1},{"Id":2},{"Id":3},{"Id":4}',
    failure: expect.objectContaining({ code: 'EServer' }),
  });
  expect(vi.mocked(console.error).mock.calls).toEqual([
    [
      expect.stringMatching(
        /^sqlStream: 5 rows, 45 bytes; .*failed, EServer \(number 8134, state 1, line 4\)/,
      ),
    ],
  ]);
});

test.each([
  ['untouched', untouched],
  ['changed', changed],
])('an error amid %s rows is the last line of NDJSON, and then the body breaks', async (_, handler) => {
  open = failingLate(3);
  handle = handler;
  const call = proxy.call('Rows', { headers: { accept: 'application/x-ndjson' } });
  const answer = await within(5_000, 'an end of the response', call);
  expect(answer).toMatchObject({ status: 200, complete: false });
  const lines = answer.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toEqual([
    { Id: 0 },
    { Id: 1 },
    { Id: 2 },
    { error: expect.objectContaining({ code: 'EServer', status: 500, invocationId: answer.id }) },
  ]);
  expect(answer.body).not.toMatch(/secret|sql-prod/i);
});

test('a client without chunked bodies gets a reset, since an end would look like that of the rows', async () => {
  open = failingLate(3);
  const id = 'http-1.0';
  const socket = connect(proxy.port, '127.0.0.1');
  const end = new Promise<string>((resolve) => {
    socket.on('error', ({ message }) => resolve(message)).on('end', () => resolve('end'));
  });
  socket.resume();
  socket.write(
    `GET / HTTP/1.0\r\nx-ms-invocation-id: ${id}\r\nx-forwarded-host: a\r\nx-forwarded-proto: http\r\n\r\n`,
  );
  await expect(proxy.invoke('Rows', id)).rejects.toMatchObject({ code: 'EServer' });
  expect(await within(5_000, 'an end of the connection', end)).toMatch('ECONNRESET');
});

test('an error right after the first chunk does not lose the head and the chunk', async () => {
  // All in one turn: head and chunk are still corked when the error comes.
  open = failing('EServer', 1);
  const answer = await within(5_000, 'an end of the response', proxy.call('Rows'));
  expect(answer).toMatchObject({ status: 200, body: '[{"Id":0}', complete: false });
});

test.each<[string, unknown, number]>([
  ['undefined', undefined, 204],
  ['null', null, 204],
  ['a string', 'hello', 500],
  ['a number', 42, 500],
  ['the status 999', { status: 999 }, 500],
  ['the status "abc"', { status: 'abc' }, 500],
  ['a header that is none', { headers: { 'no such': 'header' } }, 500],
  ['a cookie that is none', { cookies: [{ name: 'a b', value: '' }] }, 500],
  ['JSON that is none', { jsonBody: { n: 1n } }, 500],
])('a handler that returns %s gets an answer', async (_, result, status) => {
  handle = (stream) => stream.handler(() => result as undefined);
  const answer = await within(5_000, 'an answer', proxy.call('Rows'));
  expect(answer).toMatchObject({ status, complete: true, failure: undefined });
  if (status === 500) {
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(JSON.parse(answer.body)).toMatchObject({ invocationId: answer.id });
    expect(proxy.logs).toHaveLength(1);
  }
});

test('a wrong init of respond opens nothing', async () => {
  open = () => expect.unreachable();
  handle = (stream) => (request, context) => stream.respond(request, context, { status: 99 });
  const answer = await within(5_000, 'an answer', proxy.call('Rows'));
  expect(JSON.parse(answer.body)).toMatchObject({ status: 500, code: 'EResponse' });
});

test('a handler that throws gets a 500 without its text, and one line in the log', async () => {
  for (const thrown of [new Error(secret), secret, undefined, null]) {
    proxy.logs.length = 0;
    handle = (stream) =>
      stream.handler(() => {
        throw thrown;
      });
    const answer = await within(5_000, 'an answer', proxy.call('Rows'));
    expect(JSON.parse(answer.body)).toMatchObject({ status: 500, code: 'EHandler', invocationId: answer.id });
    expect(answer.body).not.toContain('Secret');
    expect(proxy.logs).toHaveLength(1);
  }
});

test('an error of rows() that the handler lets through is logged once, with its own status', async () => {
  open = failing('EFirstRowTimeout', 0);
  handle = (stream) =>
    stream.handler(async (request, context) => {
      for await (const _ of stream.rows(request, context));
    });
  expect(await proxy.call('Rows')).toMatchObject({ status: 504 });
  expect(proxy.logs).toHaveLength(1);
});

test("a caller's own deadline is a 504", async () => {
  open = async (_request, _context, { signal }) => {
    await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    throw new SqlStreamError('EAborted', 'The command was cancelled.', { cause: signal?.reason });
  };
  handle = (stream) =>
    stream.handler((request, context) => stream.rows(request, context, { signal: AbortSignal.timeout(10) }));
  expect(JSON.parse((await proxy.call('Rows')).body)).toMatchObject({ status: 504, code: 'EAborted' });
});
