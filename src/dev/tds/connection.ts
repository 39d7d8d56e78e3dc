import type { Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { EngineSession, LoginRefusal, ServerMessage, SqlEngine } from './engine.js';
import {
  packetSizeFor,
  tdsVersion,
  unsupportedLogin,
  writeLogin,
  writeLoginRefusal,
} from './login-response.js';
import { type Login7, readLogin7 } from './login7.js';
import { MessageWriter } from './message-writer.js';
import { type Message, MessageReader, packetStatus, packetType } from './packets.js';
import { encryption, preloginReply, readPrelogin } from './prelogin.js';
import { ProtocolError } from './protocol-error.js';
import { messageLimits, readRequest, type Work } from './request.js';
import { Response, type TransactionState } from './response.js';
import { RpcError } from './rpc.js';
import { Procedures } from './special-procedures.js';
import { openTunnel, type Tunnel } from './tls-tunnel.js';
import { doneStatus, tokenType, writeDone } from './tokens.js';

export interface ConnectionOptions {
  readonly engine: SqlEngine;
  readonly secureContext?: SecureContext;
  readonly serverName: string;
  /** A client that has not sent its LOGIN7 by then is dropped. */
  readonly loginTimeoutMs: number;
  readonly log: (line: string) => void;
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

interface Running {
  readonly response: Response;
  readonly controller: AbortController;
  hasAttention: boolean;
}

/** One client: from PRELOGIN through LOGIN7 to requests, one at a time. */
export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #out: MessageWriter;
  readonly #reader: MessageReader;
  readonly #transaction: TransactionState = { current: 0n, last: 0n };
  #stream: Socket | TLSSocket;
  #tunnel: Tunnel | undefined;
  #state: State = 'prelogin';
  #loginTimer: NodeJS.Timeout | undefined;
  #session: EngineSession | undefined;
  #procedures: Procedures | undefined;
  #running: Running | undefined;
  #canCompress = true;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#stream = socket;
    this.#out = new MessageWriter({
      write: (bytes) => this.#state === 'closed' || this.#stream.write(bytes),
      onDrain: (listener) => this.#stream.once('drain', listener),
    });
    this.#reader = new MessageReader((type) => {
      if (!expected[this.#state].includes(type)) {
        throw new ProtocolError(`A message of type ${type} is not expected in the state "${this.#state}".`);
      }
      return messageLimits[type] ?? 0;
    });
    this.#loginTimer = setTimeout(() => this.#fail('the client did not log in'), options.loginTimeoutMs);
    socket.on('data', (chunk: Buffer) => {
      if (!this.#tunnel) return this.#receive(chunk);
      this.#guard(() => this.#tunnel!.receive(chunk));
    });
    socket.on('end', () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.close());
  }

  get isLoggedIn(): boolean {
    return this.#session !== undefined && this.#state !== 'closed';
  }

  /** Ends the connection at once; what runs is aborted. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearTimeout(this.#loginTimer);
    this.#running?.response.close();
    this.#running?.controller.abort();
    this.#out.discard();
    this.#session?.close();
    this.#socket.destroy();
  }

  #resetPeer(): void {
    this.#socket.resetAndDestroy();
    this.close();
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
    const wantsTls = wish === encryption.on || wish === encryption.required;
    const { secureContext } = this.#options;
    const withTls = wantsTls && secureContext !== undefined;
    const reply = preloginReply(withTls ? encryption.on : encryption.notSupported);
    this.#out.tokens.bytes(reply);
    this.#out.end();
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
    const { engine, serverName } = this.#options;
    try {
      const unsupported = unsupportedLogin(login);
      if (unsupported) throw { ...unsupported, loginRefusal: true };
      const clientAddress = this.#socket.remoteAddress ?? '';
      const session = await engine.login({ ...login, clientAddress, reset: () => this.#resetPeer() });
      if (this.#isClosed()) return session.close();
      this.#session = session;
    } catch (error) {
      if (this.#isClosed()) return;
      writeLoginRefusal(this.#out, this.#asRefusal(error), serverName);
      this.#end();
      return;
    }
    this.#procedures = new Procedures(this.#session);
    this.#canCompress = login.tdsVersion >= tdsVersion.compressedRows;
    const packetSize = packetSizeFor(login, this.#tunnel !== undefined);
    writeLogin(this.#out, login, this.#session, packetSize, serverName);
    // Only now: the login response itself still goes out in packets of the first size.
    this.#out.packetSize = packetSize;
    this.#state = 'idle';
  }

  /** A method, since the compiler does not see that the state changes during an await. */
  #isClosed(): boolean {
    return this.#state === 'closed';
  }

  #asRefusal(error: unknown): ServerMessage {
    if (typeof error === 'object' && error !== null && 'loginRefusal' in error) return error as LoginRefusal;
    return this.#internalError(error);
  }

  /** The cause goes to the log, never to the client. */
  #internalError(error: unknown): ServerMessage {
    this.#options.log(
      `Internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    const message = 'Internal error of the embedded server; its log has the details.';
    return { number: 50000, state: 1, class: 16, message, line: 1 };
  }

  #attention(): void {
    const running = this.#running;
    if (!running) {
      this.#acknowledge();
      return;
    }
    running.hasAttention = true;
    running.response.close();
    running.controller.abort();
    this.#out.release();
  }

  /** A message of its own: in one with the response, tedious would not see it. */
  #acknowledge(): void {
    writeDone(this.#out.tokens, tokenType.done, doneStatus.attention);
    this.#out.end();
  }

  #request(message: Message): void {
    const { ignored, status } = message;
    // The client gave up while it sent: it waits for a response all the same.
    const work = ignored ? async () => {} : readRequest(message, this.#session!, this.#procedures!);
    const reset = ignored ? 0 : status & (packetStatus.reset | packetStatus.resetKeepTransaction);
    const response = new Response(
      this.#out,
      this.#options.serverName,
      this.#transaction,
      this.#canCompress,
      () => this.#resetPeer(),
    );
    this.#state = 'running';
    // Made before anything is awaited: ATTENTION may lie in the same chunk.
    const running = { response, controller: new AbortController(), hasAttention: false };
    this.#running = running;
    void this.#run(running, work, reset);
  }

  async #run(running: Running, work: Work, reset: number): Promise<void> {
    const { response, controller } = running;
    const { signal } = controller;
    try {
      // Lets the rest of the chunk, perhaps an ATTENTION, be seen before the engine begins.
      await undefined;
      if (reset !== 0) {
        const session = this.#session!;
        const keepTransaction = (reset & packetStatus.resetKeepTransaction) !== 0;
        const before = session.database;
        await session.reset(keepTransaction);
        this.#procedures!.clear();
        if (!keepTransaction) this.#transaction.current = 0n;
        if (session.database !== before) response.databaseChanged(before, session.database);
        response.resetDone();
      }
      if (!signal.aborted) await work({ response, signal }, response);
    } catch (error) {
      if (!signal.aborted) {
        response.message(error instanceof RpcError ? error.serverMessage : this.#internalError(error));
      }
    }
    if (this.#isClosed()) return;
    response.end();
    if (running.hasAttention) this.#acknowledge();
    this.#running = undefined;
    this.#state = 'idle';
    if (response.isFatal) this.#end();
  }

  /** Lets the last message go out, then ends the connection. */
  #end(): void {
    this.#state = 'closed';
    this.#session?.close();
    this.#stream.end();
    // A peer that never closes its side must not keep the socket.
    this.#socket.setTimeout(1_000, () => this.#socket.destroy());
  }
}
