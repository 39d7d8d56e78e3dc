import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { within } from '../../helpers/sql-client.js';
import { TestEngine } from '../../helpers/tds-engine.js';
import { rpc } from '../../helpers/tds-parameters.js';
import {
  type Answer,
  allHeaders,
  batch,
  login7,
  packets,
  preloginPayload,
  RawClient,
} from '../../helpers/tds-raw-client.js';
import { tokensOf } from '../../helpers/tds-tokens.js';

const engine = new TestEngine();
const lines: string[] = [];
let server: TdsServer;
beforeAll(async () => {
  server = await startTdsServer({ engine, port: 0, loginTimeoutMs: 300, log: (line) => lines.push(line) });
});
afterAll(() => server.close());

const doneOf = ({ payload }: Answer) => {
  const token = payload.subarray(-13);
  return { type: token[0], status: token.readUInt16LE(1) };
};
const closes = (client: RawClient) => within(3_000, 'the connection closes', client.answer());
async function select(client: RawClient, number: number): Promise<void> {
  client.send(packets(1, batch(`select ${number}`)));
  const { payload } = (await within(3_000, 'an answer', client.answer()))!;
  expect(payload.includes(Buffer.from([0xd1, number, 0, 0, 0]))).toBe(true);
}

test('a connection that does not log in is dropped, also when it drips bytes', async () => {
  const silent = Array.from({ length: 300 }, () => new RawClient(server.port));
  const dripping = new RawClient(server.port);
  const timer = setInterval(() => dripping.send(Buffer.from([0x12])), 20);
  await Promise.all([...silent, dripping].map(closes));
  clearInterval(timer);
  for (let wait = 0; wait < 100 && server.connections > 0; wait++) await sleep(10);
  expect(server.connections).toBe(0);
});

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
test.each([
  ['an unknown packet type', hex('63 01 0008 0000 01 00')],
  ['a packet shorter than its header', hex('12 01 0007 0000 01 00')],
  ['a packet longer than any', hex('12 01 ffff 0000 01 00')],
  ['a packet of length 0', hex('12 01 0000 0000 01 00')],
  ['an empty PRELOGIN', hex('12 01 0008 0000 01 00')],
  ['an RPC before the login', packets(3, rpc('select 1', []))],
  ['an ATTENTION before the login', packets(6, Buffer.alloc(0))],
  ['a response', packets(4, hex('fd 0000 0000 0000000000000000'))],
  ['a login before PRELOGIN', packets(0x10, login7())],
  ['a batch before the login', packets(1, batch('select 1'))],
  ['TLS from the first byte (TDS 8)', hex('16 0301 0200 0100 01fc 0303')],
  ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
  ['a PRELOGIN option beyond the end', packets(0x12, hex('01 ff00 0001 ff'))],
  ['a PRELOGIN without an end', packets(0x12, hex('00 0006 0000'))],
])('%s ends the connection', async (_, bytes) => {
  const client = new RawClient(server.port);
  client.send(bytes);
  expect(await closes(client)).toBeUndefined();
});

const part = packets(1, batch('select 1'));
part[1] = 0;
test.each([
  ['an empty batch', hex('01 01 0008 0000 01 00')],
  ['an empty RPC', hex('03 01 0008 0000 01 00')],
  ['an RPC of headers alone', packets(3, allHeaders)],
  ['a transaction request that is not known', packets(14, Buffer.concat([allHeaders, hex('6300')]))],
  ['an empty transaction request', packets(14, allHeaders)],
  ['PRELOGIN once more', packets(0x12, preloginPayload)],
  ['LOGIN7 once more', packets(0x10, login7())],
  ['an unknown packet type', hex('63 01 0008 0000 01 00')],
  ['a packet of another type amid a message', Buffer.concat([part, packets(3, rpc('select 1', []))])],
])('%s after the login ends the connection, and its session', async (_, bytes) => {
  const client = await RawClient.login(server.port);
  const session = engine.sessions.at(-1)!;
  client.send(bytes);
  expect(await closes(client)).toBeUndefined();
  for (let wait = 0; wait < 100 && !session.isClosed; wait++) await sleep(5);
  expect(session.isClosed).toBe(true);
});

