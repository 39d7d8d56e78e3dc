import type { HttpHandler, HttpRequest, InvocationContext } from '@azure/functions';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createSqlStream, type SqlStream } from '../../src/http/index.js';
import type { OpenContext, RowSource } from '../../src/sql/index.js';
import { plainRowBytes } from '../../src/sql/index.js';
import { fakeSource } from '../helpers/fake-rows.js';
import { FunctionsProxy } from '../helpers/functions-proxy.js';

type Open = (request: HttpRequest, context: InvocationContext, open: OpenContext) => Promise<RowSource>;

let open: Open;
let handle: (stream: SqlStream<{ Id: number }>) => HttpHandler;
let proxy: FunctionsProxy;

/** The first texts are rows; then comes the end. */
function rows(...texts: string[]): Open {
  return async () => fakeSource({ next: (index) => texts[index] });
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
  vi.spyOn(console, 'info').mockReturnValue();
});

test('rows are a JSON array', async () => {
  open = rows('{"Id":1}', '{"Id":2}');
  handle = (stream) => stream.handler();
  const { status, headers, body, complete, failure } = await proxy.call('Rows');
  expect({ status, body, complete, failure }).toEqual({
    status: 200,
    body: '[{"Id":1},{"Id":2}]',
    complete: true,
    failure: undefined,
  });
  expect(headers).toMatchObject({ 'content-type': 'application/json', vary: 'Accept' });
});

test('no rows are an empty array', async () => {
  open = rows();
  handle = (stream) => stream.handler();
  expect(await proxy.call('Rows')).toMatchObject({ status: 200, body: '[]', complete: true });
});

test('a client that asks for NDJSON gets one object a line', async () => {
  open = rows('{"Id":1}', '{"Id":2}');
  handle = (stream) => stream.handler();
  const answer = await proxy.call('Rows', { headers: { accept: 'application/x-ndjson' } });
  expect(answer).toMatchObject({ status: 200, body: '{"Id":1}\n{"Id":2}\n', complete: true });
  expect(answer.headers).toMatchObject({ 'content-type': 'application/x-ndjson', vary: 'Accept' });
});

test('rows that were filtered and changed are streamed the same way', async () => {
  open = rows('{"Id":1}', '{"Id":2}', '{"Id":3}');
  handle = (stream) =>
    stream.handler(async function* (request, context) {
      for await (const row of stream.rows(request, context))
        if (row.Id !== 2) yield { ...row, Twice: row.Id * 2 };
    });
  expect(await proxy.call('Rows')).toMatchObject({
    status: 200,
    body: '[{"Id":1,"Twice":2},{"Id":3,"Twice":6}]',
    complete: true,
  });
  const lines = await proxy.call('Rows', { headers: { accept: 'application/x-ndjson' } });
  expect(lines.body).toBe('{"Id":1,"Twice":2}\n{"Id":3,"Twice":6}\n');
});

test('a filter that leaves nothing gives an empty array', async () => {
  open = rows('{"Id":1}');
  handle = (stream) =>
    stream.handler(async function* (request, context) {
      for await (const row of stream.rows(request, context)) if (row.Id > 1) yield row;
    });
  expect(await proxy.call('Rows')).toMatchObject({ body: '[]', complete: true });
});

test('status, headers and cookies of the init are kept', async () => {
  open = rows('{"Id":1}');
  handle = (stream) => (request, context) =>
    stream.respond(request, context, {
      status: 203,
      headers: { 'Content-Type': 'application/json; charset=utf-8', vary: 'Origin', 'x-mine': 'yes' },
      cookies: [{ name: 'a', value: 'b c', sameSite: 'Lax' }],
    });
  const { status, headers } = await proxy.call('Rows');
  expect(status).toBe(203);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    vary: 'Origin, Accept',
    'x-mine': 'yes',
    'set-cookie': ['a=b%20c; SameSite=Lax'],
  });
});

