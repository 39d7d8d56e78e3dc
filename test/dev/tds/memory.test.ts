/** What hostile peers may not do: stop the server, hold up the others, or leave memory behind. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { collectGarbage } from '../../helpers/collect-garbage.js';
import { within } from '../../helpers/sql-client.js';
import { TestEngine } from '../../helpers/tds-engine.js';
import { batch, packets, RawClient } from '../../helpers/tds-raw-client.js';
import { tokensOf } from '../../helpers/tds-tokens.js';

/** Bytes that are held after a collection: objects and buffers. */
async function heldBytes(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    await sleep(20);
    collectGarbage();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
const megabyte = 2 ** 20;

const engine = new TestEngine();
let server: TdsServer;
beforeAll(async () => {
  server = await startTdsServer({ engine, port: 0, loginTimeoutMs: 60_000 });
  // What is made once and kept: code pages, pooled buffers, compiled code.
  const client = await RawClient.login(server.port);
  client.send(packets(1, batch('rows 2000')));
  await client.answer();
  await client.close();
});
afterAll(() => server.close());

async function connections(count: number): Promise<void> {
  for (let wait = 0; wait < 2_000 && server.connections !== count; wait++) await sleep(10);
  expect(server.connections).toBe(count);
}
async function select(client: RawClient, number: number): Promise<void> {
  client.send(packets(1, batch(`select ${number}`)));
  const answer = await within(5_000, 'an answer', client.answer());
  expect(tokensOf(answer!.payload)).toContainEqual({ kind: 'row', values: [number] });
}

/** The open files that a process may have; each connection costs one on either side. */
const openFiles = Number(spawnSync('sh', ['-c', 'ulimit -n']).stdout.toString()) || 1_024;
const silentCount = Math.min(10_000, openFiles - 400);

/** A process whose connections say `first`, in hexadecimal, and nothing more; settles when all are open. */
async function silentPeers(first: string): Promise<ChildProcess> {
  const code = `
    const { connect } = require('node:net');
    let open = 0;
    let begun = 0;
    const begin = () => {
      if (begun++ >= ${silentCount}) return;
      const socket = connect(${server.port}, '127.0.0.1', () => {
        socket.write(Buffer.from('${first}', 'hex'));
        if (++open === ${silentCount}) process.stdout.write('open');
        begin();
      });
      socket.on('error', () => {});
    };
    for (let at = 0; at < 200; at++) begin();`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await within(30_000, `${silentCount} connections`, once(child.stdout!, 'data'));
  return child;
}

test.each([
  ['nothing at all', ''],
  ['half a packet', '12010040000000'],
])(
  `${silentCount} connections that say %s: others go on and come in, and memory returns`,
  { timeout: 60_000 },
  async (_, first) => {
    const before = await heldBytes();
    const session = await RawClient.login(server.port);
    const peers = await silentPeers(first);
    await connections(silentCount + 1);
    await select(session, 1);
    const later = await RawClient.login(server.port);
    await select(later, 2);
    await later.close();
    const each = ((await heldBytes()) - before) / silentCount;
    // Node's own socket is most of it.
    expect(each).toBeLessThan(20_000);
    peers.kill('SIGKILL');
    await connections(1);
    await select(session, 3);
    await session.close();
    await connections(0);
    expect((await heldBytes()) - before).toBeLessThan(16 * megabyte);
  },
);

test('a batch of 100 MB is refused with a number, little of it is ever held, and the session goes on', async () => {
  const client = await RawClient.login(server.port);
  const other = await RawClient.login(server.port);
  const before = await heldBytes();
  const piece = packets(1, Buffer.alloc(1_000_000), 32_767);
  // The last packet of each piece ends no message.
  piece[Math.floor(1_000_000 / 32_759) * 32_767 + 1] = 0;
  for (let sent = 0; sent < 100; sent++) {
    client.send(piece);
    if (client.socket.writableNeedDrain) await once(client.socket, 'drain');
    if (sent % 25 === 0) await select(other, sent);
  }
  expect((await heldBytes()) - before).toBeLessThan(4 * megabyte);
  client.send(packets(1, Buffer.alloc(8)));
  const { payload } = (await within(10_000, 'the refusal', client.answer()))!;
  expect(tokensOf(payload)[0]).toMatchObject({
    number: 40510,
    text: 'A request of over 16777216 bytes is not supported by the embedded server.',
  });
  await select(client, 4);
  await Promise.all([client.close(), other.close()]);
});

test('a peer that breaks off amid 16 MB, or amid its rows, leaves nothing behind', async () => {
  const before = await heldBytes();
  for (let round = 0; round < 10; round++) {
    const sending = await RawClient.login(server.port);
    const part = packets(1, Buffer.alloc(8_000_000), 32_767);
    part[part.length - (8_000_000 % 32_759) - 8 + 1] = 0;
    sending.send(part);
    const reading = await RawClient.login(server.port);
    reading.send(packets(1, batch('rows 10000000')));
    reading.socket.pause();
    await sleep(30);
    sending.socket.destroy();
    reading.socket.resetAndDestroy();
  }
  await connections(0);
  expect(engine.sessions.every(({ isClosed }) => isClosed)).toBe(true);
  engine.sessions.length = 0;
  expect((await heldBytes()) - before).toBeLessThan(16 * megabyte);
});

test('thousands of sessions that came and went leave nothing behind', { timeout: 60_000 }, async () => {
  const round = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done += 50) {
      const clients = await Promise.all(Array.from({ length: 50 }, () => RawClient.login(server.port)));
      await Promise.all(clients.map((client, index) => select(client, index)));
      await Promise.all(clients.map((client) => client.close()));
    }
    await connections(0);
    for (const list of [engine.sessions, engine.logins, engine.executions]) list.length = 0;
  };
  await round(200);
  const before = await heldBytes();
  await round(1_000);
  expect((await heldBytes()) - before).toBeLessThan(4 * megabyte);
});
