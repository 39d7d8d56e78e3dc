import type { ByteSource } from './byte-source.js';
import type { Format } from './formats.js';

/** UTF-16 units of text at which a chunk goes out; as many bytes or some more. */
const chunkLength = 32 * 1024;

type Chunk = IteratorResult<Uint8Array, unknown>;

interface Consumer {
  readonly resolve: (chunk: Chunk) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Rows of any async iterable as chunks of text.
 *
 * Rows are taken as fast as they come, a chunk ahead at most, and go out when a chunk is full or when the event
 * loop turns: so fast rows share a chunk, and a slow row is not held back until the next one.
 */
export class RowChunks implements ByteSource {
  readonly #rows: AsyncIterator<unknown>;
  readonly #format: Format;
  readonly #serializer: () => (row: unknown) => string;
  readonly #signal: AbortSignal;
  #text: string;
  /** Rows in `#text`. */
  #held = 0;
  #rowCount = 0;
  #state: 'new' | 'running' | 'ended' | 'failed' = 'new';
  #error: unknown;
  #turn: NodeJS.Immediate | undefined;
  /** The consumer, while it waits for a chunk. */
  #consumer: Consumer | undefined;
  /** A chunk has gone out. */
  #begun = false;
  /** Lets the producer go on, while a full chunk waits to be taken. */
  #resume: (() => void) | undefined;

  /** @param serializer asked once, when the first row is here: by then it is known which query it comes from */
  constructor(
    rows: AsyncIterable<unknown>,
    format: Format,
    serializer: () => (row: unknown) => string,
    signal: AbortSignal,
  ) {
    this.#rows = rows[Symbol.asyncIterator]();
    this.#format = format;
    this.#serializer = serializer;
    this.#signal = signal;
    this.#text = format.writer.open;
  }

  get complete(): boolean {
    return this.#state === 'ended' && this.#text === '';
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
    if (this.#text.length >= chunkLength || this.#state !== 'running') this.#handOver();
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
    const abort = () => this.#settle('failed', this.#signal.reason);
    this.#signal.addEventListener('abort', abort, { once: true });
    this.#produce().then(
      () => this.#settle('ended', undefined),
      (error: unknown) => this.#settle('failed', error),
    );
  }

  async #produce(): Promise<void> {
    const { rowPrefix, rowSuffix, writer } = this.#format;
    let serialize: ((row: unknown) => string) | undefined;
    for (;;) {
      const { done, value } = await this.#rows.next();
      if (this.#state !== 'running') return;
      if (done) break;
      serialize ??= this.#serializer();
      this.#text += (this.#rowCount === 0 ? '' : rowPrefix) + serialize(value) + rowSuffix;
      this.#rowCount += 1;
      this.#held += 1;
      if (this.#text.length >= chunkLength) await this.#taken();
      else if (this.#consumer) this.#handOverSoon();
    }
    this.#text += writer.close;
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
    if (this.#state === 'failed' && !(this.#begun && this.#held > 0)) consumer.reject(this.#error);
    else if (this.#text === '') consumer.resolve({ done: true, value: undefined });
    else consumer.resolve({ done: false, value: Buffer.from(this.#text) });
    this.#text = '';
    this.#held = 0;
    this.#begun = true;
    this.#resume?.();
    this.#resume = undefined;
  }
}
