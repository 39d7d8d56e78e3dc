/**
 * The JSON of `/admin/threads`, and of the dumps that `--json` keeps. Times are ISO 8601, UTC.
 *
 * A pool is what `BlockingPool.snapshot()` of the threads room gives; the shapes are declared here again, since the lab knows
 * JSON only.
 */
export interface ThreadsReport {
  readonly takenAt: string;
  readonly pools: readonly PoolReport[];
  /** The event loop of the app's worker process, when the host watches it; null when it gave no answer in time. */
  readonly eventLoop?: EventLoopReport | null;
}

export interface PoolReport {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly threads: readonly ThreadReport[];
  /** Oldest first. */
  readonly queue: readonly WaitingReport[];
  readonly completed: number;
}

export interface WaitingReport {
  readonly since: string;
  readonly functionName: string | null;
  readonly invocationId: string | null;
}

export interface ThreadReport extends WaitingReport {
  readonly id: number;
  readonly state: string;
  readonly part: string | null;
  readonly stack: string | null;
  readonly startedBy: string | null;
}

export interface EventLoopReport {
  readonly delayMs: { readonly mean: number; readonly p99: number; readonly max: number };
  /** 0 to 1. */
  readonly utilization: number;
  readonly longest: { readonly ms: number; readonly at: string; readonly stack: string | null } | null;
}

/** @throws Error which names `source` when the value has not that shape. */
export function checkReport(value: unknown, source: string): ThreadsReport {
  const report = value as ThreadsReport | null;
  const isPool = (pool: PoolReport) => Array.isArray(pool?.threads) && Array.isArray(pool?.queue);
  if (typeof report?.takenAt === 'string' && Array.isArray(report.pools) && report.pools.every(isPool))
    return report;
  throw new Error(
    `${source} holds no report of threads: it has no takenAt, or pools without threads and queue.`,
  );
}
