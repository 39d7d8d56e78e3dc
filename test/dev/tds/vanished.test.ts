import { setTimeout as sleep } from 'node:timers/promises';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCertificate } from '../../../src/dev/cli/certificate.js';
import type { Login, SqlEngine } from '../../../src/dev/sql-engine.js';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { within } from '../../helpers/sql-client.js';
import { TestEngine } from '../../helpers/tds-engine.js';
import { rpc } from '../../helpers/tds-parameters.js';
import { batch, login7, packets, preloginPayload, RawClient } from '../../helpers/tds-raw-client.js';

const engine = new TestEngine();
/** Takes its time with the login, so that a peer can go meanwhile. */
const slow: SqlEngine = {
  async login(login: Login) {
    await sleep(100);
    return engine.login(login);
  },
  close: () => engine.close(),
};
const lines: string[] = [];
let server: TdsServer;
let slowServer: TdsServer;
beforeAll(async () => {
  const options = { port: 0, tls: await createCertificate(), log: (line: string) => lines.push(line) };
  server = await startTdsServer({ ...options, engine });
  slowServer = await startTdsServer({ ...options, engine: slow });
});
afterAll(() => Promise.all([server.close(), slowServer.close()]));

const prelogin = packets(0x12, preloginPayload);
const wantsTls = Buffer.from(prelogin);
wantsTls[wantsTls.length - 1] = 1;

type Phase = (client: RawClient) => Promise<void> | void;
const afterPrelogin =
  (then: Phase): Phase =>
  async (client) => {
    client.send(prelogin);
    await client.answer();
    await then(client);
  };
const loggedIn = (then: Phase): Phase =>
  afterPrelogin(async (client) => {
    client.send(packets(0x10, login7()));
    await client.answer();
    await then(client);
  });

const phases: Record<string, Phase> = {
  'before a byte': () => {},
  'amid the first header': (client) => client.send(prelogin.subarray(0, 5)),
  'amid PRELOGIN': (client) => client.send(prelogin.subarray(0, 15)),
  'after PRELOGIN': afterPrelogin(() => {}),
  'after the wish for TLS': async (client) => {
    client.send(wantsTls);
    await client.answer();
  },
  'amid the TLS handshake': async (client) => {
    client.send(wantsTls);
    await client.answer();
    // The head of a ClientHello, and no more.
    client.send(packets(0x12, Buffer.from('16030102000100', 'hex')));
    await sleep(20);
  },
  'amid LOGIN7': afterPrelogin((client) => client.send(packets(0x10, login7()).subarray(0, 60))),
  'while the engine logs it in': afterPrelogin((client) => client.send(packets(0x10, login7()))),
  'when idle': loggedIn(() => {}),
  'amid a request of one packet': loggedIn((client) =>
    client.send(packets(1, batch('select 1')).subarray(0, 20)),
  ),
  'between the packets of a request': loggedIn((client) =>
    client.send(packets(3, rpc('x'.repeat(2_000), []), 512).subarray(0, 1_024)),
  ),
  'while a request runs': loggedIn((client) => client.send(packets(1, batch('wait 60000')))),
  'amid its rows': loggedIn(async (client) => {
    client.send(packets(1, batch('rows 100000000')));
    while (client.packetSizes.length < 5) await sleep(1);
  }),
  'with its rows unread': loggedIn(async (client) => {
    client.send(packets(1, batch('rows 100000000')));
    client.socket.pause();
    await sleep(100);
  }),
  'after ATTENTION, before its acknowledgement': loggedIn((client) =>
    client.send(Buffer.concat([packets(1, batch('wait 60000')), packets(6, Buffer.alloc(0))])),
  ),
};
const ways: Record<string, (client: RawClient) => void> = {
  'closes its socket': (client) => client.socket.destroy(),
  'is reset': (client) => client.socket.resetAndDestroy(),
  'ends its side': (client) => client.socket.end(),
};
const cases = Object.keys(phases).flatMap((phase) => Object.keys(ways).map((way) => [way, phase] as const));

test.each(cases)('a peer that %s %s leaves no connection and no session', async (way, phase) => {
  const target = phase.startsWith('while the engine') ? slowServer : server;
  const client = new RawClient(target.port);
  await within(5_000, 'the peer', Promise.resolve(phases[phase]!(client)));
  if (phase.startsWith('while the engine')) await sleep(20);
  ways[way]!(client);
  client.socket.resume();
  for (let wait = 0; wait < 500 && target.connections > 0; wait++) await sleep(5);
  expect([target.connections, target.sessions]).toEqual([0, 0]);
  // A login under way ends in a session that is closed at once.
  for (let wait = 0; wait < 100 && engine.sessions.some(({ isClosed }) => !isClosed); wait++) await sleep(5);
  expect(engine.sessions.filter(({ isClosed }) => !isClosed)).toEqual([]);
});

test('a client of bare TLS ends, and so does one that gives up the handshake with an alert', async () => {
  const bare = tlsConnect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
  const ended = new Promise<void>((resolve) =>
    bare.on('error', () => resolve()).on('close', () => resolve()),
  );
  await within(5_000, 'the end', ended);
  const client = new RawClient(server.port);
  client.send(wantsTls);
  await client.answer();
  client.send(packets(0x12, Buffer.from('15030300020228', 'hex')));
  expect(await within(5_000, 'the end', client.answer())).toBeUndefined();
  for (let wait = 0; wait < 500 && server.connections > 0; wait++) await sleep(5);
  expect(server.connections).toBe(0);
});

test('nothing unforeseen was logged', () => {
  expect(lines.filter((line) => line.includes('Internal error'))).toEqual([]);
});
