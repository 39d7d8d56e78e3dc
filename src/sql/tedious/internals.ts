/**
 * All that we use of tedious beyond its public API, which only this folder does; pinned by a contract test that fails when an upgrade changes any of
 * it. Where a part is missing at run time, `internals` is undefined: the public API then serves, slower and with doubles for decimals, and a warning
 * says so.
 */
import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Connection } from 'tedious';
import './lazy-identity.js';
import { SqlStreamError } from '../errors.js';
import type { TediousColumn } from '../rows/tedious-column.js';

export interface Token {
  readonly handlerName: string;
  /** Of COLMETADATA. */
  readonly columns?: readonly TediousColumn[];
}

/** tedious's own token parser: it reads each token that is no row. */
export interface StreamParser {
  buffer: Buffer;
  position: number;
  /** The token whose type byte was just passed; a promise when it has to wait for more bytes. */
  readToken(type: number): Token | Promise<Token>;
}

export type TokenHandler = Record<string, (token: Token) => void>;

/** Takes a connection's bytes, and gives its responses. */
interface IncomingMessageStream {
  _transform(chunk: Buffer, encoding: string, done: (error?: Error) => void): void;
  push(response: object): boolean;
}

interface State {
  readonly name: string;
}

/** What a connection has of its own, and its prototype. */
export interface PrivateConnection {
  createTokenStreamParser(message: object, handler: TokenHandler): EventEmitter;
  sendLogin7Packet(): void;
  performTlsNegotiation(prelogin: { encryptionString?: string }, signal: AbortSignal): Promise<void>;
  /** Sends a request of a packet type; the parts of the payload are its bytes. */
  makeRequest(request: PrivateRequest, type: number, payload: Iterable<Buffer>): void;
  createRequestTimer(): void;
  transitionTo(state: State): void;
  /** Sends ATTENTION. */
  readonly _cancelAfterRequestSent: () => void;
  readonly STATE: Readonly<Record<'LOGGED_IN' | 'SENT_CLIENT_REQUEST', State>>;
  readonly state: State;
  request: PrivateRequest | undefined;
  attentionSent: boolean;
  isSqlBatch: boolean;
  messageIo: {
    sendMessage?(type: number, data?: Buffer, reset?: boolean): unknown;
    readonly outgoingMessageStream: { readonly packetSize: number; push(packet: Buffer): boolean };
    readonly incomingMessageStream: IncomingMessageStream;
    readonly socket: Socket;
  };
  resetConnectionOnNextRequest: boolean;
  inTransaction: boolean;
  config: { options: unknown };
  debug: unknown;
}

export interface PrivateRequest {
  readonly canceled: boolean;
  connection: unknown;
  rowCount: number | undefined;
  rows: unknown[] | undefined;
  rst: unknown[] | undefined;
  prependOnceListener(event: 'cancel', listener: () => void): unknown;
}

interface Internals {
  readonly StreamParser: new (
    chunks: AsyncIterable<Buffer>,
    debug: unknown,
    options: unknown,
  ) => StreamParser;
  readonly Collation: { fromBuffer(buffer: Buffer, offset: number): { codepage: string | undefined } };
}

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
    const incoming = require('tedious/lib/incoming-message-stream') as { prototype: IncomingMessageStream };
    const complete =
      typeof connection.prototype.createTokenStreamParser === 'function' &&
      typeof connection.prototype.sendLogin7Packet === 'function' &&
      typeof connection.prototype.performTlsNegotiation === 'function' &&
      typeof StreamParser.prototype.readToken === 'function' &&
      typeof incoming.prototype._transform === 'function' &&
      typeof Collation.fromBuffer === 'function';
    return complete ? { StreamParser, Collation } : undefined;
  } catch {
    return undefined;
  }
}

export const internals: Internals | undefined = load();

export const privatesOf = (connection: Connection): PrivateConnection =>
  connection as unknown as PrivateConnection;

/** The code page of a collation on the wire (five bytes at `offset`), as tedious names it. */
export function codePageOf(buffer: Buffer, offset: number): string | undefined {
  if (internals === undefined)
    throw new SqlStreamError('EProtocol', 'Collations of sql_variant are not available.');
  return internals.Collation.fromBuffer(buffer, offset).codepage;
}

/** The next request carries RESETCONNECTION (MS-TDS 2.2.3.1.2): a clean session without a round trip, as SqlClient does it. */
export function resetWithNextRequest(connection: Connection): void {
  privatesOf(connection).resetConnectionOnNextRequest = true;
}

/** The last request left a transaction open. */
export function hasOpenTransaction(connection: Connection): boolean {
  return privatesOf(connection).inTransaction === true;
}

/**
 * Refuses a server that offers no encryption to a connection that must have it: tedious would go on in plain text, and
 * send the password that way. For a connection that is not connected yet, with `encrypt: true`.
 */
export function insistOnEncryption(connection: Connection): void {
  const target = privatesOf(connection);
  const original = target.performTlsNegotiation;
  target.performTlsNegotiation = (prelogin, signal) => {
    const { encryptionString: offer } = prelogin;
    if (offer === 'ON' || offer === 'REQ') return original.call(target, prelogin, signal);
    const text =
      'The server offers no encryption, and the connection string asks for it. Use Encrypt=false only where the network is trusted.';
    return Promise.reject(Object.assign(new Error(text), { code: 'ENOENCRYPTION' }));
  };
}

/** The session has the defaults of ODBC and SqlClient. For a connection that is not connected yet. */
export function askForOdbcDefaults(connection: Connection): void {
  const target = privatesOf(connection);
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
