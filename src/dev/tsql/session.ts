import type { Catalog, Database, Procedure, Table } from './catalog.js';
import type { Column, Login, SqlValue } from './contract.js';
import { roundToDatetime, ticksOfUnixMs } from './dates.js';
import { Cancelled, SqlError } from './errors.js';
import type { Locks } from './locks.js';
import type { Sqlite } from './sqlite.js';

/** What a running request does, for sys.dm_exec_requests. */
export interface RunningRequest {
  readonly text: string;
  readonly startTime: bigint;
  readonly startedMs: number;
  command: string;
  waitType: string | undefined;
  waitSince: number;
  blockedBy: number | undefined;
}

export interface Options {
  noCount: boolean;
  xactAbort: boolean;
  lockTimeout: number;
  identityInsert: string | undefined;
}

/** What all sessions share. */
export interface Shared {
  readonly sqlite: Sqlite;
  readonly catalog: Catalog;
  readonly locks: Locks;
  readonly sessions: Map<number, Session>;
  readonly serverName: string;
  readonly version: string;
  readonly builtIns: ReadonlyMap<string, BuiltInProcedure>;
  /** Tables of SQLite that no name leads to any more; dropped when nobody reads. */
  readonly garbage: string[];
}

export interface BuiltInResult {
  readonly columns: readonly Column[];
  readonly rows: Iterable<readonly SqlValue[]>;
}

/**
 * A procedure that the program supplies: arguments by lower-case name without `@`, in the representation of
 * SqlValue; returns nothing or rows. A thrown SqlError or Error is the procedure's error.
 */
export type BuiltInProcedure = (
  args: Readonly<Record<string, SqlValue>>,
  session: Session,
) => BuiltInResult | undefined | Promise<BuiltInResult | undefined> | void | Promise<void>;

interface Snapshot {
  readonly databases: readonly { tables: Map<string, Table>; procedures: Map<string, Procedure> }[];
  readonly tempTables: Map<string, Table>;
}

/** State of one login, and its transaction. */
export class Session {
  readonly id: number;
  readonly login: Login;
  readonly shared: Shared;
  readonly loginTime: bigint;
  currentDatabase: Database;
  readonly loginDatabase: Database;
  tempTables = new Map<string, Table>();
  options: Options = defaults();
  request: RunningRequest | undefined;
  lastRequestTime: bigint;
  rowCount = 0;
  lastError = 0;
  lastIdentity: bigint | undefined;
  /** SCOPE_IDENTITY(): not that of procedures called. */
  scopeIdentity: bigint | undefined;
  nesting = 0;
  transactionCount = 0;
  /** An error made the transaction uncommittable. */
  doomed = false;
  #snapshot: Snapshot | undefined;
  #begun = false;

  constructor(id: number, login: Login, database: Database, shared: Shared) {
    this.id = id;
    this.login = login;
    this.shared = shared;
    this.currentDatabase = this.loginDatabase = database;
    this.loginTime = this.lastRequestTime = datetimeNow();
  }

  get database(): string {
    return this.currentDatabase.name;
  }
  get catalog(): Catalog {
    return this.shared.catalog;
  }
  get serverName(): string {
    return this.shared.serverName;
  }
  get version(): string {
    return this.shared.version;
  }
  peers(): Session[] {
    return [...this.shared.sessions.values()];
  }

  /** Marks the request as waiting while a promise is pending. */
  async waiting<T>(waitType: string, run: () => Promise<T>): Promise<T> {
    const request = this.request;
    if (request) Object.assign(request, { waitType, waitSince: Date.now() });
    try {
      return await run();
    } finally {
      if (request) request.waitType = undefined;
    }
  }

  /** Shared use of the database for one statement. */
  async read(signal: AbortSignal): Promise<() => void> {
    return this.shared.locks.read(this, this.options.lockTimeout, signal, this.#onLockWait('LCK_M_S'));
  }

  /**
   * Sole use, until the end of the transaction or, without one, until `endWrite`; `alone` also waits for those
   * who read, as what is written over several turns must.
   */
  async write(signal: AbortSignal, alone = false): Promise<void> {
    await this.shared.locks.own(
      this,
      !alone && this.transactionCount === 0,
      this.options.lockTimeout,
      signal,
      this.#onLockWait('LCK_M_X'),
    );
    if (this.transactionCount > 0 && !this.#begun) {
      this.shared.sqlite.exec('BEGIN');
      this.#begun = true;
    }
  }

  endWrite(): void {
    if (this.transactionCount === 0) this.#release();
  }

  #onLockWait(waitType: string): (waiting: boolean) => void {
    return (waiting) => {
      const request = this.request;
      if (!request) return;
      request.waitType = waiting ? waitType : undefined;
      request.waitSince = Date.now();
      request.blockedBy = waiting ? this.peers().find((peer) => this.shared.locks.owns(peer))?.id : undefined;
    };
  }

  begin(): void {
    if (this.transactionCount++ > 0) return;
    const copy = (d: Database) => ({ tables: new Map(d.tables), procedures: new Map(d.procedures) });
    this.#snapshot = { databases: this.catalog.databases.map(copy), tempTables: new Map(this.tempTables) };
  }

  /** True when this commit ended the transaction. */
  commit(): boolean {
    if (--this.transactionCount > 0) return false;
    if (this.#begun) this.shared.sqlite.exec('COMMIT');
    this.#end();
    return true;
  }

  /** Undoes data and catalog; true when there was a transaction. */
  rollback(): boolean {
    if (this.transactionCount === 0) return false;
    this.transactionCount = 0;
    if (this.#begun) {
      this.shared.sqlite.exec('ROLLBACK');
      // Only the owner of the database can have changed the catalog since.
      for (const [i, database] of this.catalog.databases.entries())
        Object.assign(database, this.#snapshot!.databases[i]);
      this.tempTables = this.#snapshot!.tempTables;
    }
    this.#end();
    return true;
  }

  #end(): void {
    this.#begun = false;
    this.doomed = false;
    this.#snapshot = undefined;
    this.#release();
  }

  #release(): void {
    this.shared.locks.release(this);
    this.collect();
  }

  /** Frees dropped tables; SQLite refuses while any statement reads. */
  collect(): void {
    const { garbage, locks, sqlite } = this.shared;
    if (!locks.idle) return;
    for (const table of garbage.splice(0)) sqlite.exec(`DROP TABLE IF EXISTS ${table}`);
  }

  /** Back to the state after login. */
  reset(): void {
    this.rollback();
    for (const table of this.tempTables.values()) this.shared.garbage.push(table.storage);
    this.tempTables = new Map();
    this.options = defaults();
    this.currentDatabase = this.loginDatabase;
    this.rowCount = this.lastError = 0;
    this.lastIdentity = this.scopeIdentity = undefined;
    this.collect();
  }
}

const defaults = (): Options => ({
  noCount: false,
  xactAbort: false,
  lockTimeout: -1,
  identityInsert: undefined,
});

export const datetimeNow = (): bigint => roundToDatetime(ticksOfUnixMs(Date.now()));

/** What a client may know of an error that is not SQL's: that there was one. */
export function asSqlError(error: unknown): SqlError {
  if (error instanceof SqlError || error instanceof Cancelled) return error as SqlError;
  if (error instanceof RangeError && /call stack/i.test(error.message)) {
    return new SqlError(
      8631,
      17,
      1,
      'Internal error: Server stack limit has been reached. Please look for potentially deep nesting in your query, and try to simplify it.',
    );
  }
  return new SqlError(8624, 16, 1, 'Internal error of the embedded server. The statement was not completed.');
}
