/**
 * Spoilt messages, in spoilt packets, in any pieces. FUZZ_MS sets the time (default 3,000 ms), FUZZ_SEED repeats a run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startTdsServer } from '../../../src/dev/tds/server.js';
import { randomOf } from '../../helpers/random.js';
import { within } from '../../helpers/sql-client.js';
import { TestEngine } from '../../helpers/tds-engine.js';
import { rpc, samples } from '../../helpers/tds-parameters.js';
import { batch, login7, packets, preloginPayload, RawClient } from '../../helpers/tds-raw-client.js';

const budgetMs = Number(process.env['FUZZ_MS'] ?? 3_000);
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

type Random = (below: number) => number;
const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)]!;
const interesting = [0, 1, 2, 0x7f, 0x80, 0xfe, 0xff];

function spoil(random: Random, bytes: Buffer): Buffer {
  let spoilt: Buffer = Buffer.from(bytes);
  for (let times = random(4); times > 0 && spoilt.length > 0; times--) {
    const at = random(spoilt.length);
    switch (random(6)) {
      case 0:
        spoilt[at] = random(256);
        break;
      case 1:
        spoilt[at] = pick(random, interesting);
        break;
      case 2:
        spoilt = spoilt.subarray(0, at);
        break;
      case 3:
        spoilt = Buffer.concat([
          spoilt.subarray(0, at),
          spoilt.subarray(Math.min(spoilt.length, at + 1 + random(8))),
        ]);
        break;
      case 4:
        spoilt = Buffer.concat([
          spoilt.subarray(0, at),
          Buffer.alloc(1 + random(8), random(256)),
          spoilt.subarray(at),
        ]);
        break;
      default:
        if (at + 4 <= spoilt.length)
          spoilt.writeUInt32LE(pick(random, [0, 1, 0x7fff_ffff, 0xffff_ffff, 0x8000_0000]), at);
    }
  }
  return spoilt;
}

const types = [1, 3, 4, 6, 7, 8, 14, 16, 17, 18];
const transactions = ['0500 00 00', '0700 00 00', '0800 00 01 00 00', '0900 02 6100', '0000'];

function payloadOf(random: Random): [type: number, payload: Buffer] {
  switch (random(6)) {
    case 0:
      return [1, batch(pick(random, ['select 1', 'rows 50', 'error 8134', 'print x', 'proc']))];
    case 1:
      return [6, Buffer.alloc(0)];
    case 2: {
      const request = Buffer.from(pick(random, transactions).replaceAll(' ', ''), 'hex');
      return [14, Buffer.concat([batch(''), request])];
    }
    case 3:
      return [pick(random, types), Buffer.from(Array.from({ length: random(200) }, () => random(256)))];
    default: {
      const given = Array.from({ length: 1 + random(4) }, () => {
        const [type, values] = pick(random, samples);
        return { type, value: random(5) === 0 ? null : pick(random, values) };
      });
      return [3, rpc('echo', given, pick(random, [10, 11, 12, 13, 15, random(70_000) & 0xffff]))];
    }
  }
}

async function attack(random: Random, port: number): Promise<void> {
  const client = new RawClient(port);
  const isLoggedIn = random(4) > 0;
  const send = (type: number, payload: Buffer): void => {
    const size = pick(random, [512, 4096, 32_767]);
    let bytes = packets(type, random(2) === 0 ? spoil(random, payload) : payload, size);
    if (random(3) === 0) bytes = spoil(random, bytes);
    while (bytes.length > 0) {
      const part = random(3) === 0 ? 1 + random(bytes.length) : bytes.length;
      client.send(bytes.subarray(0, part));
      bytes = bytes.subarray(part);
    }
  };
  if (isLoggedIn) {
    client.send(packets(0x12, preloginPayload));
    await client.answer();
    client.send(packets(0x10, login7()));
    await client.answer();
  } else {
    send(0x12, preloginPayload);
    if (random(2) === 0) send(0x10, login7());
  }
  for (let message = random(5); message >= 0; message--) {
    send(...payloadOf(random));
    // Most answers come; half a message has none.
    await Promise.race([client.answer(), sleep(20)]);
  }
  await client.close();
}

test(`spoilt bytes never stop the server (FUZZ_SEED=${seed})`, { timeout: budgetMs + 20_000 }, async () => {
  const lines: string[] = [];
  const engine = new TestEngine();
  const server = await startTdsServer({ engine, port: 0, log: (line) => lines.push(line) });
  const end = Date.now() + budgetMs;
  let attacks = 0;
  const worker = async (number: number): Promise<void> => {
    const random = randomOf(seed + number);
    for (; Date.now() < end; attacks++) await attack(random, server.port);
  };
  const healthy = async (): Promise<void> => {
    const client = await RawClient.login(server.port);
    while (Date.now() < end) {
      client.send(packets(1, batch('select 3')));
      const answer = await within(5_000, 'a sound session goes on', client.answer());
      expect(answer?.payload.includes(Buffer.from([0xd1, 3, 0, 0, 0]))).toBe(true);
      await sleep(5);
    }
    await client.close();
  };
  await Promise.all([healthy(), ...Array.from({ length: 32 }, (_, number) => worker(number))]);
  for (let wait = 0; wait < 300 && server.connections > 0; wait++) await sleep(10);
  console.log(`Fuzz: ${attacks} attacks in ${budgetMs} ms, FUZZ_SEED=${seed}`);
  expect(lines.filter((line) => line.includes('Internal error')).slice(0, 3)).toEqual([]);
  expect(server.connections).toBe(0);
  expect(engine.sessions.filter((session) => !session.isClosed)).toEqual([]);
  await server.close();
});