test('a request comes in pieces of a byte, and with empty packets amid it', async () => {
  const client = await RawClient.login(server.port);
  const whole = packets(1, batch('select 21'), 20);
  const empty = hex('01 00 0008 0000 00 00');
  const first = whole.subarray(0, 20);
  for (const byte of Buffer.concat([first, empty, empty, whole.subarray(20)])) client.send(Buffer.of(byte));
  const { payload } = (await within(3_000, 'an answer', client.answer()))!;
  expect(payload.includes(Buffer.from([0xd1, 21, 0, 0, 0]))).toBe(true);
  await client.close();
});

test('a LOGIN7 that is empty, or longer than it may be, ends the connection', async () => {
  for (const login of [Buffer.alloc(0), Buffer.alloc(200_000)]) {
    const client = new RawClient(server.port);
    client.send(packets(0x12, preloginPayload));
    await client.answer();
    client.send(packets(0x10, login));
    expect(await closes(client)).toBeUndefined();
  }
});

test('a distributed transaction is refused by name, and the session goes on', async () => {
  const client = await RawClient.login(server.port);
  client.send(packets(14, Buffer.concat([allHeaders, hex('0000 0000')])));
  const { payload } = (await within(3_000, 'the refusal', client.answer()))!;
  expect([payload[0], payload.readUInt32LE(3)]).toEqual([0xaa, 40510]);
  await select(client, 7);
  await client.close();
});

test('a LOGIN7 whose length or places lie ends the connection', async () => {
  for (const spoil of [
    (login: Buffer) => login.writeUInt32LE(0xffff_ffff, 0),
    (login: Buffer) => login.writeUInt16LE(0xfff0, 40),
    (login: Buffer) => login.writeUInt16LE(0xffff, 42),
    (login: Buffer) => login.writeUInt8(0x10, 27),
  ]) {
    const client = new RawClient(server.port);
    client.send(packets(0x12, preloginPayload));
    await client.answer();
    const login = login7();
    spoil(login);
    client.send(packets(0x10, login));
    expect(await closes(client)).toBeUndefined();
  }
});

test('a second request while the first runs ends the connection and aborts the first', async () => {
  const client = await RawClient.login(server.port);
  client.send(packets(1, batch('wait 60000')));
  client.send(packets(1, batch('select 1')));
  expect(await closes(client)).toBeUndefined();
});

test('ATTENTION when idle, and in one chunk with the request, is acknowledged in a message of its own', async () => {
  const client = await RawClient.login(server.port);
  client.send(packets(6, Buffer.alloc(0)));
  expect(doneOf((await client.answer())!)).toEqual({ type: 0xfd, status: 0x20 });
  for (let round = 0; round < 200; round++) {
    client.send(Buffer.concat([packets(1, batch('wait 60000')), packets(6, Buffer.alloc(0))]));
    expect(doneOf((await within(2_000, 'the response', client.answer()))!)).toEqual({
      type: 0xfd,
      status: 0,
    });
    expect(doneOf((await within(2_000, 'the acknowledgement', client.answer()))!).status).toBe(0x20);
  }
  await select(client, 9);
  await client.close();
});

test('a request that the client gave up while it sent gets a response all the same', async () => {
  const client = await RawClient.login(server.port);
  const part = packets(1, batch('wait 60000'));
  part[1] = 0;
  client.send(part);
  client.send(Buffer.from([1, 3, 0, 8, 0, 0, 2, 0]));
  expect(doneOf((await within(2_000, 'the response', client.answer()))!)).toEqual({ type: 0xfd, status: 0 });
  await select(client, 8);
  await client.close();
});

test('the reset flags reach the engine before the request, with and without the transaction', async () => {
  const client = await RawClient.login(server.port);
  const session = engine.sessions.at(-1)!;
  client.send(packets(1, batch('select 7'), 4096, 8));
  const { payload } = (await client.answer())!;
  expect(payload.subarray(0, 6)).toEqual(Buffer.from([0xe3, 3, 0, 18, 0, 0]));
  client.send(packets(1, batch('select 7'), 4096, 16));
  await client.answer();
  expect(session.resets).toEqual([false, true]);
  await client.close();
});

