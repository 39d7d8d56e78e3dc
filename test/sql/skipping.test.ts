/** Rows that nobody wants still have to be read, since the end of the response comes after them: without holding up the process. */
import { afterEach, expect, test, vi } from 'vitest';
import { defineCommand, poolStats } from '../../src/sql/index.js';
import { all, within } from '../helpers/sql-client.js';
import { serveRaw } from '../helpers/sql-raw-hooks.js';
import { attentionAcknowledged, colMetadata, done, type RawSession } from '../helpers/sql-raw-server.js';
import { idRow, recordset } from '../helpers/sql-script.js';

const metadata = colMetadata([{ name: 'Id', typeInfo: Buffer.from([0x38]), nullable: false }]);
const rowsInPacket = 800;
const packet = Buffer.concat(Array.from({ length: rowsInPacket }, (_, index) => idRow(index)));
const packets = 1_000;

const server = serveRaw();

afterEach(() => {
  vi.restoreAllMocks();
});

/** As fast as the socket takes them, so that each turn of the client's event loop finds many. */
async function sendRows(session: RawSession): Promise<void> {
  await session.send(metadata, [4_088], false);
  await session.send(Buffer.concat(Array.from({ length: packets }, () => packet)), [packet.length], false);
}

function open(commandText: string) {
  const command = defineCommand(
    { commandText, connectionStringSetting: 'S' },
    { S: server.connectionString },
  );
  return command.open(command.values({}));
}

/** Turns of the event loop until then, on a clock by which every look at it finds the share of the turn used up. */
async function turnsUntil(promise: Promise<unknown>): Promise<number> {
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 10));
  let turns = 0;
  let ended = false;
  const count = () => {
    turns++;
    if (!ended) setImmediate(count);
  };
  setImmediate(count);
  await within(15_000, 'the end of the response', promise);
  ended = true;
  return turns;
}

test('the rest of a cancelled response leaves turns of the event loop to others', async () => {
  server.respond = async (request, session) => {
    if (request.type !== 6) return sendRows(session);
    // What the server had made before it saw the ATTENTION.
    await session.send(Buffer.concat([idRow(1), done(0, 0x02)]));
    await session.send(attentionAcknowledged);
  };
  const source = await open('rows');
  expect(await turnsUntil(source.cancel())).toBeGreaterThan(packets / 10);
  expect(poolStats()).toMatchObject([{ used: 0, free: 1 }]);
});

test('so do the recordsets after the first, and the connection is clean for the next command', async () => {
  server.respond = async (_request, session) => {
    const [first, next] = [recordset(1), recordset(2)];
    // DONE_MORE: another one follows.
    first.writeUInt16LE(0x11, first.length - 12);
    await session.send(first, [4_088], false);
    await sendRows(session);
    await session.send(done(packets * rowsInPacket, 0x10));
    server.respond = (_next, same) => same.send(next);
  };
  const rows = open('rows').then((source) => all(source.rows()));
  expect(await turnsUntil(rows)).toBeGreaterThan(packets / 10);
  expect(await rows).toEqual([{ Id: 1 }]);
  expect(await all((await open('next')).rows())).toEqual([{ Id: 2 }]);
});
