import type { Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import type {
  ConnectionReset,
  EngineSession,
  LoginRefusal,
  ServerMessage,
  SqlEngine,
} from '../sql-engine.js';
import { ProtocolError } from './bytes.js';
import {
  type Login7,
  packetSizeFor,
  readLogin7,
  tdsVersion,
  unsupportedLogin,
  writeLogin,
  writeLoginRefusal,
} from './login.js';
import { MessageWriter } from './message-writer.js';
import { type Budget, type Message, MessageReader, packetStatus, packetType } from './packets.js';
import { encryption, preloginReply, readPrelogin } from './prelogin.js';
import { Procedures } from './procedures.js';
import { RequestError } from './request-error.js';
import { messageLimits, readRequest, type Work } from './requests.js';
import { Response, type WireSession } from './response.js';
import { openTunnel, type Tunnel } from './tls-tunnel.js';
import { doneStatus, writeDone } from './tokens.js';

/** As for the server, with everything set. */
export interface ConnectionOptions {
  readonly engine: SqlEngine;
  readonly secureContext: SecureContext | undefined;
  readonly serverName: string;
  readonly loginTimeoutMs: number;
  readonly log: (line: string) => void;
  /** One for all connections. */
  readonly budget: Budget;
}

type State = 'prelogin' | 'login' | 'authenticating' | 'idle' | 'running' | 'closed';
/** What a client may send in each state; anything else ends the connection. */
const expected: Record<State, readonly number[]> = {
  prelogin: [packetType.prelogin],
  login: [packetType.login],
  authenticating: [],
  idle: [packetType.batch, packetType.rpc, packetType.transaction, packetType.attention, packetType.bulkLoad],
  running: [packetType.attention],
  closed: [],
};

const has = (error: unknown, mark: string): boolean =>
  typeof error === 'object' && error !== null && mark in error;
const isRefusal = (error: unknown): error is LoginRefusal => has(error, 'loginRefusal');
const isReset = (error: unknown): error is ConnectionReset => has(error, 'connectionReset');

/** One client: from PRELOGIN through LOGIN7 to requests, one at a time. */
export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #reader: MessageReader;
  readonly #wire: WireSession;
  readonly #loginTimer: NodeJS.Timeout;
  #stream: Socket | TLSSocket;
  #tunnel: Tunnel | undefined;
  #state: State = 'prelogin';
  #session: EngineSession | undefined;
  #procedures: Procedures | undefined;
  #running: Response | undefined;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#stream = socket;
    const out = new MessageWriter({
      write: (bytes, done) => this.#state === 'closed' || this.#stream.write(bytes, done),
      onDrain: (listener) => this.#stream.once('drain', listener),
    });
    const { serverName, loginTimeoutMs } = options;
    this.#wire = { out, serverName, canCompress: true, transaction: 0n, lastTransaction: 0n };
    this.#reader = new MessageReader((type) => {
      if (!expected[this.#state].includes(type)) {
        throw new ProtocolError(`A message of type ${type} is not expected in the state "${this.#state}".`);
      }
      return messageLimits[type] ?? 0;
    }, options.budget);
    this.#loginTimer = setTimeout(() => this.#fail('the client did not log in'), loginTimeoutMs);
    socket.on('data', (chunk: Buffer) => {
      if (!this.#tunnel) return this.#receive(chunk);
      this.#guard(() => this.#tunnel!.receive(chunk));
    });
    socket.on('end', () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.close());
  }

  get isLoggedIn(): boolean {
    return this.#session !== undefined && !this.#isClosed();
  }

  /** Ends the connection at once; what runs is aborted. */
  close(): void {
    if (this.#isClosed()) return;
    this.#state = 'closed';
    clearTimeout(this.#loginTimer);
    this.#running?.abort();
    this.#reader.drop();
    this.#wire.out.discard();
    this.#session?.close();
    this.#socket.destroy();
  }

  /** A method, since the compiler does not see that the state changes during an await. */
  #isClosed(): boolean {
    return this.#state === 'closed';
  }

  #fail(reason: string): void {
    this.#options.log(`Closing the connection from ${this.#socket.remoteAddress}: ${reason}`);
    this.close();
  }

  /** Whatever bytes do to the code that reads them, it is their own connection alone that ends. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof ProtocolError)) this.#internalError(error);
      this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  #receive(chunk: Buffer): void {
    this.#guard(() => {
      for (let message = this.#reader.next(chunk); message; message = this.#reader.next()) {
        this.#dispatch(message);
      }
    });
  }

  #dispatch(message: Message): void {
    switch (message.type) {
      case packetType.prelogin:
        this.#prelogin(message);
        break;
      case packetType.login:
        if (message.tooLong) throw new ProtocolError('LOGIN7 is too long.');
        void this.#login(readLogin7(message.data));
        break;
      case packetType.attention:
        this.#attention();
        break;
      default:
        this.#request(message);
    }
  }

  #prelogin(message: Message): void {
    const wish = readPrelogin(message.data);
    const { secureContext } = this.#options;
    const withTls = (wish === encryption.on || wish === encryption.required) && secureContext !== undefined;
    this.#wire.out.tokens.bytes(preloginReply(withTls ? encryption.on : encryption.notSupported));
    this.#wire.out.end();
    this.#state = 'login';
    if (!withTls) return;
    this.#tunnel = openTunnel(this.#socket, secureContext);
    this.#stream = this.#tunnel.secure;
    this.#stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#stream.on('error', (error) => this.#fail(`TLS failed: ${error.message}`));
    this.#stream.on('end', () => this.close());
  }

  async #login(login: Login7): Promise<void> {
    clearTimeout(this.#loginTimer);
    this.#state = 'authenticating';
    try {
      const unsupported = unsupportedLogin(login);
      if (unsupported) throw { ...unsupported, loginRefusal: true };
      const clientAddress = this.#socket.remoteAddress ?? '';
      const session = await this.#options.engine.login({ ...login, clientAddress });
      if (this.#isClosed()) return session.close();
      this.#session = session;
    } catch (error) {
      if (this.#isClosed()) return;
      if (isReset(error)) return this.#resetPeer();
      writeLoginRefusal(this.#wire, isRefusal(error) ? error : this.#internalError(error));
      return this.#end();
    }
    this.#procedures = new Procedures(this.#session);
    this.#wire.canCompress = login.tdsVersion >= tdsVersion.compressedRows;
    const packetSize = packetSizeFor(login, this.#tunnel !== undefined);
    writeLogin(this.#wire, login, this.#session, packetSize);
    // Only now: the login response itself still goes out in packets of the first size.
    this.#wire.out.packetSize = packetSize;
    this.#state = 'idle';
  }

  /** The cause goes to the log, never to the client. */
  #internalError(error: unknown): ServerMessage {
    this.#options.log(`Internal error: ${error instanceof Error ? error.stack : String(error)}`);
    const message = 'Internal error of the embedded server; its log has the details.';
    return { number: 50000, state: 1, class: 16, message, line: 1 };
  }

  #attention(): void {
    const running = this.#running;
    if (!running) {
      this.#acknowledge();
      return;
    }
    running.isCancelled = true;
    running.abort();
    this.#wire.out.release();
  }

  /** A message of its own: in one with the response, tedious would not see it. */
  #acknowledge(): void {
    writeDone(this.#wire.out.tokens, { status: doneStatus.attention });
    this.#wire.out.end();
  }

  #request(message: Message): void {
    const { ignored, status } = message;
    // The client gave up while it sent: it waits for a response all the same.
    const work = ignored ? async () => {} : readRequest(message, this.#session!, this.#procedures!);
    const reset = ignored ? 0 : status & (packetStatus.reset | packetStatus.resetKeepTransaction);
    this.#state = 'running';
    // Made before anything is awaited: ATTENTION may lie in the same chunk.
    this.#running = new Response(this.#wire);
    void this.#run(this.#running, work, reset);
  }

  async #run(response: Response, work: Work, reset: number): Promise<void> {
    const { signal } = response.context;
    try {
      // Lets the rest of the chunk, perhaps an ATTENTION, be seen before the engine begins.
      await undefined;
      if (reset !== 0) await this.#reset((reset & packetStatus.resetKeepTransaction) !== 0, response);
      if (!signal.aborted) await work(response);
    } catch (error) {
      if (isReset(error)) return this.#resetPeer();
      if (!signal.aborted) {
        response.message(error instanceof RequestError ? error.serverMessage : this.#internalError(error));
      }
    }
    if (this.#isClosed()) return;
    response.end();
    if (response.isCancelled) this.#acknowledge();
    this.#running = undefined;
    this.#state = 'idle';
    if (response.isFatal) this.#end();
  }

  async #reset(keepTransaction: boolean, response: Response): Promise<void> {
    const session = this.#session!;
    const before = session.database;
    await session.reset(keepTransaction);
    this.#procedures!.clear();
    if (!keepTransaction) this.#wire.transaction = 0n;
    response.resetDone(before, session.database);
  }

  #resetPeer(): void {
    this.#socket.resetAndDestroy();
    this.close();
  }

  /** Lets the last message go out, then ends the connection. */
  #end(): void {
    this.#state = 'closed';
    this.#reader.drop();
    this.#session?.close();
    this.#stream.end();
    // A peer that never closes its side must not keep the socket.
    this.#socket.setTimeout(1_000, () => this.#socket.destroy());
  }
}
