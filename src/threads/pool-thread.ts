import { SHARE_ENV, Worker } from 'node:worker_threads';
import { compiled } from './compiled.js';
import { BlockingPoolError } from './errors.js';
import type { PendingJob } from './job.js';
import { type FromThread, type JobFailure, movable, type ThreadData, type ToThread } from './messages.js';
import type { PoolSettings } from './options.js';
import type { ThreadSnapshot, ThreadState } from './snapshot.js';

export interface ThreadEvents {
  /** It can take a job: after its start, and after each job. */
  idle(thread: PoolThread): void;
  /** It has ended. `error` is what it died of, if it told; `started` is false when it never took jobs. */
  gone(thread: PoolThread, started: boolean, error: unknown): void;
}

const failureCodes = { module: 'EJobModule', threw: 'EJobFailed', data: 'EJobData' } as const;

/** The pool's end of one thread. */
export class PoolThread {
  readonly id: number;
  /** In ms of `performance.now()`. */
  since: number = performance.now();
  state: ThreadState = 'starting';
  pending: PendingJob | undefined;
  readonly exited: Promise<void>;
  readonly #wake = new Int32Array(new SharedArrayBuffer(4));
  readonly #worker: Worker;
  readonly #events: ThreadEvents;
  #stack: string | undefined;
  #error: unknown;

  constructor(id: number, settings: PoolSettings, events: ThreadEvents) {
    this.id = id;
    this.#events = events;
    this.#worker = new Worker(compiled('thread.js'), {
      name: `${settings.name} ${id}`,
      workerData: { wake: this.#wake.buffer as SharedArrayBuffer } satisfies ThreadData,
      // Options of the process (--inspect, --require, --max-old-space-size) are not meant for threads that only wait.
      execArgv: [],
      env: SHARE_ENV,
      trackUnmanagedFds: false,
      // A small nursery is what keeps 100 waiting threads small.
      resourceLimits: {
        maxOldGenerationSizeMb: settings.maxHeapMb,
        maxYoungGenerationSizeMb: 4,
        stackSizeMb: 1,
      },
    });
    this.#worker.on('message', (message: FromThread) => this.#receive(message));
    this.#worker.on('messageerror', (error) => this.pending?.reject(dataError('result', error)));
    this.#worker.on('error', (error) => {
      this.#error = error;
    });
    this.exited = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#gone(code);
        resolve();
      });
    });
  }

  /** Takes a job and starts its I/O. */
  assign(pending: PendingJob): void {
    const { module, exportName, args = [] } = pending.job;
    this.pending = pending;
    this.#enter('running');
    // An idle thread must not keep a process alive; one with a job must.
    this.#worker.ref();
    try {
      this.#post({ type: 'job', id: pending.id, module: String(module), exportName, args });
    } catch (error) {
      pending.reject(dataError('arguments', error));
      // Not at once: the pool is amid handing out jobs.
      queueMicrotask(() => this.#release());
      return;
    }
    pending.startIo().then(
      (value) => this.#deliver(pending, value),
      (error) => {
        pending.ioError = error;
        this.refuse(pending);
      },
    );
  }

  /** Wakes the thread with the word that there will be no data. */
  refuse(pending: PendingJob): void {
    if (pending.delivered || this.pending !== pending) return;
    this.#post({ type: 'data', id: pending.id, failed: true });
    this.#wakeUp(pending);
  }

  /** It ends when its job is done; at once when it has none. */
  exit(): void {
    this.#post({ type: 'exit' });
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  snapshot(): ThreadSnapshot {
    const job = this.pending?.job;
    return {
      id: this.id,
      state: this.state,
      since: new Date(performance.timeOrigin + this.since).toISOString(),
      functionName: job?.functionName ?? null,
      invocationId: job?.invocationId ?? null,
      part: job === undefined ? null : `${job.module}#${job.exportName}`,
      stack: this.#stack ?? null,
      startedBy: this.pending?.startedBy ?? null,
    };
  }

  #post(message: ToThread, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #deliver(pending: PendingJob, value: unknown): void {
    if (pending.delivered || this.pending !== pending) return;
    try {
      this.#post({ type: 'data', id: pending.id, failed: false, value }, movable(value));
    } catch (error) {
      pending.ioError = dataError('data', error);
      this.refuse(pending);
      return;
    }
    this.#wakeUp(pending);
  }

  #wakeUp(pending: PendingJob): void {
    pending.delivered = true;
    Atomics.store(this.#wake, 0, pending.id);
    Atomics.notify(this.#wake, 0);
    this.#enter('running');
  }

  #enter(state: ThreadState, since = performance.now()): void {
    this.state = state;
    this.since = since;
    this.#stack = undefined;
  }

  #receive(message: FromThread): void {
    const { pending } = this;
    if (message.type === 'ready') this.#release();
    else if (pending?.id !== message.id) return;
    else if (message.type === 'blocked') this.#blocked(pending, message.at, message.stack);
    else {
      if (message.type === 'done') pending.resolve(message.value);
      else pending.reject(failure(pending, message.why, message.error));
      this.#release();
    }
  }

  #blocked(pending: PendingJob, at: number, stack: string): void {
    // The data may have been posted while this message was on its way.
    if (pending.delivered) return;
    this.#enter('blocked', at - performance.timeOrigin);
    this.#stack = stack;
  }

  #release(): void {
    this.pending = undefined;
    this.#enter('idle');
    this.#worker.unref();
    this.#events.idle(this);
  }

  #gone(exitCode: number): void {
    const text = this.#error instanceof Error ? this.#error.message : `exit code ${exitCode}`;
    this.pending?.reject(new BlockingPoolError('EThreadDied', `The job's thread died: ${text}`, this.#error));
    this.pending = undefined;
    this.#events.gone(this, this.state !== 'starting', this.#error);
  }
}

function dataError(what: string, cause: unknown): BlockingPoolError {
  const text = cause instanceof Error ? cause.message : String(cause);
  return new BlockingPoolError(
    'EJobData',
    `The job's ${what} can't be passed between threads: ${text}`,
    cause,
  );
}

function failure(pending: PendingJob, why: JobFailure, error: unknown): unknown {
  if (why === 'io') return pending.ioError;
  const text = error instanceof Error ? error.message : String(error);
  return new BlockingPoolError(failureCodes[why], text, error);
}
