/**
 * `maxConcurrentRequests` and `maxOutstandingRequests` of host.json, for this process: some run, some wait in the order
 * of their arrival, and the rest is turned away.
 */
export class RequestLimiter {
  readonly #concurrent: number;
  readonly #outstanding: number;
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(concurrent: number | undefined, outstanding: number | undefined) {
    this.#concurrent = concurrent ?? Number.POSITIVE_INFINITY;
    this.#outstanding = outstanding ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Calls `run` at once or later; whoever is called leaves by `leave`.
   *
   * @returns undefined when turned away; else a function that gives up waiting, and has no effect after that.
   */
  enter(run: () => void): (() => void) | undefined {
    if (this.#running + this.#waiting.size >= this.#outstanding) return undefined;
    if (this.#running < this.#concurrent) {
      this.#running++;
      run();
      return () => {};
    }
    this.#waiting.add(run);
    return () => {
      this.#waiting.delete(run);
    };
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
