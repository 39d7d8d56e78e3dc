import { BlockingPoolError } from './errors.js';

export interface BlockingPoolOptions {
  /** For views and messages. Default 'blocking pool'. */
  readonly name?: string;
  /** Threads from the start, and kept while idle. Default 8. */
  readonly min?: number;
  /** Default 128, or `min` when that is more. */
  readonly max?: number;
  /** One thread more each time that work has been waiting for this long. Default 1,000 ms. */
  readonly intervalMs?: number;
  /** A thread over `min` ends after this time without a job. Default 20,000 ms. */
  readonly idleMs?: number;
  /** The heap of one thread; one that needs more dies and its job fails. Default 256 MiB. */
  readonly maxHeapMb?: number;
}

export type PoolSettings = Required<BlockingPoolOptions>;

const defaults = { min: 8, max: 128, intervalMs: 1_000, idleMs: 20_000, maxHeapMb: 256 };
const limits = { min: 4_096, max: 4_096, intervalMs: 3_600_000, idleMs: 3_600_000, maxHeapMb: 65_536 };

/** @throws BlockingPoolError `EOptions` naming the option. */
export function poolSettings(options: BlockingPoolOptions): PoolSettings {
  const min = whole('min', options.min ?? defaults.min);
  const max = whole('max', options.max ?? Math.max(defaults.max, min));
  if (max < min) throw new BlockingPoolError('EOptions', `max (${max}) is less than min (${min}).`);
  return {
    name: options.name ?? 'blocking pool',
    min,
    max,
    intervalMs: whole('intervalMs', options.intervalMs ?? defaults.intervalMs),
    idleMs: whole('idleMs', options.idleMs ?? defaults.idleMs),
    maxHeapMb: whole('maxHeapMb', options.maxHeapMb ?? defaults.maxHeapMb),
  };
}

function whole(name: keyof typeof limits, value: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= limits[name]) return value;
  throw new BlockingPoolError(
    'EOptions',
    `${name} must be a whole number from 1 to ${limits[name]}, not ${value}.`,
  );
}
