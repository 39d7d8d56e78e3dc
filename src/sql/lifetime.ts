import { SqlStreamError } from './errors.js';

export function abortedError(phase: SqlStreamError['phase'], reason: unknown): SqlStreamError {
  return new SqlStreamError('EAborted', 'The command was cancelled.', { phase, cause: reason });
}

/**
 * From `open` to the last row. Everything that ends a command early comes through here, with its reason as an error: the caller's signal, the deadline of the whole,
 * `cancel`, the end of the process. An AbortController would do, and costs a twentieth of a short command.
 */
export class Lifetime {
  /** Resolves when the connection is back, or gone. */
  readonly ended: Promise<void>;
  readonly startedAt = performance.now();
  stopReason: SqlStreamError | undefined;
  /** Told once, at once. What goes on changes from waiting for a connection to waiting for rows, and so does who is told. */
  onStop: ((reason: SqlStreamError) => void) | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #caller: AbortSignal | undefined;
  readonly #onAbort: (() => void) | undefined;
  #resolveEnded!: () => void;

  constructor(totalMs: number, caller: AbortSignal | undefined) {
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    if (totalMs > 0) {
      this.#timer = setTimeout(() => {
        const message = `The command took longer than ${totalMs} ms in all.`;
        this.stop(new SqlStreamError('ETotalTimeout', message, { phase: 'rows' }));
      }, totalMs);
    }
    if (caller === undefined) return;
    const onAbort = () => this.stop(abortedError(undefined, caller.reason));
    this.#caller = caller;
    this.#onAbort = onAbort;
    if (caller.aborted) onAbort();
    else caller.addEventListener('abort', onAbort, { once: true });
  }

  get elapsedMs(): number {
    return performance.now() - this.startedAt;
  }

  throwIfStopped(): void {
    if (this.stopReason !== undefined) throw this.stopReason;
  }

  stop(reason: SqlStreamError): void {
    if (this.stopReason !== undefined) return;
    this.stopReason = reason;
    this.onStop?.(reason);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.onStop = undefined;
    if (this.#onAbort !== undefined) this.#caller?.removeEventListener('abort', this.#onAbort);
    this.#resolveEnded();
  }
}
