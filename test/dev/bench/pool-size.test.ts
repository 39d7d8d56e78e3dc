import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ChildProcesses } from '../../../src/dev/bench/child-processes.js';
import { call } from '../../../src/dev/bench/http-client.js';
import { connectionString } from '../../../src/dev/bench/sql-process.js';
import type { Sample } from '../../../src/dev/bench/worker-process.js';
import { startTdsServer } from '../../../src/dev/tds/server.js';
import { within } from '../../helpers/run.js';
import { credentials, recordset, TestEngine } from '../../helpers/tds-engine.js';

const program = fileURLToPath(new URL('../../../.build/dev/bench/worker.js', import.meta.url));

/** A server whose procedure takes until it is released. */
async function startHoldingServer() {
  const held: (() => void)[] = [];
  const engine = new TestEngine({
    exec: async (context) => {
      await new Promise<void>((resolve) => held.push(resolve));
      recordset(context, [{ name: 'n', type: { name: 'int' }, nullable: false }], [[1]]);
    },
  });
  // A connection string's password needs no quotes here.
  const login = engine.login.bind(engine);
  engine.login = (asked) => login({ ...asked, password: credentials.password });
  const server = await startTdsServer({ engine, port: 0 });
  onTestFinished(() => server.close());
  return { server, held };
}

test.each([
  ['ours', 'blog-ours'],
  ['mssql', 'blog-mssql'],
] as const)(
  'the worker opens as many connections as it is told for %s, and no more',
  async (endpoints, path) => {
    const [poolSize, requests] = [3, 5];
    const { server, held } = await startHoldingServer();
    const children = new ChildProcesses();
    onTestFinished(() => children.kill());
    const worker = children.start('The worker', program, [endpoints], {
      BENCH_SQL: connectionString({ port: server.port, password: 'p' }, { poolSize }),
      BENCH_SQL_PORT: String(server.port),
      BENCH_SQL_PASSWORD: 'p',
      BENCH_SQL_POOL_SIZE: String(poolSize),
    });
    const { port } = await worker.message<{ port: number }>();
    const answers = Array.from({ length: requests }, async () => {
      const response = await call({ port, path });
      for await (const _chunk of response) {
      }
      return response.statusCode;
    });
    const settled = { timeout: 10_000 };
    await vi.waitFor(() => expect(held).toHaveLength(poolSize), settled);
    await vi.waitFor(
      async () => expect((await worker.ask<Sample>('sample')).invocations.running).toBe(requests),
      settled,
    );
    // Those that wait for a connection come to the server one after the other.
    const releasing = setInterval(() => {
      for (const release of held.splice(0)) release();
    }, 10);
    onTestFinished(() => clearInterval(releasing));
    const statuses = await within(10_000, 'the answers', Promise.all(answers));
    expect(statuses).toEqual(answers.map(() => 200));
    await vi.waitFor(() => expect(server.connections).toBe(poolSize), settled);
  },
);
