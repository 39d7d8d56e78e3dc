import type { ConnectionConfiguration } from 'tedious';
import type { ConnectionOptions } from './connection-string/parse.js';
import type { ServerErrorFields } from './errors.js';
import { connectError, isFatal } from './server-errors.js';
import { Connection, Request } from './tedious/driver.js';
import {
  askForOdbcDefaults,
  hasOpenTransaction,
  insistOnEncryption,
  internals,
  resetWithNextRequest,
} from './tedious/internals.js';
import { sendInOnePacket } from './tedious/one-packet.js';
import { readPackets } from './tedious/packets.js';
import { type TappedSink, tapRows } from './tedious/row-tokens.js';
import { toTediousConfig } from './tedious-config.js';

/** An idle connection older than this is tried before it is used: a firewall may have dropped it without a word. */
const probeAfterIdleMs = 30_000;
const probeTimeoutMs = 2_000;

/**
 * The session's settings are those that SqlClient gets: its login asks for the defaults of ODBC, and nothing is SET afterwards.
 * tedious SETs 17 options of its own after each login, which RESETCONNECTION would undo. Text size must be named: null would mean 0.
 */
const sessionDefaults = {
  abortTransactionOnError: null,
  datefirst: null,
  dateFormat: null,
  enableAnsiNull: null,
  enableAnsiNullDefault: null,
  enableAnsiPadding: null,
  enableAnsiWarnings: null,
  enableArithAbort: null,
  enableConcatNullYieldsNull: null,
  enableCursorCloseOnCommit: null,
  enableImplicitTransactions: null,
  enableNumericRoundabort: null,
  enableQuotedIdentifier: null,
  textsize: 2_147_483_647,
};

function configOf(options: ConnectionOptions, connectMs: number): ConnectionConfiguration {
  const config = toTediousConfig({ ...options, connectTimeoutMs: connectMs });
  if (internals === undefined) return config;
  const settings = { ...sessionDefaults, language: options.language ?? null };
  const all: unknown = { ...config.options, ...settings };
  // Its types lack the nulls that its code takes.
  return { ...config, options: all as NonNullable<ConnectionConfiguration['options']> };
}

/** A connection of a pool: knows whether it can be used again, and cleans its session when it is. */
export class SqlConnection {
  readonly tedious: Connection;
  readonly openedAt = performance.now();
  /** Closed, lost, or left in a state that no one else should see. */
  broken = false;
  /** After it the server ends the connection, now or in a moment. */
  fatalError: ServerErrorFields | undefined;
  #releasedAt = this.openedAt;
  #used = false;
  #loggedIn = false;
  #sink: TappedSink | undefined;

  private constructor(tedious: Connection) {
    this.tedious = tedious;
  }

  /** @throws SqlStreamError `EConnect`, `EConnectTimeout`, `ELogin`, `ETransient`, `EResuming` */
  static open(options: ConnectionOptions, connectMs: number): Promise<SqlConnection> {
    const server = options.port === undefined ? options.server : `${options.server},${options.port}`;
    return new Promise((resolve, reject) => {
      const tedious = new Connection(configOf(options, connectMs));
      const connection = new SqlConnection(tedious);
      const tokens: ServerErrorFields[] = [];
      const onErrorMessage = (token: unknown) => tokens.push(token as ServerErrorFields);
      tedious.on('errorMessage', onErrorMessage);
      // Without a listener, a reset of an idle connection would end the process.
      tedious.on('error', () => connection.#lose());
      tedious.on('end', () => connection.#lose());
      if (internals !== undefined) {
        connection.#tap();
        askForOdbcDefaults(tedious);
        sendInOnePacket(tedious);
        // A strict connection is encrypted before it says anything.
        if (options.encrypt === 'mandatory') insistOnEncryption(tedious);
      }
      tedious.once('connect', (error?: Error) => {
        tedious.off('errorMessage', onErrorMessage);
        tedious.on('errorMessage', (token: unknown) => connection.#hear(token as ServerErrorFields));
        connection.#loggedIn = true;
        if (error !== undefined) {
          reject(connectError(error, tokens, server));
          return;
        }
        if (internals !== undefined) readPackets(tedious);
        resolve(connection);
      });
      tedious.connect();
    });
  }

  #tap(): void {
    // Responses without rows of ours: what follows the login, a probe, the acknowledgement of an ATTENTION. What they should not hold
    // must cost the connection, while tedious's own parser would throw it at the process.
    const connection = this;
    const withoutRows: TappedSink = {
      parser: undefined,
      amidRow: false,
      get isWanted() {
        return !connection.broken;
      },
      beginRecordset() {},
      read() {
        throw new Error('A row where none was expected.');
      },
      fail: () => this.destroy(),
    };
    tapRows(this.tedious, () => {
      if (!this.#loggedIn) return undefined;
      const sink = this.#sink ?? withoutRows;
      this.#sink = undefined;
      return sink;
    });
  }

  #hear(error: ServerErrorFields): void {
    if (isFatal(error)) this.fatalError = error;
  }

  #lose(): void {
    this.broken = true;
  }

  /** Sends a request; its rows go to the sink, or to the request's `row` events when there is none. */
  send(request: Request, kind: 'batch' | 'rpc' | 'procedure', sink?: TappedSink): void {
    this.#sink = sink;
    if (this.#used && internals !== undefined) resetWithNextRequest(this.tedious);
    this.#used = true;
    if (kind === 'batch') this.tedious.execSqlBatch(request);
    else if (kind === 'rpc') this.tedious.execSql(request);
    else this.tedious.callProcedure(request);
  }

  /** Before it goes back to its pool. */
  settle(): void {
    this.#releasedAt = performance.now();
    // The next request would name a transaction that its reset has ended.
    if (hasOpenTransaction(this.tedious) || this.fatalError !== undefined) this.broken = true;
  }

  /** Fit for another request? */
  async validate(lifetimeMs: number): Promise<boolean> {
    if (this.broken) return false;
    const now = performance.now();
    if (lifetimeMs > 0 && now - this.openedAt > lifetimeMs) return false;
    if (!this.#used) return true;
    if (internals === undefined) return this.#roundTrip((done) => this.tedious.reset(done));
    if (now - this.#releasedAt < probeAfterIdleMs) return true;
    return this.#roundTrip((done) =>
      this.tedious.execSqlBatch(new Request('DECLARE @probe bit', (error) => done(error))),
    );
  }

  #roundTrip(send: (done: (error?: Error | null) => void) => void): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), probeTimeoutMs);
      send((error) => {
        clearTimeout(timer);
        resolve(error == null && !this.broken);
      });
    });
  }

  /** Closes the socket at once; a request that runs ends with an error. */
  destroy(): void {
    this.broken = true;
    this.tedious.close();
  }
}
