/** Requests that fit one packet go out by a way of their own; what the server gets, and what a cancel does, must not show it. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { closePools, defineCommand } from '../../src/sql/index.js';
import { collectGarbage } from '../helpers/collect-garbage.js';
import { all, within } from '../helpers/sql-client.js';
import { attentionAcknowledged, done, type RawRequest, RawServer } from '../helpers/sql-raw-server.js';
import { recordset } from '../helpers/sql-script.js';

const seen: RawRequest[] = [];
let server: RawServer;

beforeAll(async () => {
  server = await new RawServer((request, session) => {
    seen.push(request);
    if (request.type === 6) {
      // The cancelled response ends before the acknowledgement, which is a message of its own.
      void session.send(done(0, 0x02)).then(() => session.send(attentionAcknowledged));
    } else if (!request.text.startsWith('silent')) void session.send(recordset(1));
  }).listen(0);
});
afterAll(async () => {
  await closePools(0);
  await server.close();
});

const open = (commandText: string, values: Record<string, string> = {}) => {
  const connectionString = `${server.connectionString};Max Pool Size=1;Packet Size=512`;
  const command = defineCommand({ commandText, connectionStringSetting: 'S' }, { S: connectionString });
  return command.open(command.values(values));
};

test('the server gets a request whole, whatever its length, in packets of the agreed size', async () => {
  // ALL_HEADERS takes 22 bytes and each packet's header 8: 241 characters fit.
  for (let length = 235; length <= 250; length++) {
    const text = `select '${'é'.repeat(length - 9)}'`;
    await all((await open(text)).rows());
    expect(seen.at(-1)).toMatchObject({ type: 1, text });
  }
  expect(server.longestPacket).toBe(512);
});

test('the server gets parameters whole, whatever their length', async () => {
  for (const length of [0, 1, 100, 150, 200, 250, 3_000]) {
    const value = 'ж'.repeat(length);
    await all((await open('select @value', { value })).rows());
    expect(seen.at(-1)!.type).toBe(3);
    expect(seen.at(-1)!.data.toString('utf16le')).toContain(value);
    expect(seen.at(-1)!.data.includes(Buffer.from(value, 'utf16le'))).toBe(true);
  }
});

test('every request but the first of its connection carries RESETCONNECTION', async () => {
  seen.length = 0;
  const connectionString = `${server.connectionString};Max Pool Size=1;Application Name=reset`;
  const command = defineCommand({ commandText: 'a', connectionStringSetting: 'S' }, { S: connectionString });
  for (let n = 0; n < 4; n++) await all((await command.open(command.values({}))).rows());
  expect(seen.map(({ reset }) => reset)).toEqual([false, true, true, true]);
});

test('a cancel right after the sending is an ATTENTION, and the connection is used again', async () => {
  const logins = server.logins.length;
  for (let n = 0; n < 20; n++) {
    seen.length = 0;
    const controller = new AbortController();
    const command = defineCommand(
      { commandText: 'silent', connectionStringSetting: 'S' },
      { S: `${server.connectionString};Max Pool Size=1;Application Name=cancel` },
    );
    const opening = command.open(command.values({}), { signal: controller.signal });
    opening.catch(() => {});
    await within(
      5_000,
      'the request',
      vi.waitUntil(() => seen.length > 0, { interval: 1 }),
    );
    controller.abort();
    await expect(within(5_000, 'the cancel', opening)).rejects.toMatchObject({ code: 'EAborted' });
    await within(
      5_000,
      'the ATTENTION',
      vi.waitUntil(() => seen.length > 1, { interval: 1 }),
    );
    expect(seen.map(({ type }) => type)).toEqual([1, 6]);
  }
  expect(server.logins).toHaveLength(logins + 1);
});

test('a connection that waits for its next request holds nothing of the last response', async () => {
  const columns = await (async () => {
    const source = await open('select 1');
    await all(source.rows());
    return new WeakRef(source.columns);
  })();
  await within(
    5_000,
    'the collection',
    (async () => {
      while (columns.deref() !== undefined) {
        await new Promise(setImmediate);
        collectGarbage();
      }
    })(),
  );
});
