import { afterEach, expect } from 'vitest';
import type * as Threads from '../../src/threads/index.js';

/**
 * The compiled room, since a thread can load no TypeScript. The address is put together so that the compiler does not take the
 * build's output for a source.
 */
const compiled = new URL('../../.build/threads/index.js', import.meta.url).href;
export const { BlockingPool, textPart }: typeof Threads = await import(/* @vite-ignore */ compiled);
export type Pool = Threads.BlockingPool;

const pools: Pool[] = [];
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

/** Closed when the test ends. */
export function makePool(options: Threads.BlockingPoolOptions = {}): Pool {
  const pool = new BlockingPool(options);
  pools.push(pool);
  return pool;
}

const module = new URL('./parts.js', import.meta.url).href;

export function part(exportName: string, ...args: unknown[]): Threads.CpuPart {
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
export async function eventually(check: () => void, ms = 5_000): Promise<void> {
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
