import { once } from 'node:events';
import { createConnection } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCertificate } from '../../../src/dev/cli/certificate.js';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { connect, run } from '../../helpers/tds-client.js';
import { TestEngine } from '../../helpers/tds-engine.js';

const engine = new TestEngine();
let server: TdsServer;
let plain: TdsServer;

beforeAll(async () => {
  server = await startTdsServer({ engine, port: 0, tls: await createCertificate() });
  plain = await startTdsServer({ engine, port: 0 });
});
/** What the server answers to a wish for encryption. */
async function encryptionReply(port: number, wish: number): Promise<number> {
  const socket = createConnection(port, '127.0.0.1');
  socket.write(Buffer.from([0x12, 1, 0, 15, 0, 0, 1, 0, 1, 0, 6, 0, 1, 0xff, wish]));
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  const payload = reply.subarray(8);
  expect([reply[0], payload[5]]).toEqual([4, 1]);
  return payload[payload.readUInt16BE(6)]!;
}

afterAll(() => Promise.all([server.close(), plain.close()]));

test('a client that asks for encryption gets TLS, and rows, a cancel and rows again go through it', async () => {
  const connection = await connect(server.port, { encrypt: true, packetSize: 32_767 });
  expect((await run(connection, 'rows 20000')).rows).toHaveLength(20_000);
  const cancelled = run(connection, 'rows 1000000', 'execSqlBatch', (request) => {
    request.once('row', () => connection.cancel());
  });
  await expect(cancelled).rejects.toMatchObject({ code: 'ECANCEL' });
  expect((await run(connection, 'select 8')).rows).toEqual([[8]]);
  connection.close();
});

test('a client that asks for no encryption is served without, by a server that has a certificate', async () => {
  const connection = await connect(server.port, { encrypt: false });
  expect((await run(connection, 'select 9')).rows).toEqual([[9]]);
  connection.close();
});

test('a server without a certificate says so in PRELOGIN, and one with it offers TLS or nothing', async () => {
  // ENCRYPT_OFF would encrypt the login only; 2 is ENCRYPT_NOT_SUP (MS-TDS 2.2.6.5).
  expect(await Promise.all([0, 1, 2, 3].map((wish) => encryptionReply(plain.port, wish)))).toEqual([
    2, 2, 2, 2,
  ]);
  expect(await Promise.all([0, 1, 2, 3].map((wish) => encryptionReply(server.port, wish)))).toEqual([
    2, 1, 2, 1,
  ]);
});

test('a hundred clients shake hands at once', async () => {
  const connections = await Promise.all(
    Array.from({ length: 100 }, () => connect(server.port, { encrypt: true })),
  );
  const results = await Promise.all(connections.map((connection) => run(connection, 'select 1')));
  expect(results.every(({ rows }) => rows[0]?.[0] === 1)).toBe(true);
  for (const connection of connections) connection.close();
});
