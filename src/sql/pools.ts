import type { ResolvedCommand } from './options.js';
import { closedError, SqlPool } from './pool.js';
import type { LogLevel, PoolStats } from './types.js';

const pools = new Map<string, SqlPool>();
/** Cancel functions of all that runs, and what tells that it has ended. */
const running = new Map<(reason: unknown) => Promise<void>, Promise<void>>();
let closing: Promise<void> | undefined;

/** One pool per connection string and process. The first command that uses it decides its size. @internal */
export function poolFor(command: ResolvedCommand, log: (level: LogLevel, message: string) => void): SqlPool {
  if (closing !== undefined) throw closedError();
  const settings = { ...command.pool, connectMs: command.deadlines.connectMs };
  const known = pools.get(command.connectionString);
  if (known === undefined) {
    const pool = new SqlPool(command.connection, settings);
    pools.set(command.connectionString, pool);
    return pool;
  }
  if (known.settings.max !== settings.max) {
    log(
      'warn',
      `The pool of ${known.name} has ${known.settings.max} connections at most, as the first command asked for; ${settings.max} is ignored.`,
    );
  }
  return known;
}

/** Counts a request as running until `ended`, for `closePools`. @internal */
export function trackRunning(cancel: (reason: unknown) => Promise<void>, ended: Promise<void>): void {
  running.set(cancel, ended);
  void ended.then(() => running.delete(cancel));
}

async function close(graceMs: number): Promise<void> {
  const allEnded = Promise.all(running.values()).then(() => {});
  let timer: NodeJS.Timeout | undefined;
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, graceMs);
  });
  await Promise.race([allEnded, grace]);
  clearTimeout(timer);
  await Promise.all([...running.keys()].map((cancel) => cancel(closedError())));
  await Promise.all([...pools.values()].map((pool) => pool.close()));
  pools.clear();
}

/**
 * Refuses new requests, gives running ones `graceMs` to end, cancels what still runs, then closes all connections. Resolves when no socket is left.
 * Later requests fail with `EClosed`.
 */
export function closePools(graceMs = 5_000): Promise<void> {
  closing ??= close(graceMs);
  return closing;
}

/**
 * Closes the pool of one connection string; the next command with it opens another. For whoever stops within a process that goes on, and has ended
 * its own commands before.
 */
export async function closePool(connectionString: string): Promise<void> {
  const pool = pools.get(connectionString);
  pools.delete(connectionString);
  await pool?.close();
}

/** The counts of every pool of this process. */
export function poolStats(): PoolStats[] {
  return [...pools.values()].map((pool) => pool.stats);
}
