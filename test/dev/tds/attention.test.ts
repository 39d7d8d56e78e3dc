import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { TestEngine } from '../../helpers/tds-engine.js';
import { rpc } from '../../helpers/tds-parameters.js';
import { batch, packets } from '../../helpers/tds-raw-client.js';
import { serveRawClient } from '../../helpers/tds-server.js';
import type { Token } from '../../helpers/tds-tokens.js';

const engine = new TestEngine();
const wire = serveRawClient(engine, { packetSize: 512 });
const { answer } = wire;

const attention = packets(6, Buffer.alloc(0));
const batches = () => engine.sessions.at(-1)!.batches;

/** An acknowledgement has a message of its own, and the session goes on behind it. */
async function acknowledged(): Promise<void> {
  expect(await answer('the acknowledgement')).toEqual([
    { kind: 'done', status: 0x20, command: 0xfd, count: 0 },
  ]);
  wire.client.send(packets(1, batch('select 77'), 512));
  expect(await answer('the next response')).toContainEqual({ kind: 'row', values: [77] });
}

/** A response that was cut: it ends in a DONE, without MORE and without the bit of the acknowledgement. */
async function responded(): Promise<Token[]> {
  const tokens = await answer('the response');
  const last = tokens.at(-1);
  expect(last).toMatchObject({ kind: 'done' });
  expect((last as { status: number }).status & 0x21).toBe(0);
  return tokens;
}

test('in one chunk with the request, it comes before the engine begins', async () => {
  wire.client.send(Buffer.concat([packets(1, batch('rows 10'), 512), attention]));
  expect(await responded()).toHaveLength(1);
  expect(batches()).toEqual([]);
  await acknowledged();
});

test('amid a response of many packets, what was begun is ended with whole tokens', async () => {
  wire.client.send(packets(1, batch('rows 100000000'), 512));
  while (wire.client.packetSizes.length < 20) await sleep(5);
  wire.client.send(attention);
  const tokens = await responded();
  expect(tokens.filter(({ kind }) => kind === 'row' || kind === 'nbcRow').length).toBeGreaterThan(10);
  await acknowledged();
});

test('while the client reads nothing, it is heard all the same', async () => {
  wire.client.send(packets(1, batch('rows 100000000'), 512));
  while (wire.client.packetSizes.length < 20) await sleep(5);
  wire.client.socket.pause();
  const session = engine.sessions.at(-1)!;
  let made = -1;
  for (let wait = 0; wait < 100 && made !== session.rows; wait++) {
    made = session.rows;
    await sleep(50);
  }
  wire.client.send(attention);
  await sleep(50);
  wire.client.socket.resume();
  await responded();
  await acknowledged();
});

test('after the response, and when idle for long, it is acknowledged alone', async () => {
  wire.client.send(packets(1, batch('select 1'), 512));
  await responded();
  wire.client.send(attention);
  await acknowledged();
  wire.client.send(attention);
  await acknowledged();
});

test('at any moment round a short response, the messages are the response and the acknowledgement', async () => {
  for (let round = 0; round < 300; round++) {
    wire.client.send(packets(1, batch('rows 30'), 512));
    for (let turn = round % 7; turn > 0; turn--) await new Promise(setImmediate);
    wire.client.send(attention);
    await responded();
    await acknowledged();
  }
});

test('between the statements of a call, what ran keeps its DONEINPROC, and the call ends in a DONEPROC', async () => {
  wire.client.send(packets(3, rpc('select 1; wait 60000', []), 512));
  await sleep(50);
  wire.client.send(attention);
  const tokens = await answer('the response');
  expect(tokens.flatMap((token) => ('status' in token ? [`${token.kind} ${token.status}`] : []))).toEqual([
    'doneInProc 17',
    'doneProc 0',
  ]);
  await acknowledged();
});

const long = packets(1, batch(`select 1; print ${'x'.repeat(2_000)}`), 512);
const someOfIt = long.subarray(0, 3 * 512);

test('a request that ends with the ignore bit is not run; it gets a response, and ATTENTION its own', async () => {
  const ignore = Buffer.from([1, 3, 0, 8, 0, 0, 4, 0]);
  wire.client.send(Buffer.concat([someOfIt, ignore]));
  expect(await responded()).toHaveLength(1);
  wire.client.send(Buffer.concat([someOfIt, ignore, attention]));
  expect(await responded()).toHaveLength(1);
  expect(batches()).toEqual([]);
  await acknowledged();
});

test('between the packets of a request, it takes its place: acknowledged, and nothing is run', async () => {
  wire.client.send(someOfIt);
  await sleep(20);
  wire.client.send(attention);
  await acknowledged();
  expect(batches()).toEqual(['select 77']);
});
