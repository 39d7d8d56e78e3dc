import type { ChildProcesses } from './child-processes.js';
import { putLoad } from './load.js';
import type { SqlProcess } from './sql-process.js';
import { type Spread, spreadOf } from './statistics.js';
import { startWorker } from './worker-process.js';

export const requestPaths = ['blog-empty', 'blog-ours', 'blog-mssql'] as const;
export type RequestPath = (typeof requestPaths)[number];

const endpoints = { 'blog-empty': 'empty', 'blog-ours': 'ours', 'blog-mssql': 'mssql' } as const;

export interface RequestOptions {
  readonly users: number;
  readonly seconds: number;
  readonly keepAlive: boolean;
}

export interface RequestRun {
  readonly cpuMsPerRequest: number;
  readonly transactionsPerSecond: number;
  readonly latencyMs: number;
  readonly failures: number;
}

export interface RequestFigures {
  readonly users: number;
  readonly name: RequestPath;
  readonly cpuMsPerRequest: Spread;
  readonly transactionsPerSecond: Spread;
  readonly latencyMs: Spread;
  readonly failures: number;
}

/** How long each endpoint takes by itself: BlogProc's delay, and the empty handler's. */
const procedureSeconds = 1;

/** A user waits for an answer before the next request, so that no driver makes more of them. */
export function mostTransactionsPerSecond(users: number): number {
  return users / procedureSeconds;
}

/** From one user's start to the next one's. More at once than the worker accepts are left to wait by the kernel, up to a minute each time. */
const rampMsPerUser = 5;
/**
 * Once each has been answered; the burst of logins has passed by then, and the compiler has done its work: in the first 5 s a request
 * costs a fifth more than later. Neither should be in the figures.
 */
const settleMs = 8_000;

/**
 * Simulated users on an endpoint that takes a second and gives 10 rows, each sending its next request when it has its
 * answer. The users are in this process, which does nothing else meanwhile; the worker has a process of its own, and in
 * its pool a connection for each user: else the pool's size would be what is measured.
 *
 * @throws BenchError, ChildProcessError
 */
export async function runRequests(
  children: ChildProcesses,
  sql: SqlProcess,
  path: RequestPath,
  { users, seconds, keepAlive }: RequestOptions,
): Promise<RequestRun> {
  const worker = await startWorker(children, sql, { endpoints: endpoints[path], poolSize: users });
  const load = putLoad({ port: worker.port, path, users, keepAlive, rampMs: rampMsPerUser * users });
  try {
    await load.warmUp();
    await load.run(settleMs);
    const before = await worker.sample();
    load.reset();
    await load.run(seconds * 1_000);
    const { answered, failures, elapsedMs, latencyMs } = load.figures();
    const after = await worker.sample();
    return {
      cpuMsPerRequest: (after.cpuMs - before.cpuMs) / answered,
      transactionsPerSecond: (answered / elapsedMs) * 1_000,
      latencyMs,
      failures,
    };
  } finally {
    load.stop();
    await worker.child.stop();
  }
}

export function requestFiguresOf(
  users: number,
  name: RequestPath,
  runs: readonly RequestRun[],
): RequestFigures {
  return {
    users,
    name,
    cpuMsPerRequest: spreadOf(runs.map((run) => run.cpuMsPerRequest)),
    transactionsPerSecond: spreadOf(runs.map((run) => run.transactionsPerSecond)),
    latencyMs: spreadOf(runs.map((run) => run.latencyMs)),
    failures: runs.reduce((sum, run) => sum + run.failures, 0),
  };
}
