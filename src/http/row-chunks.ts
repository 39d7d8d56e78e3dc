import type { RowBytes } from '../sql/index.js';
import type { ByteSource } from './byte-source.js';

type Chunk = IteratorResult<Uint8Array, unknown>;

/** Takes who is to be told that the query is over, and why. */
type OnCancel = (listener: (reason: unknown) => void) => void;

interface Consumer {
  readonly resolve: (chunk: Chunk) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Rows of any async iterable as chunks of bytes.
 *
 * Rows are taken as fast as they come, a chunk ahead at most, and go out when a chunk is full or when the event
 * loop turns: so fast rows share a chunk, and a slow row is not held back until the next one.
 */
export class RowChunks implements ByteSource {
  readonly #rows: AsyncIterator<unknown>;
  readonly #open: () => RowBytes;
  readonly #onCancel: OnCancel;
  /** Here with the first row, or at the end. */
  #bytes: RowBytes | undefined;
  /** Rows in `#bytes`, or parts of them. */
  #held = 0;
  #rowCount = 0;
  #state: 'new' | 'running' | 'ended' | 'failed' = 'new';
  #error: unknown;
  #turn: NodeJS.Immediate | undefined;
  /** The consumer, while it waits for a chunk. */
  #consumer: Consumer | undefined;
  /** A chunk has gone out. */
  #begun = false;
  #allTaken = false;
  /** Lets the producer go on, while a full chunk waits to be taken. */
  #resume: (() => void) | undefined;

  /** @param open asked once, when the first row is here: by then it is known which query it comes from */
  constructor(rows: AsyncIterable<unknown>, open: () => RowBytes, onCancel: OnCancel) {
    this.#rows = rows[Symbol.asyncIterator]();
    this.#open = open;
    this.#onCancel = onCancel;
  }

  get complete(): boolean {
    return this.#state === 'ended' && this.#allTaken;
  }

  /** Rows that the iterable has given. */
  get rowCount(): number {
    return this.#rowCount;
  }

  next(): Promise<Chunk> {
    if (this.#state === 'new') this.#start();
    const promise = new Promise<Chunk>((resolve, reject) => {
      this.#consumer = { resolve, reject };
    });
    if (this.#bytes?.isFull || this.#state !== 'running') this.#handOver();
    else if (this.#held > 0) this.#handOverSoon();
    return promise;
  }

  stop(): void {
    this.#settle('ended', undefined);
    // A generator that waits for something else takes this up only when that has come; nobody waits for it here.
    Promise.resolve(this.#rows.return?.()).catch(() => {});
  }

  #start(): void {
    this.#state = 'running';
    // Whoever waits for a row must not wait for the iterable to notice that the query is over.
    this.#onCancel((reason) => this.#settle('failed', reason));
    this.#produce().then(
      () => this.#settle('ended', undefined),
      (error: unknown) => this.#settle('failed', error),
    );
  }

  async #produce(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#rows.next();
      if (this.#state !== 'running') return;
      this.#bytes ??= this.#open();
      if (done) break;
      this.#bytes.add(value);
      this.#rowCount += 1;
      this.#held += 1;
      if (this.#bytes.isFull) await this.#taken();
      else if (this.#consumer) this.#handOverSoon();
    }
    this.#bytes.close();
  }

  #taken(): Promise<void> | undefined {
    if (this.#consumer) {
      this.#handOver();
      return undefined;
    }
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  #settle(state: 'ended' | 'failed', error: unknown): void {
    if (this.#state !== 'running' && this.#state !== 'new') return;
    this.#state = state;
    this.#error = error;
    this.#resume?.();
    this.#handOver();
  }

  #handOverSoon(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      if (this.#held > 0 || this.#state !== 'running') this.#handOver();
    });
  }

  #handOver(): void {
    const consumer = this.#consumer;
    if (consumer === undefined) return;
    this.#consumer = undefined;
    // Before anything has gone out, an error can still be a plain status; later, the rows that came before it are sent.
    const holdsRows = this.#held > 0 || this.#bytes?.isFull === true;
    if (this.#state === 'failed' && !(this.#begun && holdsRows)) consumer.reject(this.#error);
    else {
      const value = this.#bytes?.take();
      consumer.resolve(value === undefined ? { done: true, value } : { done: false, value });
    }
    this.#allTaken = this.#state === 'ended' && this.#bytes?.isFull === false;
    this.#held = 0;
    this.#begun = true;
    this.#resume?.();
    this.#resume = undefined;
  }
}
