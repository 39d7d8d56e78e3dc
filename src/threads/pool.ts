import { BlockingPoolError } from './errors.js';
import { abortedError, type BlockingJob, PendingJob } from './job.js';
import { type BlockingPoolOptions, type PoolSettings, poolSettings } from './options.js';
import { PoolThread } from './pool-thread.js';
import type { PoolCounts, PoolSnapshot } from './snapshot.js';

/** How long `close` waits for CPU parts that still run. */
const closeGraceMs = 2_000;
const maxJobId = 0x7fff_ffff;

/**
 * Threads that really block, first come first served: `min` of them from the start, and one more each `intervalMs`
 * while work waits, up to `max`, as the thread pool of .NET grows. What a thread waits for runs on the main thread
 * (sync over async); the thread stands in `Atomics.wait` and can do nothing else.
 *
 * ```ts
 * const pool = new BlockingPool({ min: 8, max: 64 });
 * const text = await pool.run<string>({ ...textPart, start: (signal) => download(url, signal) });
 * ```
 */
export class BlockingPool {
  readonly #settings: PoolSettings;
  readonly #threads = new Set<PoolThread>();
  /** Retired, not yet ended. */
  readonly #leaving = new Set<PoolThread>();
  /** The one that worked last is at the end, and is used first: so the others can retire. */
  readonly #idle: PoolThread[] = [];
  readonly #queue = new Set<PendingJob>();
  #nextThread = 1;
  #nextJob = 1;
  #completed = 0;
  #growth: NodeJS.Timeout | undefined;
  #retirement: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  /** Starts no thread: `start` or the first job does. @throws BlockingPoolError `EOptions` */
  constructor(options: BlockingPoolOptions = {}) {
    this.#settings = poolSettings(options);
  }

  /** Starts the threads up to `min`. */
  start(): void {
    while (this.#closing === undefined && this.#threads.size < this.#settings.min) this.#addThread();
  }

  /**
   * Resolves to what the CPU part returns (cloned; bytes that fill their whole buffer are moved).
   * Rejects with a BlockingPoolError, or with the error of the job's own I/O.
   */
  run<Result>(job: BlockingJob): Promise<Result> {
    if (this.#closing) return Promise.reject(closedError(this.#settings.name));
    if (job.signal?.aborted) return Promise.reject(abortedError(job.signal));
    const pending = new PendingJob(this.#nextJob, job, (aborted) => this.#abort(aborted), this.run);
    this.#nextJob = (this.#nextJob % maxJobId) + 1;
    this.#queue.add(pending);
    this.start();
    this.#dispatch();
    return pending.result as Promise<Result>;
  }

  counts(): PoolCounts {
    const threads = [...this.#threads];
    const blocked = threads.filter(({ state }) => state === 'blocked').length;
    const idle = this.#idle.length;
    const total = threads.length;
    return { total, idle, blocked, running: total - idle - blocked, queued: this.#queue.size };
  }

  snapshot(): PoolSnapshot {
    const { name, min, max } = this.#settings;
    return {
      name,
      min,
      max,
      threads: [...this.#threads].map((thread) => thread.snapshot()),
      queue: [...this.#queue].map(({ queuedAt, job }) => ({
        since: new Date(performance.timeOrigin + queuedAt).toISOString(),
        functionName: job.functionName ?? null,
        invocationId: job.invocationId ?? null,
      })),
      completed: this.#completed,
    };
  }

  /** Fails all jobs with `EClosed`, wakes every thread, and resolves when all have ended. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#growth);
    clearTimeout(this.#retirement);
    const threads = [...this.#threads];
    const busy = threads.flatMap(({ pending }) => pending ?? []);
    for (const pending of [...busy, ...this.#queue]) pending.reject(closedError(this.#settings.name));
    this.#queue.clear();
    for (const thread of threads) {
      if (thread.pending) thread.refuse(thread.pending);
      thread.exit();
    }
    const ended = Promise.all([...threads, ...this.#leaving].map(({ exited }) => exited));
    const late = setTimeout(() => {
      for (const thread of this.#threads) void thread.terminate();
    }, closeGraceMs);
    await ended;
    clearTimeout(late);
  }

  #abort(pending: PendingJob): void {
    pending.reject(abortedError(pending.job.signal as AbortSignal));
    if (this.#queue.delete(pending)) return;
    for (const thread of this.#threads) if (thread.pending === pending) thread.refuse(pending);
  }

  #addThread(): void {
    const thread = new PoolThread(this.#nextThread++, this.#settings, {
      idle: (one) => this.#onIdle(one),
      gone: (one, started, error) => this.#onGone(one, started, error),
    });
    this.#threads.add(thread);
  }

  #onIdle(thread: PoolThread): void {
    this.#idle.push(thread);
    this.#dispatch();
    if (this.#idle.length > 0) this.#scheduleRetirement(this.#settings.idleMs);
  }

  #onGone(thread: PoolThread, started: boolean, error: unknown): void {
    if (this.#leaving.delete(thread)) return;
    this.#threads.delete(thread);
    const index = this.#idle.indexOf(thread);
    if (index >= 0) this.#idle.splice(index, 1);
    if (this.#closing) return;
    if (!started) {
      // Each failed start costs one job, so that a broken installation fails clearly instead of starting threads for ever.
      const [oldest] = this.#queue;
      if (oldest === undefined) return;
      this.#queue.delete(oldest);
      oldest.reject(
        new BlockingPoolError('EThreadStart', `A thread of '${this.#settings.name}' did not start.`, error),
      );
      if (this.#queue.size === 0) return;
    }
    if (started || this.#threads.size < this.#settings.min) this.#addThread();
  }

  #dispatch(): void {
    for (const pending of this.#queue) {
      const thread = this.#idle.pop();
      if (thread === undefined) break;
      this.#queue.delete(pending);
      void pending.result.catch(() => {}).then(() => this.#completed++);
      thread.assign(pending);
    }
    if (this.#queue.size > 0) this.#growth ??= setTimeout(() => this.#grow(), this.#settings.intervalMs);
  }

  /** The clock runs on while work comes and goes within an interval; only an interval that ends with none stops it. */
  #grow(): void {
    this.#growth = undefined;
    if (this.#queue.size === 0) return;
    // Threads on their way are counted, or a burst at the start would make more than it needs.
    const starting = [...this.#threads].filter(({ state }) => state === 'starting').length;
    if (this.#threads.size < this.#settings.max && this.#queue.size > starting) this.#addThread();
    this.#growth = setTimeout(() => this.#grow(), this.#settings.intervalMs);
  }

  #scheduleRetirement(delayMs: number): void {
    if (this.#closing || this.#retirement || this.#threads.size <= this.#settings.min) return;
    this.#retirement = setTimeout(() => this.#retire(), delayMs).unref();
  }

  #retire(): void {
    this.#retirement = undefined;
    const { idleMs, min } = this.#settings;
    while (this.#threads.size > min) {
      const [longest] = this.#idle;
      if (longest === undefined) return;
      const leftMs = longest.since + idleMs - performance.now();
      if (leftMs > 0) {
        this.#scheduleRetirement(leftMs + 1);
        return;
      }
      this.#idle.shift();
      this.#threads.delete(longest);
      this.#leaving.add(longest);
      longest.exit();
    }
  }
}

function closedError(name: string): BlockingPoolError {
  return new BlockingPoolError('EClosed', `'${name}' is closed.`);
}
