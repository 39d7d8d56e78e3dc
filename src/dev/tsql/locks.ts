import { Cancelled, fail } from './errors.js';

/**
 * Who may use the one SQLite database. Readers share it; what changes data beyond one turn of the event loop
 * owns it, so that nobody sees the uncommitted rows of another session.
 */
export class Locks {
  #owner: object | undefined;
  readonly #readers = new Map<object, number>();
  #waiting = new Set<() => void>();

  get idle(): boolean {
    return this.#owner === undefined && this.#readers.size === 0;
  }

  /** Waits until no other session owns the database; returns the end of reading. */
  async read(
    session: object,
    timeoutMs: number,
    signal: AbortSignal,
    onWait: (waiting: boolean) => void,
  ): Promise<() => void> {
    await this.#until(() => this.#owner === undefined || this.#owner === session, timeoutMs, signal, onWait);
    this.#readers.set(session, (this.#readers.get(session) ?? 0) + 1);
    return () => {
      const left = (this.#readers.get(session) ?? 1) - 1;
      if (left > 0) this.#readers.set(session, left);
      else this.#readers.delete(session);
      this.#wake();
    };
  }

  /**
   * Waits until no other session owns the database, or reads it unless `besideReaders`; then owns it until
   * `release`. What is written and committed within one turn needs not wait for readers.
   */
  async own(
    session: object,
    besideReaders: boolean,
    timeoutMs: number,
    signal: AbortSignal,
    onWait: (waiting: boolean) => void,
  ): Promise<void> {
    const free = (): boolean => {
      if (this.#owner !== undefined && this.#owner !== session) return false;
      return besideReaders || [...this.#readers.keys()].every((reader) => reader === session);
    };
    await this.#until(free, timeoutMs, signal, onWait);
    this.#owner = session;
  }

  owns(session: object): boolean {
    return this.#owner === session;
  }

  release(session: object): void {
    if (this.#owner !== session) return;
    this.#owner = undefined;
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  /** LOCK_TIMEOUT -1 waits for ever, 0 not at all; 1222 when the time is over. */
  async #until(
    free: () => boolean,
    timeoutMs: number,
    signal: AbortSignal,
    onWait: (waiting: boolean) => void,
  ): Promise<void> {
    if (free()) return;
    if (timeoutMs === 0) fail(1222);
    const end = timeoutMs < 0 ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
    onWait(true);
    try {
      while (!free()) {
        const left = end - performance.now();
        if (left <= 0) fail(1222);
        await new Promise<void>((resolve) => {
          let timer: NodeJS.Timeout | undefined;
          const wake = (): void => {
            clearTimeout(timer);
            this.#waiting.delete(wake);
            signal.removeEventListener('abort', wake);
            resolve();
          };
          if (Number.isFinite(left)) timer = setTimeout(wake, left);
          this.#waiting.add(wake);
          signal.addEventListener('abort', wake);
          if (signal.aborted) wake();
        });
        if (signal.aborted) throw new Cancelled();
      }
    } finally {
      onWait(false);
    }
  }
}
