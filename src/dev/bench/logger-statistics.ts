/** What one run measured. Times in ms. */
export interface RunFigures {
  readonly requestsPerSecond: number;
  readonly mean: number;
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p99: number;
}

export function runFigures(latenciesMs: Float64Array, elapsedMs: number): RunFigures {
  const sorted = latenciesMs.slice().sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  return {
    requestsPerSecond: (sorted.length * 1_000) / elapsedMs,
    mean: sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length,
    p50: at(0.5),
    p75: at(0.75),
    p90: at(0.9),
    p99: at(0.99),
  };
}

/** One figure over several runs. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return {
    median: (low + high) / 2,
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
  };
}

export function overlap(a: Spread, b: Spread): boolean {
  return a.min <= b.max && b.min <= a.max;
}
