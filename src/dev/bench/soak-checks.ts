import { median, slope } from './statistics.js';
import { mebibyte } from './table.js';
import type { Sample } from './worker-process.js';

/** A sample with its time, in ms since the start. */
export interface TimedSample extends Sample {
  readonly atMs: number;
}

export interface MemoryFigures {
  readonly slopeBytesPerMinute: number;
  /** From the median of the third quarter to the median of the last, the first half being warm-up. */
  readonly growthBytes: number;
}

export function memoryFigures(samples: readonly TimedSample[]): MemoryFigures {
  const settled = samples.slice(samples.length >> 1);
  const middle = settled.length >> 1;
  const rss = (part: readonly TimedSample[]) => median(part.map((one) => one.rssBytes));
  return {
    slopeBytesPerMinute: slope(settled.map((one) => [one.atMs / 60_000, one.rssBytes])),
    growthBytes: settled.length < 4 ? 0 : rss(settled.slice(middle)) - rss(settled.slice(0, middle)),
  };
}

/** V8 lets its heap grow and shrink by tens of MiB in no time; a leak goes on. */
const mostGrowth = 30 * mebibyte;

/** @returns what is wrong with the memory of a worker under the same load throughout. */
export function memoryViolations({ growthBytes }: MemoryFigures): string[] {
  if (growthBytes <= mostGrowth) return [];
  return [`RSS grew by ${Math.round(growthBytes / mebibyte)} MiB in the second half`];
}

/** @returns what is not as it must be when no request runs. */
export function idleViolations({ pools, sockets, invocations }: Sample): string[] {
  const violations: string[] = [];
  let pooled = 0;
  for (const { name, used, free, pending, connecting } of pools) {
    pooled += free;
    if (used + pending + connecting > 0)
      violations.push(`pool ${name} has ${used} used, ${pending} pending, ${connecting} connecting at rest`);
  }
  if (invocations.running > 0) violations.push(`${invocations.running} invocations still run`);
  if (sockets > pooled) violations.push(`${sockets} sockets are open, of which the pools know ${pooled}`);
  return violations;
}
