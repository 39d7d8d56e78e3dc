import { fileURLToPath } from 'node:url';
import type { PoolStats } from '../../index.js';
import type { Child, ChildProcesses } from './child-processes.js';
import { type ConnectionOptions, connectionString, defaultPoolSize, type SqlProcess } from './sql-process.js';

const program = fileURLToPath(new URL('./worker.js', import.meta.url));

export interface Sample {
  /** User and system time of the whole process, its garbage collector's threads with it. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  /** How late a timer came that was due every 10 ms, since the last sample. */
  readonly loopDelaysMs: readonly number[];
  /** Open TCP connections, of clients and to the server. */
  readonly sockets: number;
  readonly pools: readonly PoolStats[];
  readonly invocations: { readonly begun: number; readonly running: number; readonly failed: number };
}

export interface WorkerProcess {
  readonly child: Child;
  /** Of the library's stream proxy. */
  readonly port: number;
  sample(): Promise<Sample>;
}

/** A file of `endpoints/`. */
export type Endpoints = 'empty' | 'ours' | 'mssql' | 'tedious';

/** `poolSize` is that of our pools and of mssql's alike. */
export interface WorkerOptions extends ConnectionOptions {
  readonly endpoints: Endpoints;
  readonly env?: Record<string, string>;
}

/** @throws ChildProcessError */
export async function startWorker(
  children: ChildProcesses,
  sql: SqlProcess,
  { endpoints, tls = false, poolSize = defaultPoolSize, env = {} }: WorkerOptions,
): Promise<WorkerProcess> {
  const child = children.start('The worker', program, [endpoints], {
    AZURE_FUNCTIONS_ENVIRONMENT: 'Development',
    BENCH_SQL: connectionString(sql, { tls, poolSize }),
    BENCH_SQL_PORT: String(sql.port),
    BENCH_SQL_PASSWORD: sql.password,
    BENCH_SQL_TLS: tls ? '1' : '',
    BENCH_SQL_POOL_SIZE: String(poolSize),
    ...env,
  });
  const { port } = await child.message<{ port: number }>();
  return { child, port, sample: () => child.ask<Sample>('sample') };
}
