import { BlockingPoolError } from './errors.js';
import type { BlockingPoolOptions } from './options.js';
import { BlockingPool } from './pool.js';

const pools = new Map<string, BlockingPool>();

/** The pool of that name in this process, made with these options by the first call. @throws BlockingPoolError `EOptions` */
export function sharedPool(name: string, options: Omit<BlockingPoolOptions, 'name'> = {}): BlockingPool {
  let pool = pools.get(name);
  if (pool === undefined) {
    pool = new BlockingPool({ ...options, name });
    pools.set(name, pool);
  }
  return pool;
}

/** The pool of that name, if anybody has made it. */
export function findPool(name: string): BlockingPool | undefined {
  return pools.get(name);
}

/** A number of threads that an app setting holds; `fallback` when the setting is missing or empty. @throws BlockingPoolError `EOptions` */
export function threadsSetting(name: string, fallback: number): number {
  const text = process.env[name];
  if (text === undefined || text === '') return fallback;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new BlockingPoolError(
    'EOptions',
    `The app setting ${name} must be a number of threads from 1 to 4096, not '${text}'.`,
  );
}
