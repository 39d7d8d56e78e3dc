/** Every packet size is as good as another: PACKETS_SEED repeats a run. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SqlValue } from '../../../src/dev/sql-engine.js';
import { ByteWriter } from '../../../src/dev/tds/bytes.js';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { codecOf } from '../../../src/dev/tds/types.js';
import { randomOf } from '../../helpers/random.js';
import { within } from '../../helpers/sql-client.js';
import { TestEngine } from '../../helpers/tds-engine.js';
import { type Given, int, rpc, rpcCall } from '../../helpers/tds-parameters.js';
import { allHeaders, batch, packets, RawClient } from '../../helpers/tds-raw-client.js';
import { type Token, tokensOf } from '../../helpers/tds-tokens.js';

const seed = Number(process.env['PACKETS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const random = randomOf(seed);
const engine = new TestEngine();
let server: TdsServer;
beforeAll(async () => {
  server = await startTdsServer({ engine, port: 0 });
});
afterAll(() => server.close());

const text = (length: number) =>
  Array.from({ length }, () => String.fromCharCode(33 + random(9_000))).join('');
const bytes = (length: number) => Uint8Array.from({ length }, () => random(256));

/** Short, for a failure prints it. */
const digest = (value: SqlValue) =>
  typeof value === 'string' || value instanceof Uint8Array
    ? `${value.length}: ${createHash('md5').update(value).digest('hex')}`
    : value;

const rowsOf = (tokens: readonly Token[]) =>
  tokens.flatMap((token) => ('values' in token ? [token.values] : []));

const sizes = [512, 32_767, ...Array.from({ length: 22 }, () => 512 + random(32_256))];

test(`in packets of random sizes (PACKETS_SEED=${seed}), long values and PLP go both ways unchanged`, async () => {
  for (const size of sizes) {
    const given: Given[] = [
      int(random(1_000_000)),
      { type: { name: 'nvarchar', length: 'max' }, value: text(20_000 + random(20_000)) },
      { type: { name: 'varbinary', length: 'max' }, value: bytes(random(60_000)) },
      { type: { name: 'nvarchar', length: 4000 }, value: text(random(4_000)) },
      { type: { name: 'varbinary', length: 'max' }, value: null },
      { type: { name: 'xml' }, value: text(random(2_000)) },
      { type: { name: 'varbinary', length: 8000 }, value: bytes(random(8_000)) },
    ];
    const client = await RawClient.login(server.port, { packetSize: size });
    const first = client.packetSizes.length;
    client.send(packets(3, rpc('echo', given), size));
    const answer = await within(10_000, `the answer in packets of ${size}`, client.answer());
    const [values = []] = rowsOf(tokensOf(answer!.payload));
    expect(values.map(digest), `packets of ${size}`).toEqual(given.map(({ value }) => digest(value)));
    const got = client.packetSizes.slice(first);
    expect(new Set(got.slice(0, -1))).toEqual(new Set([size]));
    expect(got.at(-1)).toBeLessThanOrEqual(size);
    client.send(packets(1, batch('rows 300'), size));
    const rows = rowsOf(tokensOf((await client.answer())!.payload));
    expect(rows.map(([n]) => n)).toEqual(Array.from({ length: 300 }, (_, n) => n));
    await client.close();
  }
});

test(`a PLP parameter may come in any chunks, of a total that is told or not (PACKETS_SEED=${seed})`, async () => {
  const client = await RawClient.login(server.port);
  for (let round = 0; round < 30; round++) {
    const value = text(random(5_000));
    const content = Buffer.from(value, 'utf16le');
    const writer = new ByteWriter();
    // Chunks may part a character's two bytes.
    const isTold = random(2) === 0;
    writer.i64(isTold ? BigInt(content.length) : -2n);
    for (let at = 0; at < content.length; ) {
      const chunk = content.subarray(at, at + 1 + random(1_000));
      writer.u32(chunk.length);
      writer.bytes(chunk);
      at += chunk.length;
    }
    writer.u32(0);
    const info = new ByteWriter();
    codecOf({ name: 'nvarchar', length: 'max' }, true).info(info);
    const parameter = Buffer.concat([
      Buffer.of(2, 0x40, 0, 0x61, 0, 1),
      info.buffer.subarray(0, info.length),
      writer.buffer.subarray(0, writer.length),
    ]);
    const payload = Buffer.concat([allHeaders, rpcCall('echo', [int(round)]), parameter]);
    client.send(packets(3, payload, 512 + random(32_256)));
    const tokens = tokensOf((await within(5_000, 'the answer', client.answer()))!.payload);
    expect(rowsOf(tokens).flat().map(digest)).toEqual([round, value].map(digest));
    const returned = tokens.find((token) => token.kind === 'returnValue');
    expect(returned?.kind === 'returnValue' && digest(returned.value)).toBe(digest(value));
  }
  await client.close();
});
