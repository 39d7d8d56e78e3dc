import { BlockingPoolError } from './errors.js';

/** The CPU part of a job: a function that a module exports, called in the thread as `part(read, ...args)`. */
export interface CpuPart {
  /** URL of an ES module of plain JavaScript. Loaded once by each thread, so it should import little. */
  readonly module: string | URL;
  readonly exportName: string;
  /** Cloned into the thread. */
  readonly args?: readonly unknown[];
}

/**
 * Work that holds one thread from start to end.
 *
 * The CPU part calls `read()` when it needs what the I/O brings: the thread stands still until then, and the call
 * returns it. So the thread's stack tells which code waits, as with any synchronous read.
 */
export interface BlockingJob extends CpuPart {
  /**
   * Starts the asynchronous I/O, on the main thread, at the moment when a thread takes the job. What it resolves to is cloned into the
   * thread; bytes that fill their whole buffer are moved. The signal aborts when nobody waits for it any more.
   */
  readonly start: (signal: AbortSignal) => Promise<unknown>;
  /** Gives the job up, queued or blocked, and frees its thread. A CPU part that runs can't be interrupted: only its result is dropped. */
  readonly signal?: AbortSignal | undefined;
  /** For views. */
  readonly functionName?: string | undefined;
  readonly invocationId?: string | undefined;
}

/** A job with its promise. Settles once, whoever comes first: the thread, the signal, the pool's end. */
export class PendingJob {
  readonly result: Promise<unknown>;
  readonly job: BlockingJob;
  readonly id: number;
  readonly queuedAt: number = performance.now();
  /** Data, or the word that there will be none, was posted to the thread. */
  delivered = false;
  /** What made the I/O fail; passed on as it is. */
  ioError: unknown;
  settled = false;
  readonly #io = new AbortController();
  readonly #caller = { stack: '' };
  readonly #onAbort: () => void;
  #resolve!: (value: unknown) => void;
  #reject!: (error: unknown) => void;

  constructor(
    id: number,
    job: BlockingJob,
    onAbort: (pending: PendingJob) => void,
    caller: (...args: never) => unknown,
  ) {
    this.id = id;
    this.job = job;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Taken now, made into text only when somebody looks.
    Error.captureStackTrace(this.#caller, caller);
    this.#onAbort = () => onAbort(this);
    job.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get startedBy(): string {
    const lines = this.#caller.stack.split('\n').map((line) => line.trim());
    return lines.filter((line) => line.startsWith('at ')).join('\n');
  }

  /** A `start` that throws instead of rejecting is a rejection all the same. */
  async startIo(): Promise<unknown> {
    return this.job.start(this.#io.signal);
  }

  resolve(value: unknown): void {
    if (this.#settle()) this.#resolve(value);
  }

  reject(error: unknown): void {
    if (this.#settle()) this.#reject(error);
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.job.signal?.removeEventListener('abort', this.#onAbort);
    this.#io.abort();
    return true;
  }
}

export function abortedError(signal: AbortSignal): BlockingPoolError {
  return new BlockingPoolError('EAborted', 'The job was aborted.', signal.reason);
}
