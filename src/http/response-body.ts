import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { breakResponse } from './break-response.js';
import type { ByteSource } from './byte-source.js';
import { HttpStreamError } from './errors.js';
import type { Format } from './formats.js';
import { bodyBegins, bodyEnds } from './in-flight.js';
import type { Invocation } from './invocation.js';
import { problemOf, problemType } from './problem.js';

type Chunk = IteratorResult<Uint8Array, undefined>;

/** Why a body ended. */
export type Outcome = 'complete' | 'client left' | 'client silent' | 'failed';

export interface BodyOptions {
  readonly source: ByteSource;
  readonly format: Format;
  readonly invocation: Invocation;
  /** The longest time in which the client takes nothing; 0 for no limit. */
  readonly clientSilenceMs: number;
  /** Called once. */
  readonly onEnd: (outcome: Outcome, bytes: number, error: unknown) => void;
}

/** A source that never waits would keep Node from sending anything: it has to let the event loop turn this often. */
const longestTurnMs = 5;

/**
 * The chunks of a response as the library takes them, at the pace of the client's socket.
 *
 * The library writes each chunk without regard to the socket, so the next one is held back here until the socket
 * has drained. It ends the body on its own when the client leaves, and breaks it when its source fails: a
 * client never takes a part for the whole.
 */
export class ResponseBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: ByteSource;
  readonly #format: Format;
  readonly #invocation: Invocation;
  readonly #response: ServerResponse | undefined;
  readonly #silenceMs: number;
  readonly #onEnd: BodyOptions['onEnd'];
  #first: IteratorResult<Uint8Array, unknown> | undefined;
  #whole = false;
  #ended = false;
  #bytes = 0;
  /** The error whose last line has gone out; what remains is to break the connection. */
  #failure: { readonly error: unknown } | undefined;
  #turnedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** It is the client's turn: a chunk was handed out and none was asked for, or the socket is full. */
  #clientsTurn = false;
  #wake: (() => void) | undefined;

  constructor({ source, format, invocation, clientSilenceMs, onEnd }: BodyOptions) {
    this.#source = source;
    this.#format = format;
    this.#invocation = invocation;
    this.#response = invocation.connection?.response;
    this.#silenceMs = clientSilenceMs;
    this.#onEnd = onEnd;
  }

  /**
   * Waits for the first chunk, so that what fails until then is a plain status. Afterwards the body has an end
   * whether it is read or not.
   *
   * @returns the length of the body, when its first chunk is the last one too
   */
  async begin(): Promise<number | undefined> {
    this.#first = await this.#source.next();
    if (this.#source.complete || this.#first.done) {
      this.#whole = true;
      this.#bytes = this.#first.done ? 0 : this.#first.value.byteLength;
      this.#finish('complete');
      return this.#bytes;
    }
    bodyBegins();
    this.#turnedAt = performance.now();
    this.#invocation.onDisconnect = () => this.#end('client left');
    if (this.#invocation.disconnected) this.#end('client left');
    else this.#watchClient();
    return undefined;
  }

  async next(): Promise<Chunk> {
    if (this.#whole) return this.#takeWhole();
    if (this.#failure) return this.#break(this.#failure.error);
    if (this.#ended) return done;
    try {
      await this.#drained();
      if (performance.now() - this.#turnedAt > longestTurnMs) {
        await turn();
        this.#turnedAt = performance.now();
      }
      if (this.#ended) return done;
      this.#clientsTurn = false;
      const chunk = this.#first ?? (await this.#source.next());
      this.#first = undefined;
      if (this.#ended) return done;
      if (chunk.done) {
        this.#end('complete');
        return done;
      }
      this.#bytes += chunk.value.byteLength;
      this.#watchClient();
      return chunk;
    } catch (error) {
      return this.#fail(error);
    }
  }

  /** The library reads to the end; only others leave early. */
  async return(): Promise<Chunk> {
    this.#end('client left');
    return done;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeWhole(): Chunk {
    const first = this.#first;
    this.#first = undefined;
    return first === undefined || first.done ? done : first;
  }

  #drained(): Promise<void> | undefined {
    const response = this.#response;
    if (!response?.writableNeedDrain) return undefined;
    this.#watchClient();
    return new Promise((resolve) => {
      this.#wake = resolve;
      response.once('drain', resolve);
    });
  }

  #watchClient(): void {
    if (this.#silenceMs === 0) return;
    this.#clientsTurn = true;
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#onSilence(), this.#silenceMs);
  }

  #onSilence(): void {
    if (!this.#clientsTurn || this.#ended) return;
    const response = this.#response;
    // Nothing was ever asked for: the library has given up on this response, and would leave the client waiting.
    if (response && !response.headersSent) {
      const error = new HttpStreamError('EResponse', 'The library did not send the response.');
      const { status, body } = problemOf(error, this.#invocation.context.invocationId);
      response.writeHead(status, { 'content-type': problemType }).end(JSON.stringify(body));
    } else if (response) {
      void breakResponse(response);
    }
    this.#end(
      'client silent',
      new HttpStreamError('EClientSilent', `Nothing taken for ${this.#silenceMs} ms.`),
    );
  }

  #fail(error: unknown): Promise<Chunk> | Chunk {
    if (this.#ended) return done;
    this.#end('failed', error);
    const { errorLine } = this.#format;
    if (this.#response && errorLine) {
      this.#failure = { error };
      const { body } = problemOf(error, this.#invocation.context.invocationId);
      return { done: false, value: Buffer.from(errorLine(body)) };
    }
    return this.#break(error);
  }

  async #break(error: unknown): Promise<never> {
    const response = this.#response;
    if (this.#failure && response) await lastLineSent(response, this.#silenceMs);
    this.#failure = undefined;
    if (response) await breakResponse(response);
    throw error;
  }

  #end(outcome: Outcome, error?: unknown): void {
    if (this.#ended) return;
    bodyEnds();
    this.#finish(outcome, error);
  }

  #finish(outcome: Outcome, error?: unknown): void {
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#invocation.onDisconnect = undefined;
    if (outcome !== 'complete') {
      this.#source.stop();
      this.#invocation.cancel(error);
      this.#wake?.();
    }
    this.#onEnd(outcome, this.#bytes, error);
  }
}

/** Gives a client that still reads the chance to get the last line; the others are not worth more waiting. */
function lastLineSent(response: ServerResponse, ms: number): Promise<void> {
  if (!response.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms || 30_000);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    response.once('drain', end).once('close', end);
  });
}

const done: Chunk = { done: true, value: undefined };
