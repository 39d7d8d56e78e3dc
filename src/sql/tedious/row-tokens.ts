import { EventEmitter } from 'node:events';
import type { Connection } from 'tedious';
import { SqlStreamError } from '../errors.js';
import { JoinBlock } from '../join-block.js';
import type { TediousColumn } from '../rows/tedious-column.js';
import {
  internals,
  type PrivateConnection,
  privatesOf,
  type StreamParser,
  type Token,
  type TokenHandler,
} from './internals.js';
import type { IncomingResponse, ResponseReader } from './packets.js';

/** Token types, MS-TDS 2.2.7. */
const rowToken = 0xd1;
const nbcRowToken = 0xd2;

/** Reads rows in place of tedious. */
export interface RowSink {
  /** False when the connection has been given up: its responses are of no interest, and tedious has forgotten their request. */
  readonly isWanted: boolean;
  /** COLMETADATA; told here because tedious is silent about it once a request is cancelled, and its rows must be passed over then. */
  beginRecordset(columns: readonly TediousColumn[]): void;
  /** The position is amid a row, whatever the byte there looks like. */
  readonly amidRow: boolean;
  /**
   * Reads rows from the position on, and moves it. `more`: the bytes end amid a row; `token`: what follows is no row, or nothing yet; `pause`: enough for now,
   * until `resume` of the parser.
   */
  read(bytes: { readonly buffer: Buffer; position: number }): 'more' | 'token' | 'pause';
  /** The response can't be read any further. */
  fail(error: unknown): void;
}

export interface TappedParser {
  resume(): void;
}

/** It is told its parser when the response begins. */
export interface TappedSink extends RowSink {
  parser: TappedParser | undefined;
}

/** Stands in for tedious's token stream of one response; tedious calls `pause` and `resume`, and waits for `end`. */
class RowTokenParser extends EventEmitter implements TappedParser, ResponseReader {
  readonly #tokens: StreamParser;
  readonly #response: IncomingResponse;
  readonly #handler: TokenHandler;
  readonly #sink: RowSink;
  readonly #queue: Buffer[] = [];
  readonly #block = new JoinBlock();
  #wanting: ((result: IteratorResult<Buffer>) => void) | undefined;
  /** What is left of the bytes is part of a row. */
  #needsMore = false;
  #busy = false;
  #paused = false;
  #ended = false;
  #finished = false;

  constructor(
    response: IncomingResponse,
    handler: TokenHandler,
    sink: RowSink,
    connection: PrivateConnection,
  ) {
    super();
    this.#response = response;
    this.#handler = handler;
    this.#sink = sink;
    const next = (): Promise<IteratorResult<Buffer>> => {
      const chunk = this.#queue.shift();
      if (chunk !== undefined) return Promise.resolve({ done: false, value: chunk });
      if (this.#ended) return Promise.resolve({ done: true, value: undefined });
      return new Promise((resolve) => {
        this.#wanting = resolve;
      });
    };
    const chunks = { [Symbol.asyncIterator]: () => ({ next }) };
    this.#tokens = new internals!.StreamParser(chunks, connection.debug, connection.config.options);
    response.attach(this);
  }

  get isPaused(): boolean {
    return this.#paused;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.process();
    if (!this.#paused) this.#response.resume();
  }

  add(piece: Buffer): void {
    const wanting = this.#wanting;
    this.#wanting = undefined;
    if (wanting === undefined) this.#queue.push(piece);
    else wanting({ done: false, value: piece });
  }

  end(): void {
    this.#ended = true;
    this.#wanting?.({ done: true, value: undefined });
    this.process();
  }

  /** Only while tedious waits for nothing: it keeps the rest of its bytes itself. False when no piece has come. */
  #takePiece(): boolean {
    const piece = this.#queue.shift();
    if (piece === undefined) return false;
    const tokens = this.#tokens;
    const rest = tokens.buffer.subarray(tokens.position);
    tokens.buffer = rest.length === 0 ? piece : this.#block.join(rest, piece);
    tokens.position = 0;
    this.#needsMore = false;
    return true;
  }

  process(): void {
    if (this.#finished || this.#busy || !this.#sink.isWanted) return;
    try {
      this.#run();
    } catch (error) {
      this.#abandon(error);
    }
  }

  #run(): void {
    const tokens = this.#tokens;
    while (!this.#paused && !this.#busy) {
      const isRead = this.#needsMore || tokens.position >= tokens.buffer.length;
      if (isRead && !this.#takePiece()) break;
      const type = tokens.buffer[tokens.position]!;
      if (this.#sink.amidRow || type === rowToken || type === nbcRowToken) {
        const outcome = this.#sink.read(tokens);
        if (outcome === 'pause') this.pause();
        this.#needsMore = outcome === 'more';
        continue;
      }
      // What tedious takes of its tokens it may keep.
      if (this.#block.holds(tokens.buffer)) {
        tokens.buffer = Buffer.from(tokens.buffer.subarray(tokens.position));
        tokens.position = 0;
      }
      tokens.position += 1;
      this.#handle(tokens.readToken(type));
    }
    if (!this.#ended || this.#paused || this.#busy) return;
    this.#finished = true;
    // tedious holds the last message of an idle connection, which would hold all that was read of it.
    this.#response.reader = undefined;
    if (tokens.position < tokens.buffer.length || this.#sink.amidRow) {
      throw new SqlStreamError('EProtocol', 'A response ended amid a token.', { phase: 'rows' });
    }
    if (this.#sink.isWanted) this.emit('end');
  }

  #handle(token: Token | Promise<Token>): void {
    if (!(token instanceof Promise)) {
      this.#pass(token);
      return;
    }
    this.#busy = true;
    token.then(
      (value) => {
        this.#busy = false;
        if (!this.#sink.isWanted) return;
        try {
          this.#pass(value);
        } catch (error) {
          this.#abandon(error);
          return;
        }
        this.process();
      },
      (error: unknown) => this.#abandon(error),
    );
  }

  #pass(token: Token): void {
    if (token.columns !== undefined) this.#sink.beginRecordset(token.columns);
    this.#handler[token.handlerName]!(token);
  }

  #abandon(error: unknown): void {
    this.#finished = true;
    this.#sink.fail(error);
  }
}

/**
 * Prepares a connection that is not connected yet. The sink that `take` gives at the beginning of a response reads its rows; undefined leaves the response to tedious.
 */
export function tapRows(connection: Connection, take: () => TappedSink | undefined): void {
  const target = privatesOf(connection);
  const original = target.createTokenStreamParser;
  target.createTokenStreamParser = (message, handler) => {
    const sink = take();
    if (sink === undefined) return original.call(target, message, handler);
    sink.parser = new RowTokenParser(message as IncomingResponse, handler, sink, target);
    return sink.parser as RowTokenParser;
  };
}
