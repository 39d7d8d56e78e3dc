import type { SqlStreamError } from './errors.js';
import type { Lifetime } from './lifetime.js';
import type { ResolvedCommand } from './options.js';
import { isResuming, mayRetry } from './server-errors.js';

/** A resuming database takes about a minute: no need to ask it more often. */
const longestResumeDelayMs = 5_000;

/** Decides about another attempt, and how long to wait for it. One object for one `open`. */
export class RetryPolicy {
  attempts = 1;
  readonly #command: Pick<ResolvedCommand, 'retry' | 'idempotent' | 'deadlines'>;
  readonly #startedAt = performance.now();

  constructor(command: Pick<ResolvedCommand, 'retry' | 'idempotent' | 'deadlines'>) {
    this.#command = command;
  }

  /** ms to wait before the next attempt; undefined when there is none. */
  delayAfter(error: SqlStreamError): number | undefined {
    const { retry, idempotent, deadlines } = this.#command;
    if (retry.retries === 0 || !mayRetry(error, idempotent)) return undefined;
    const delay = Math.min(retry.maxDelayMs, retry.minDelayMs * 2 ** (this.attempts - 1));
    // Half of it is chance, so that requests that failed together don't come back together.
    const withJitter = delay * (0.5 + Math.random());
    if (isResuming(error.number)) {
      const left = deadlines.resumeMs - (performance.now() - this.#startedAt);
      if (left <= 0) return undefined;
      return Math.min(left, longestResumeDelayMs, withJitter);
    }
    return this.attempts > retry.retries ? undefined : withJitter;
  }
}

/** Until then, or until the command is stopped. */
export function waitFor(ms: number, lifetime: Lifetime): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    lifetime.onStop = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
