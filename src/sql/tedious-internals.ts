/**
 * All that we use of tedious beyond its public API; pinned by a contract test that fails when an upgrade changes any of it. Where a part is missing at
 * run time, `internals` is undefined: the public API then serves, slower and with doubles for decimals, and a warning says so.
 */
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import type { Connection } from 'tedious';
import { SqlStreamError } from './errors.js';
import { JoinBlock } from './join-block.js';
import type { TediousColumn } from './rows/tedious-column.js';

interface Token {
  readonly handlerName: string;
  /** Of COLMETADATA. */
  readonly columns?: readonly TediousColumn[];
}

/** tedious's own token parser: it reads each token that is no row. */
interface StreamParser {
  buffer: Buffer;
  position: number;
  /** The token whose type byte was just passed; a promise when it has to wait for more bytes. */
  readToken(type: number): Token | Promise<Token>;
}

type TokenHandler = Record<string, (token: Token) => void>;

interface PrivateConnection {
  createTokenStreamParser(message: Readable, handler: TokenHandler): EventEmitter;
  sendLogin7Packet(): void;
  performTlsNegotiation(prelogin: { encryptionString?: string }, signal: AbortSignal): Promise<void>;
  messageIo: { sendMessage?(type: number, data?: Buffer, reset?: boolean): unknown };
  resetConnectionOnNextRequest: boolean;
  inTransaction: boolean;
  config: { options: unknown };
  debug: unknown;
}

interface Internals {
  readonly StreamParser: new (
    chunks: AsyncIterable<Buffer>,
    debug: unknown,
    options: unknown,
  ) => StreamParser;
  readonly Collation: { fromBuffer(buffer: Buffer, offset: number): { codepage: string | undefined } };
}

/** Token types, MS-TDS 2.2.7. */
const rowToken = 0xd1;
const nbcRowToken = 0xd2;
const login7Packet = 0x10;
/** fODBC of OptionFlags2, MS-TDS 2.2.6.4: the session's defaults are those of ODBC and SqlClient (ANSI settings on, TEXTSIZE unlimited), after a reset too. */
const optionFlags2At = 25;
const odbcFlag = 0x02;

function load(): Internals | undefined {
  try {
    const require = createRequire(import.meta.url);
    const { Connection: connection } = require('tedious') as { Connection: { prototype: PrivateConnection } };
    const StreamParser = require('tedious/lib/token/stream-parser') as Internals['StreamParser'];
    const { Collation } = require('tedious/lib/collation') as Pick<Internals, 'Collation'>;
    const complete =
      typeof connection.prototype.createTokenStreamParser === 'function' &&
      typeof connection.prototype.sendLogin7Packet === 'function' &&
      typeof connection.prototype.performTlsNegotiation === 'function' &&
      typeof StreamParser.prototype.readToken === 'function' &&
      typeof Collation.fromBuffer === 'function';
    return complete ? { StreamParser, Collation } : undefined;
  } catch {
    return undefined;
  }
}

export const internals: Internals | undefined = load();

/** The code page of a collation on the wire (five bytes at `offset`), as tedious names it. */
export function codePageOf(buffer: Buffer, offset: number): string | undefined {
  if (internals === undefined)
    throw new SqlStreamError('EProtocol', 'Collations of sql_variant are not available.');
  return internals.Collation.fromBuffer(buffer, offset).codepage;
}

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

/** Stands in for tedious's token stream of one response; tedious calls `pause` and `resume`, and waits for `end`. */
class RowTokenParser extends EventEmitter implements TappedParser {
  readonly #tokens: StreamParser;
  readonly #message: Readable;
  readonly #handler: TokenHandler;
  readonly #sink: RowSink;
  readonly #queue: Buffer[] = [];
  readonly #block = new JoinBlock();
  #wanting: ((result: IteratorResult<Buffer>) => void) | undefined;
  #busy = false;
  #paused = false;
  #ended = false;
  #finished = false;

  constructor(message: Readable, handler: TokenHandler, sink: RowSink, connection: PrivateConnection) {
    super();
    this.#message = message;
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
    message.on('data', (chunk: Buffer) => this.#feed(chunk));
    message.on('end', () => {
      this.#ended = true;
      this.#wanting?.({ done: true, value: undefined });
      this.#process();
    });
  }

  pause(): void {
    this.#paused = true;
    this.#message.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#process();
    if (!this.#paused) this.#message.resume();
  }

  #feed(chunk: Buffer): void {
    const wanting = this.#wanting;
    if (wanting !== undefined) {
      this.#wanting = undefined;
      wanting({ done: false, value: chunk });
      return;
    }
    this.#queue.push(chunk);
    this.#process();
  }

  /** Only while tedious waits for nothing: it keeps the rest of its bytes itself. */
  #takeQueue(): void {
    const tokens = this.#tokens;
    const rest = tokens.buffer.subarray(tokens.position);
    const chunks = this.#queue.splice(0);
    tokens.buffer = rest.length === 0 && chunks.length === 1 ? chunks[0]! : this.#block.join(rest, chunks);
    tokens.position = 0;
  }

  #process(): void {
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
      if (this.#queue.length > 0) this.#takeQueue();
      if (tokens.position >= tokens.buffer.length) break;
      const type = tokens.buffer[tokens.position]!;
      if (this.#sink.amidRow || type === rowToken || type === nbcRowToken) {
        const outcome = this.#sink.read(tokens);
        if (outcome === 'pause') this.pause();
        if (outcome === 'more') break;
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
        this.#process();
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
export function tapRows(
  connection: Connection,
  take: () => RowSink | undefined,
  tapped: (parser: TappedParser) => void,
): void {
  const target = connection as unknown as PrivateConnection;
  const original = target.createTokenStreamParser;
  target.createTokenStreamParser = (message, handler) => {
    const sink = take();
    if (sink === undefined) return original.call(target, message, handler);
    const parser = new RowTokenParser(message, handler, sink, target);
    tapped(parser);
    return parser;
  };
  const sendLogin7Packet = target.sendLogin7Packet;
  target.sendLogin7Packet = () => {
    const io = target.messageIo;
    const send = io.sendMessage!;
    io.sendMessage = (type, data, reset) => {
      if (type === login7Packet && data !== undefined) data[optionFlags2At]! |= odbcFlag;
      return send.call(io, type, data, reset);
    };
    sendLogin7Packet.call(target);
    // The prototype's method shows again.
    delete io.sendMessage;
  };
}

/** The next request carries RESETCONNECTION (MS-TDS 2.2.3.1.2): a clean session without a round trip, as SqlClient does it. */
export function resetWithNextRequest(connection: Connection): void {
  (connection as unknown as PrivateConnection).resetConnectionOnNextRequest = true;
}

/** The last request left a transaction open. */
export function hasOpenTransaction(connection: Connection): boolean {
  return (connection as unknown as PrivateConnection).inTransaction === true;
}

/**
 * Refuses a server that offers no encryption to a connection that must have it: tedious would go on in plain text, and
 * send the password that way. For a connection that is not connected yet, with `encrypt: true`.
 */
export function insistOnEncryption(connection: Connection): void {
  const target = connection as unknown as PrivateConnection;
  const original = target.performTlsNegotiation;
  target.performTlsNegotiation = (prelogin, signal) => {
    const { encryptionString: offer } = prelogin;
    if (offer === 'ON' || offer === 'REQ') return original.call(target, prelogin, signal);
    const text =
      'The server offers no encryption, and the connection string asks for it. Use Encrypt=false only where the network is trusted.';
    return Promise.reject(Object.assign(new Error(text), { code: 'ENOENCRYPTION' }));
  };
}
