/** 1,000 clients that leave: each has its command cancelled at the server by an ATTENTION, and the pool stays as it was. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { poolStats, sqlStream } from '../src/index.js';
import { proxied } from './helpers/proxied.js';
import { within } from './helpers/run.js';
import { RawServer } from './helpers/sql-raw-server.js';
import { counts, script } from './helpers/sql-script.js';

/** Clients at the same time, each with an endpoint of its own, so that it knows when its command has begun. */
const lanes = 10;
const rounds = 25;

let server: RawServer;
/** By the text of the command: told when it has come to the server. */
const begun = new Map<string, () => void>();

function endpoint(commandText: string, isMapped: boolean) {
  const stream = sqlStream({ commandText, connectionStringSetting: 'TestSql' });
  if (!isMapped) return stream.handler();
  return stream.handler(async function* (request, context) {
    for await (const row of stream.rows(request, context)) yield row;
  });
}

beforeAll(async () => {
  server = await new RawServer((request, session) => {
    begun.get(request.text)?.();
    return script(request, session);
  }).listen();
});
afterAll(() => server.close());

const functions = proxied(() => {
  process.env['TestSql'] = `${server.connectionString};Max Pool Size=${lanes}`;
  const names = ['wait', 'stream'].flatMap((verb) =>
    Array.from({ length: lanes }, (_, lane) => `${verb} ${lane}`),
  );
  // Every other one through rows().
  return Object.fromEntries(names.map((name, at) => [name.replace(' ', ''), endpoint(name, at % 2 === 1)]));
});

async function leaveOnce(verb: 'wait' | 'stream', lane: number, how: 'FIN' | 'RST'): Promise<void> {
  const atServer = new Promise<void>((resolve) => begun.set(`${verb} ${lane}`, resolve));
  const { socket, ended } = functions.proxy.open(`${verb}${lane}`);
  const started = verb === 'wait' ? atServer : new Promise((resolve) => socket.once('data', resolve));
  await within(10_000, `the begin of ${verb}`, started);
  if (how === 'FIN') socket.destroy();
  else socket.resetAndDestroy();
  expect(await within(10_000, `the end of ${verb}`, ended)).toBeUndefined();
}

test.each([
  ['before the first row', 'FIN', 'wait'],
  ['before the first row', 'RST', 'wait'],
  ['amid rows', 'FIN', 'stream'],
  ['amid rows', 'RST', 'stream'],
] as const)(
  '250 clients that leave %s (%s) have their commands cancelled by ATTENTION, and the pool has its connections',
  async (_, how, verb) => {
    const before = counts.attentions;
    await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        for (let round = 0; round < rounds; round++) await leaveOnce(verb, lane, how);
      }),
    );
    await vi.waitFor(() => expect(counts.attentions - before).toBe(lanes * rounds), { timeout: 10_000 });
    // No connection was lost and none was made in its place: those of the first round have served all.
    await vi.waitFor(
      () => expect(poolStats()).toMatchObject([{ used: 0, pending: 0, connecting: 0, max: lanes }]),
      { timeout: 10_000 },
    );
    expect(poolStats()[0]?.free).toBe(server.sessions.size);
    expect(server.logins.length).toBe(server.sessions.size);
    expect(server.sessions.size).toBeLessThanOrEqual(lanes);
  },
);
