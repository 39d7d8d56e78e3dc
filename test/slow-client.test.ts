/** The memory of a worker process whose clients read much, or slowly. The process is that of the benchmark: the real library, this package, and nothing beside them. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { replayProcedure } from '../src/dev/cli/replay-procedure.js';
import { startTdsServer, type TdsServer } from '../src/dev/tds/server.js';
import { createDatabase } from '../src/dev/tsql/database.js';
import type { PoolStats } from '../src/index.js';
import { within } from './helpers/run.js';
import { credentials } from './helpers/tds-engine.js';

const program = fileURLToPath(new URL('../.build/dev/bench/worker.js', import.meta.url));
/** 64 KB/s. */
const readBytes = 16_384;
const everyMs = 250;
/** Until the kernel's buffers are full and all code has run. */
const settleMs = 1_000;
const watchedMs = 2_000;
const mebibyte = 1_048_576;

interface Sample {
  readonly rssBytes: number;
  readonly pools: readonly PoolStats[];
}

let server: TdsServer;
let worker: ReturnType<typeof fork>;
let port: number;

beforeAll(async () => {
  const engine = await createDatabase({ ...credentials, procedures: { 'dev.replay': replayProcedure } });
  server = await startTdsServer({ engine, port: 0 });
  const connection = `Server=127.0.0.1,${server.port};User Id=sa;Password="${credentials.password}";Encrypt=false`;
  const env = { ...process.env, BENCH_SQL: connection };
  worker = fork(program, ['ours'], { env, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [said] = await within(30_000, 'the start of the worker', once(worker, 'message'));
  port = said.port;
});

afterAll(async () => {
  worker.kill('SIGKILL');
  await server.close();
});

async function sample(): Promise<Sample> {
  worker.send('sample');
  const [answer] = await within(5_000, 'a sample', once(worker, 'message'));
  return answer as Sample;
}

function get(path: string, accept: string) {
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `GET /api/${path} HTTP/1.1\r\nhost: a\r\naccept: ${accept}\r\nx-forwarded-host: a\r\nx-forwarded-proto: http\r\n` +
      `x-ms-invocation-id: ${path}-${accept}\r\nconnection: close\r\n\r\n`,
  );
  return socket;
}

async function readAll(path: string): Promise<number> {
  let bytes = 0;
  for await (const chunk of get(path, 'application/json')) bytes += (chunk as Buffer).length;
  return bytes;
}

test('memory does not grow with the rows that were read', async () => {
  const paths = ['respond', 'rows'];
  const readEach = (rows: number) =>
    Promise.all(paths.map((path) => within(18_000, path, readAll(`${path}?rows=${rows}`))));
  await readEach(100_000);
  const before = (await sample()).rssBytes;
  for (const bytes of await readEach(360_000)) expect(bytes).toBeGreaterThan(40 * mebibyte);
  // The garbage of a moment; kept rows would be 200 MB.
  const grown = (await sample()).rssBytes - before;
  expect(grown).toBeLessThan(80 * mebibyte);
});

test('memory stays as it is while a million rows go to clients that read 64 KB/s, and the rows stop when they leave', async () => {
  const clients = ['respond', 'rows'].flatMap((name) =>
    ['application/json', 'application/x-ndjson'].map((accept) => get(`${name}?rows=1000000`, accept)),
  );
  const read = clients.map(() => 0);
  const reading = setInterval(() => {
    for (const [index, client] of clients.entries()) {
      const chunk: Buffer | null = client.read(readBytes) ?? client.read();
      read[index]! += chunk?.length ?? 0;
    }
  }, everyMs);
  await sleep(settleMs);
  const before = (await sample()).rssBytes;
  await sleep(watchedMs);
  const after = await sample();
  // All four still read, slowly; the bodies are of 140 MB each.
  for (const bytes of read) expect(bytes).toBeGreaterThan(readBytes);
  expect(after.pools).toMatchObject([{ used: 4 }]);
  expect(after.rssBytes - before).toBeLessThan(16 * mebibyte);
  clearInterval(reading);
  for (const client of clients) client.destroy();
  await vi.waitFor(async () => expect((await sample()).pools).toMatchObject([{ used: 0 }]), {
    timeout: 5_000,
  });
});
