import { createServer, get, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { HttpHandler, HttpRequest, InvocationContext } from '@azure/functions';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createSqlStream, invocationOf, type SqlStream } from '../../src/http/index.js';
import { type OpenContext, plainRowBytes, type RowSource, SqlStreamError } from '../../src/sql/index.js';
import { type FakeSource, fakeSource } from '../helpers/fake-rows.js';
import { FunctionsProxy } from '../helpers/functions-proxy.js';
import { within } from '../helpers/run.js';

type Open = (request: HttpRequest, context: InvocationContext, open: OpenContext) => Promise<RowSource>;
type Stream = SqlStream<{ Id: number }>;

const silenceMs = 800;
let open: Open;
let handle: (stream: Stream) => HttpHandler;
let proxy: FunctionsProxy;

beforeAll(async () => {
  const stream = createSqlStream<{ Id: number }>({
    plainRowBytes,
    open: (...all) => open(...all),
    clientSilenceMs: silenceMs,
  });
  proxy = await FunctionsProxy.start({ Rows: (request, context) => handle(stream)(request, context) });
});

beforeEach(() => {
  handle = (stream) => stream.handler();
  proxy.logs.length = 0;
  for (const level of ['info', 'warn', 'error'] as const)
    vi.spyOn(console, level).mockClear().mockReturnValue();
});

const untouched = (stream: Stream) => stream.handler();
const changed = (stream: Stream) =>
  stream.handler(async function* (request, context) {
    for await (const row of stream.rows(request, context)) yield row;
  });

const bigRow = JSON.stringify({ Id: 1, Text: 'x'.repeat(64 * 1024) });

/** Rows without end and without a pause. */
function endless(): { source: FakeSource; open: Open } {
  const source = fakeSource({ next: () => bigRow });
  return { source, open: async () => source };
}

/** A command that runs until it is cancelled. */
function waiting() {
  let opened = () => {};
  const began = new Promise<void>((resolve) => {
    opened = resolve;
  });
  let cancelledWith: unknown;
  const openIt: Open = (_request, _context, { signal, onCancellable }) =>
    new Promise((_resolve, reject) => {
      opened();
      const cancel = async (reason: unknown) => {
        cancelledWith = reason;
        reject(new SqlStreamError('EAborted', 'The command was cancelled.', { cause: reason }));
      };
      onCancellable?.(cancel);
      signal?.addEventListener('abort', () => void cancel(signal.reason));
    });
  return { began, open: openIt, reason: () => cancelledWith };
}

function leave(socket: Socket, how: 'FIN' | 'RST'): void {
  if (how === 'FIN') socket.destroy();
  else socket.resetAndDestroy();
}

async function until(what: string, condition: () => boolean): Promise<void> {
  await within(
    5_000,
    what,
    (async () => {
      while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
    })(),
  );
}

test.each(['FIN', 'RST'] as const)(
  'a client that leaves (%s) before the first row cancels the command',
  async (how) => {
    const command = waiting();
    open = command.open;
    const { socket, ended } = proxy.open('Rows');
    await within(5_000, 'the command', command.began);
    leave(socket, how);
    // The invocation did not fail: there is just nobody left to answer.
    expect(await within(5_000, 'the end of the invocation', ended)).toBeUndefined();
    expect(command.reason()).toMatchObject({ code: 'EClientGone' });
    expect(proxy.logs.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'information: sqlStream: 0 rows, 0 bytes; client left',
    ]);
  },
);

test.each([
  ['FIN', 'untouched', untouched],
  ['RST', 'untouched', untouched],
  ['FIN', 'changed', changed],
  ['RST', 'changed', changed],
] as const)('a client that leaves (%s) amid %s rows cancels the command', async (how, _, handler) => {
  const { source, open: openIt } = endless();
  open = openIt;
  handle = handler;
  const { socket, ended } = proxy.open('Rows');
  await new Promise((resolve) => socket.once('data', resolve));
  leave(socket, how);
  expect(await within(5_000, 'the end of the invocation', ended)).toBeUndefined();
  await until('cancelled', () => source.cancelled);
  const asked = source.asked;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(source.asked).toBe(asked);
  expect(vi.mocked(console.info).mock.calls).toEqual([[expect.stringContaining('; client left')]]);
});

test('a client that leaves ends what a handler does meanwhile, through the signal of its invocation', async () => {
  let aborted = false;
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  handle = (stream) =>
    stream.handler(async (_request, context) => {
      const { signal } = invocationOf(context);
      begin();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      aborted = true;
    });
  const { socket, ended } = proxy.open('Rows');
  await within(5_000, 'the begin of the handler', begun);
  leave(socket, 'RST');
  await within(5_000, 'the end of the invocation', ended);
  expect(aborted).toBe(true);
});

