/** Responses whose packets come in pieces, however the network cuts and joins them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { defineCommand, poolStats } from '../../src/sql/index.js';
import { all, within } from '../helpers/sql-client.js';
import { serveRaw } from '../helpers/sql-raw-hooks.js';
import { attentionAcknowledged, done, type RawSession } from '../helpers/sql-raw-server.js';
import { idRow, recordset } from '../helpers/sql-script.js';

const server = serveRaw();
async function open(commandText = 'rows') {
  const command = defineCommand(
    { commandText, connectionStringSetting: 'S' },
    { S: server.connectionString },
  );
  return within(5_000, 'the response', command.open(command.values({})));
}

const rows = async () => within(10_000, 'the rows', all((await open()).rows()));

/** A packet of a response; `length` replaces what its header says. */
function packet(payload: Buffer, isLast: boolean, length = payload.length + 8): Buffer {
  const header = Buffer.from([4, isLast ? 1 : 0, 0, 0, 0, 0, 1, 0]);
  header.writeUInt16BE(length, 2);
  return Buffer.concat([header, payload]);
}

const none = Buffer.alloc(0);
const tokens = recordset(1, 2, 3);
const cut = Math.floor(tokens.length / 2);
const expected = [{ Id: 1 }, { Id: 2 }, { Id: 3 }];

async function sendPieces({ socket }: RawSession, bytes: Buffer, size: number): Promise<void> {
  socket.setNoDelay(true);
  for (let at = 0; at < bytes.length; at += size) {
    socket.write(bytes.subarray(at, at + size));
    await nextTurn();
  }
}

test('a read of the socket may end at any byte of a packet, of its header too', async () => {
  const bytes = Buffer.concat([packet(tokens.subarray(0, cut), false), packet(tokens.subarray(cut), true)]);
  for (const size of [1, 3, 7, 8, 11]) {
    server.respond = (_request, session) => sendPieces(session, bytes, size);
    expect(await rows(), `reads of ${size} bytes`).toEqual(expected);
  }
});

test('packets without a payload are passed over, wherever they are', async () => {
  const [first, rest] = [tokens.subarray(0, cut), tokens.subarray(cut)];
  const empty = packet(none, false);
  const bytes = Buffer.concat([empty, packet(first, false), empty, packet(rest, false), packet(none, true)]);
  for (const size of [bytes.length, 8]) {
    server.respond = (_request, session) => sendPieces(session, bytes, size);
    expect(await rows(), `reads of ${size} bytes`).toEqual(expected);
  }
});

test('the end of a cancelled response and the acknowledgement may come in one read', async () => {
  server.respond = async (request, session) => {
    if (request.type !== 6) return session.send(recordset(1).subarray(0, -13), [4_088], false);
    const rest = packet(Buffer.concat([idRow(2), done(2, 0x12)]), true);
    session.socket.write(Buffer.concat([rest, packet(attentionAcknowledged, true)]));
  };
  const source = await open();
  await within(5_000, 'the cancel', source.cancel());
  expect(poolStats()).toMatchObject([{ used: 0, free: 1 }]);
  server.respond = (_request, session) => session.send(tokens);
  expect(await rows()).toEqual(expected);
});

test('a packet shorter than its header ends the connection, and the reader is told', async () => {
  server.respond = (_request, session) => {
    session.socket.write(Buffer.concat([packet(tokens.subarray(0, -13), false), packet(none, false, 7)]));
  };
  await expect(rows()).rejects.toMatchObject({ code: 'EConnectionLost' });
  expect(poolStats()).toMatchObject([{ used: 0 }]);
  server.respond = (_request, session) => session.send(tokens);
  expect(await rows()).toEqual(expected);
});