test('HEAD has the status and headers of GET, no body, and cancels the query', async () => {
  const source = fakeSource({ next: () => '{"Id":1}' });
  open = async () => source;
  handle = (stream) => stream.handler();
  const { status, headers, body } = await proxy.call('Rows', { method: 'HEAD' });
  expect({ status, body, type: headers['content-type'] }).toEqual({
    status: 200,
    body: '',
    type: 'application/json',
  });
  expect(source.cancelled).toBe(true);
});

test('a status without a body cancels the query', async () => {
  const source = fakeSource({ next: () => '{"Id":1}' });
  open = async () => source;
  handle = (stream) => (request, context) => stream.respond(request, context, { status: 204 });
  expect(await proxy.call('Rows')).toMatchObject({ status: 204, body: '', complete: true });
  expect(source.cancelled).toBe(true);
});

test('nothing is opened before the first row is asked for, and each rows() runs once', async () => {
  let opened = 0;
  open = async (...all) => {
    opened += 1;
    return rows('{"Id":1}')(...all);
  };
  const seen: unknown[] = [];
  handle = (stream) =>
    stream.handler(async (request, context) => {
      const lazy = stream.rows(request, context);
      stream.rows(request, context);
      seen.push(opened);
      for await (const row of lazy) seen.push(row);
      seen.push(opened);
      for await (const row of lazy) seen.push(row);
    });
  const answer = await proxy.call('Rows');
  expect(seen).toEqual([0, { Id: 1 }, 1]);
  expect(answer).toMatchObject({ status: 500 });
  expect(JSON.parse(answer.body)).toMatchObject({ code: 'ERowsUsed' });
});

test('leaving the loop cancels the query', async () => {
  for (const leave of ['break', 'throw'] as const) {
    const source = fakeSource({ next: (index) => `{"Id":${index}}` });
    open = async () => source;
    handle = (stream) =>
      stream.handler(async (request, context) => {
        for await (const row of stream.rows(request, context)) {
          if (row.Id < 3) continue;
          if (leave === 'throw') throw new Error('enough');
          break;
        }
        return { body: 'left' };
      });
    const answer = await proxy.call('Rows');
    expect(answer.status).toBe(leave === 'break' ? 200 : 500);
    expect(source).toMatchObject({ cancelled: true, asked: 4 });
  }
});

test('rows that come one by one are not held back until the next', async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  open = async () =>
    fakeSource({
      next: async (index) => {
        if (index === 1) await gate;
        return index < 2 ? `{"Id":${index}}` : undefined;
      },
    });
  handle = (stream) =>
    stream.handler(async function* (request, context) {
      yield* stream.rows(request, context);
    });
  const { socket, ended } = proxy.open('Rows');
  let text = '';
  await new Promise<void>((resolve) => {
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('{"Id":0}')) resolve();
    });
  });
  expect(text).not.toContain('{"Id":1}');
  release();
  expect(await ended).toBeUndefined();
  socket.destroy();
});

test('the log has one line a request, and no warning of the library', async () => {
  const late = vi.spyOn(console, 'info').mockClear();
  proxy.logs.length = 0;
  open = rows('{"Id":1}', '{"Id":2}');
  handle = (stream) => stream.handler();
  const { id } = await proxy.call('Rows');
  handle = (stream) =>
    stream.handler(async (request, context) => {
      for await (const _ of stream.rows(request, context));
    });
  await proxy.call('Rows');
  handle = (stream) =>
    stream.handler(async function* (request, context) {
      for await (const row of stream.rows(request, context)) if (row.Id > 1) yield row;
    });
  await proxy.call('Rows');
  const times = 'acquire 1 ms, first row 2 ms, end 3 ms; complete';
  // A body that ends after its handler can't use the context without a warning.
  expect(late.mock.calls).toEqual([
    [`sqlStream: 2 rows, 19 bytes; ${times} (function Rows, invocation ${id})`],
  ]);
  expect(proxy.logs.map(({ level, category, message }) => `${category} ${level}: ${message}`)).toEqual([
    `user information: sqlStream: 2 rows; ${times}`,
    `user information: sqlStream: 1 rows, 10 bytes; ${times}`,
  ]);
});