test('a client that left before its handler began does not have its command run', async () => {
  const id = 'left-early';
  const socket = connect(proxy.port, '127.0.0.1');
  socket.write(
    `GET /api/Rows HTTP/1.1\r\nhost: a\r\nx-ms-invocation-id: ${id}\r\nx-forwarded-host: a\r\nx-forwarded-proto: http\r\n\r\n`,
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  leave(socket, 'RST');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const command = waiting();
  open = command.open;
  await within(5_000, 'the end of the invocation', proxy.invoke('Rows', id));
  expect(command.reason()).toMatchObject({ code: 'EClientGone' });
});

test('a client that has read its response and leaves cancels nothing', async () => {
  open = async () => fakeSource({ next: (index) => (index < 3 ? '{"Id":1}' : undefined) });
  const { socket, ended } = proxy.open('Rows');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await until('the end of the body', () => text.endsWith('0\r\n\r\n'));
  leave(socket, 'RST');
  expect(await ended).toBeUndefined();
  expect(vi.mocked(console.info).mock.calls).toEqual([[expect.stringContaining('; complete')]]);
});

test.each([
  ['untouched', untouched],
  ['changed', changed],
] as const)(
  'a client that does not read bounds what is made of %s rows, and is cut off',
  async (_, handler) => {
    const { source, open: openIt } = endless();
    open = openIt;
    handle = handler;
    const { socket, ended } = proxy.open('Rows');
    await new Promise((resolve) => setTimeout(resolve, silenceMs / 2));
    expect(source.cancelled).toBe(false);
    expect(await within(10_000, 'the end of the invocation', ended)).toBeUndefined();
    expect(source.cancelled).toBe(true);
    // The kernel takes some megabytes for a client that does not read.
    expect(source.asked * bigRow.length).toBeLessThan(32 * 1024 * 1024);
    expect(vi.mocked(console.warn).mock.calls).toEqual([[expect.stringContaining('client silent')]]);
    // The client finds out as soon as it reads.
    let text = '';
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
    });
    await within(5_000, 'the end of the connection', closed);
    expect(text.startsWith('HTTP/1.1 200 OK')).toBe(true);
    expect(text.endsWith('0\r\n\r\n')).toBe(false);
  },
);

test('a slow client gets all, with a bounded part of it under way, and is not called silent', async () => {
  const rows = 1_500;
  const source = fakeSource({ next: (index) => (index < rows ? bigRow : undefined) });
  open = async () => source;
  const { socket, ended } = proxy.open('Rows');
  let read = 0;
  let mostUnderWay = 0;
  // 96 MB with a pause after each megabyte: some 100 pauses of 10 ms.
  socket.on('data', (chunk) => {
    read += chunk.length;
    mostUnderWay = Math.max(mostUnderWay, source.asked * bigRow.length - read);
    if (read % (1024 * 1024) >= chunk.length) return;
    socket.pause();
    setTimeout(() => socket.resume(), 10);
  });
  expect(await within(15_000, 'the end of the invocation', ended)).toBeUndefined();
  await until('the last bytes', () => read > rows * bigRow.length);
  // What two kernels hold; unbounded it would be nearly all.
  expect(mostUnderWay).toBeLessThan(32 * 1024 * 1024);
  socket.destroy();
});

test('a source that never waits lets the event loop turn', async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const source = fakeSource({ next: (index) => (index < 50_000 ? '{"Id":1}' : undefined) });
  open = async () => source;
  handle = changed;
  const { socket, ended } = proxy.open('Rows');
  const askedAtFirstByte = new Promise<number>((resolve) => {
    socket.once('data', () => resolve(source.asked));
  });
  socket.resume();
  await within(10_000, 'the end of the invocation', ended);
  clearInterval(timer);
  socket.destroy();
  expect(turns).toBeGreaterThan(3);
  expect(await askedAtFirstByte).toBeLessThan(25_000);
});

test('two requests at once have their own rows', async () => {
  open = async (request) => {
    const id = request.query.get('id');
    return fakeSource({
      next: async (index) => {
        await new Promise((resolve) => setTimeout(resolve, 2));
        return index < 10 ? `{"Id":${id}${index}}` : undefined;
      },
    });
  };
  const answers = await Promise.all(
    ['1', '2', '3'].map((id) => proxy.call('Rows', { path: `/api/Rows?id=${id}` })),
  );
  for (const [index, { body, complete }] of answers.entries()) {
    expect(complete).toBe(true);
    expect(JSON.parse(body)).toEqual(
      Array.from({ length: 10 }, (_, row) => ({ Id: Number(`${index + 1}${row}`) })),
    );
  }
});

test('other HTTP servers of the process are left alone', async () => {
  const server: Server = createServer((request, response) => {
    response.end(String(response.listenerCount('close') + request.listenerCount('close')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const listeners = await new Promise<string>((resolve) => {
    get({ port, host: '127.0.0.1' }, (response) => {
      response.setEncoding('utf8').on('data', resolve);
    });
  });
  server.close();
  expect(listeners).toBe('0');
});
