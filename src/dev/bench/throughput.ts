import type { ChildProcesses } from './child-processes.js';
import { readRows } from './http-client.js';
import { startPings } from './pings.js';
import type { SqlProcess } from './sql-process.js';
import { percentile, type Spread, spreadOf } from './statistics.js';
import { type Endpoints, startWorker } from './worker-process.js';

export const paths = ['respond', 'rows', 'mssql-query', 'mssql-stream', 'mssql-batched', 'tedious'] as const;
export type Path = (typeof paths)[number];

const endpoints: Record<Path, Endpoints> = {
  respond: 'ours',
  rows: 'ours',
  'mssql-query': 'mssql',
  'mssql-stream': 'mssql',
  'mssql-batched': 'mssql',
  tedious: 'tedious',
};
export type Mix = 'strings' | 'numbers';

/** One table: all paths under the same conditions. */
export interface Setting {
  readonly mix: Mix;
  readonly tls: boolean;
}

/** One stream of one path, from a worker process of its own. */
export interface Run {
  readonly rowsPerSecond: number;
  readonly bytesPerRow: number;
  readonly cpuSecondsPerMillion: number;
  readonly firstByteMs: number;
  readonly peakRssBytes: number;
  readonly loopDelaysMs: readonly number[];
  readonly pingsMs: readonly number[];
}

export interface PathFigures {
  readonly path: Path;
  readonly rowsPerSecond: Spread;
  readonly cpuSecondsPerMillion: Spread;
  readonly firstByteMs: Spread;
  readonly peakRssBytes: Spread;
  /** Over the delays of all runs. */
  readonly loopP99Ms: number;
  readonly pingP99Ms: number;
}

/**
 * At least so many rows, and as long as this: the compiler's work is done by then, for every path, and it takes time, not rows. mssql's stream
 * needs 3 s for 250,000 rows, and costs no less afterwards; what 250,000 rows cost `respond()` falls over its first 2 to 3 s, to less than a third.
 * A run of fewer rows is no measurement, and does not wait for it.
 */
export const warmUp = { rows: 250_000, ms: 3_000 };

/** Rows that are streamed once more, beside pings. */
export const pingedRows = (rows: number): number => Math.ceil(rows / 2);

/**
 * Starts a worker, warms it up, and lets it stream `rows` rows; then `pingedRows` more with pings beside them, for the delays. The pings are
 * requests through the library, whose memory and time are not the stream's. A worker lives for one measurement: peak memory is a
 * figure of a process, and what one path leaves on the heap should not be the next one's burden.
 *
 * @param withDelays false leaves the second stream out, and the delays empty
 * @throws BenchError, ChildProcessError
 */
export async function runOnce(
  children: ChildProcesses,
  sql: SqlProcess,
  path: Path,
  { mix, tls }: Setting,
  rows: number,
  withDelays = true,
): Promise<Run> {
  const worker = await startWorker(children, sql, { endpoints: endpoints[path], tls });
  const read = (count: number) =>
    readRows({ port: worker.port, path: `${path}?rows=${count}&mix=${mix}` }, count);
  const began = performance.now();
  do await read(Math.min(rows, warmUp.rows));
  while (rows > warmUp.rows && performance.now() - began < warmUp.ms);
  const before = await worker.sample();
  const figures = await read(rows);
  const after = await worker.sample();
  let [loopDelaysMs, pingsMs]: [readonly number[], readonly number[]] = [[], []];
  if (withDelays) {
    const pings = startPings(worker.port);
    await read(pingedRows(rows));
    pingsMs = await pings.stop();
    ({ loopDelaysMs } = await worker.sample());
  }
  await worker.child.stop();
  return {
    rowsPerSecond: (rows / figures.totalMs) * 1_000,
    bytesPerRow: figures.bytes / rows,
    cpuSecondsPerMillion: ((after.cpuMs - before.cpuMs) / rows) * 1_000,
    firstByteMs: figures.firstByteMs,
    peakRssBytes: after.peakRssBytes,
    loopDelaysMs,
    pingsMs,
  };
}

export function figuresOf(path: Path, runs: readonly Run[]): PathFigures {
  const spread = (key: 'rowsPerSecond' | 'cpuSecondsPerMillion' | 'firstByteMs' | 'peakRssBytes') =>
    spreadOf(runs.map((run) => run[key]));
  return {
    path,
    rowsPerSecond: spread('rowsPerSecond'),
    cpuSecondsPerMillion: spread('cpuSecondsPerMillion'),
    firstByteMs: spread('firstByteMs'),
    peakRssBytes: spread('peakRssBytes'),
    loopP99Ms: percentile(
      runs.flatMap((run) => run.loopDelaysMs),
      99,
    ),
    pingP99Ms: percentile(
      runs.flatMap((run) => run.pingsMs),
      99,
    ),
  };
}
