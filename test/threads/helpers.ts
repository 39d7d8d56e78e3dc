import { afterEach, expect } from 'vitest';
import { BlockingPool, type BlockingPoolOptions, type CpuPart } from '../../src/threads/index.js';

export type Pool = BlockingPool;

const pools: Pool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

/** Closed when the test ends. */
export function makePool(options: BlockingPoolOptions = {}): Pool {
  const pool = new BlockingPool(options);
  pools.push(pool);
  return pool;
}

const module = new URL('./parts.js', import.meta.url).href;

export function part(exportName: string, ...args: unknown[]): CpuPart {
  return { module, exportName, args };
}

/** I/O that ends when the test says so. */
export function gate<T = string>() {
  let open!: (value: T) => void;
  let fail!: (error: unknown) => void;
  let started = 0;
  let signal: AbortSignal | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  const start = (given: AbortSignal) => {
    started++;
    signal = given;
    return promise;
  };
  return { open, fail, start, started: () => started, signal: () => signal };
}

/** Looks until it is so; fails with the last look when it takes longer than `ms`. */
export async function eventually(check: () => void, ms = 15_000): Promise<void> {
  await expect
    .poll(
      () => {
        check();
        return true;
      },
      { timeout: ms, interval: 5 },
    )
    .toBe(true);
}