test('several calls in one message are answered one after another, and only the last DONEPROC ends it', async () => {
  const client = await RawClient.login(server.port);
  const first = rpc('error 208', []);
  const second = rpc('select 4', []).subarray(allHeaders.length);
  client.send(packets(3, Buffer.concat([first, Buffer.from([0xff]), second])));
  const { payload } = (await within(2_000, 'the answer', client.answer()))!;
  const returnStatus = (status: number) => Buffer.from([0x79, status, 0, 0, 0, 0xfe]);
  expect(payload.indexOf(returnStatus(208))).toBeGreaterThan(0);
  const at = payload.indexOf(returnStatus(0));
  expect([
    payload.readUInt16LE(payload.indexOf(returnStatus(208)) + 6),
    payload.readUInt16LE(at + 6),
  ]).toEqual([1, 0]);
  await client.close();
});

test('a batch of 100 MB is refused, bulk load is refused, and the connection goes on', async () => {
  const client = await RawClient.login(server.port);
  client.send(packets(1, Buffer.alloc(100_000_000), 32_767));
  const numberOf = ({ payload }: Answer) => payload.readUInt32LE(3);
  expect(numberOf((await within(10_000, 'the refusal', client.answer()))!)).toBe(40510);
  client.send(packets(7, Buffer.alloc(10_000)));
  expect(numberOf((await within(3_000, 'the refusal', client.answer()))!)).toBe(40510);
  await select(client, 6);
  await client.close();
});

test('requests under way on all connections have a limit together; what ends gives its room back', async () => {
  const small = await startTdsServer({ engine, port: 0, assemblyLimit: 100_000 });
  /** All but the last packet, which comes with `end`. */
  const begin = (client: RawClient, size: number) => {
    const whole = packets(1, Buffer.concat([batch(`select 3;${' '.repeat(size / 2)}`)]), 4_096);
    const at = whole.length - ((whole.length - 1) % 4_096) - 1;
    client.send(whole.subarray(0, at));
    return { end: () => client.send(whole.subarray(at)) };
  };
  const outcome = async (client: RawClient) =>
    tokensOf((await within(3_000, 'an answer', client.answer()))!.payload)[0];
  const refused = { kind: 'message', number: 40510, text: expect.stringContaining('100000 bytes') };
  const clients = await Promise.all(Array.from({ length: 3 }, () => RawClient.login(small.port)));
  const [first, second, third] = clients as [RawClient, RawClient, RawClient];
  const held = begin(first, 40_000);
  await sleep(50);
  // Not even its end frees what does not fit: the request is refused, and the session goes on.
  const over = begin(second, 60_000);
  await sleep(50);
  over.end();
  expect(await outcome(second)).toMatchObject(refused);
  await select(second, 5);
  // What came before goes on as well, and gives its room back at its end.
  held.end();
  expect(await outcome(first)).toMatchObject({ kind: 'columns' });
  begin(second, 60_000).end();
  expect(await outcome(second)).toMatchObject({ kind: 'columns' });
  // So do an ATTENTION amid a message, and the loss of the connection.
  begin(second, 60_000);
  await sleep(50);
  begin(third, 60_000).end();
  expect(await outcome(third)).toMatchObject(refused);
  second.send(packets(6, Buffer.alloc(0)));
  await outcome(second);
  begin(third, 60_000).end();
  expect(await outcome(third)).toMatchObject({ kind: 'columns' });
  begin(first, 60_000);
  await sleep(50);
  await first.close();
  for (let wait = 0; wait < 100 && small.connections > 2; wait++) await sleep(10);
  begin(third, 60_000).end();
  expect(await outcome(third)).toMatchObject({ kind: 'columns' });
  await small.close();
});

test('after all that, no connection is left, nothing unforeseen was logged, and the server serves', async () => {
  for (let wait = 0; wait < 200 && server.connections > 0; wait++) await sleep(10);
  expect(server.connections).toBe(0);
  expect(lines.filter((line) => line.includes('Internal error'))).toEqual([]);
  const client = await RawClient.login(server.port);
  client.send(packets(3, rpc('nothing', [])));
  await client.answer();
  await select(client, 4);
  await client.close();
});
