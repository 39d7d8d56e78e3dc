import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Column, Login, ResponseSink, SqlType, SqlValue } from '../sql-engine.js';
import { roundToDatetime, ticksOfUnixMs } from './dates.js';
import { Cancelled, fail, type SqlError } from './errors.js';
import type { Sqlite } from './sqlite.js';
import type { Expr } from './syntax.js';

export interface Table {
  readonly id: number;
  readonly name: string;
  readonly columns: readonly (Column & { readonly identity: boolean; readonly fallback: Expr | undefined })[];
  /** Places of the primary key's columns. */
  readonly key: readonly number[];
  readonly keyName: string;
  /** The table's name in SQLite; its columns are c0, c1, ... */
  readonly storage: string;
  /** Not rolled back, as in SQL Server: numbers that were taken stay taken. */
  readonly identity: { readonly increment: bigint; next: bigint };
}

/** How a list of statements ended. */
export type Flow = undefined | 'break' | 'continue' | { readonly status: number };

/** A parsed statement, with its first word; names are looked up when it runs. */
export interface Statement {
  readonly line: number;
  readonly word: string;
  readonly run: (frame: Frame) => Flow | Promise<Flow>;
}

export interface ParameterDefinition {
  readonly name: string;
  readonly type: SqlType;
  readonly fallback: Expr | undefined;
  readonly isOutput: boolean;
}

export interface Procedure {
  readonly id: number;
  readonly name: string;
  readonly parameters: readonly ParameterDefinition[];
  readonly body: readonly Statement[];
}

/** Objects of one database by lower-case name, all of schema dbo. */
export interface DatabaseObjects {
  readonly name: string;
  readonly tables: Map<string, Table>;
  readonly procedures: Map<string, Procedure>;
}

/**
 * A procedure that the program supplies: arguments by lower-case name without `@`, in the representation of
 * SqlValue; returns nothing or rows. A thrown Error is the procedure's error.
 */
export type BuiltInProcedure = (args: Readonly<Record<string, SqlValue>>) => BuiltInRows | undefined;
export interface BuiltInRows {
  readonly columns: readonly Column[];
  readonly rows: Iterable<readonly SqlValue[]>;
  /** How many to send; the rows, of which there must be some, then end early or repeat. Default: each once. */
  readonly count?: number;
}

/** What all sessions share; one of them may own the database, the others read it or wait. */
export interface Shared {
  readonly sqlite: Sqlite;
  readonly databases: readonly DatabaseObjects[];
  readonly sessions: Map<number, Session>;
  readonly builtIns: ReadonlyMap<string, BuiltInProcedure>;
  /** Tables of SQLite that no name leads to any more; dropped when nobody reads. */
  readonly garbage: string[];
  readonly readers: Session[];
  readonly waiting: Set<() => void>;
  owner: Session | undefined;
  lastId: number;
}

/** The variables and the answer of a batch or of a procedure's body. */
export interface Frame {
  readonly session: Session;
  readonly response: ResponseSink;
  readonly signal: AbortSignal;
  /** A promise when the request has held the event loop long enough. */
  readonly pause: () => Promise<void> | undefined;
  /** By lower-case name. */
  readonly variables: Map<string, { readonly type: SqlType; value: SqlValue }>;
  readonly procedure: string | undefined;
  /** TRY blocks around. */
  readonly tries: number;
  /** What a CATCH block handles. */
  readonly caught: SqlError | undefined;
}

/** Time that one request may hold the event loop between two turns. */
const sliceMs = 8;

/** Lets other sessions run after each slice, and notices a cancelled request. */
export function slices(signal: AbortSignal): Frame['pause'] {
  let end = performance.now() + sliceMs;
  const pause = async (): Promise<void> => {
    await nextTurn();
    if (signal.aborted) throw new Cancelled();
    end = performance.now() + sliceMs;
  };
  return () => (performance.now() < end ? undefined : pause());
}

const defaults = { noCount: false, xactAbort: false, lockTimeout: -1 };
export const datetimeNow = (): bigint => roundToDatetime(ticksOfUnixMs(Date.now()));

/** State of one login, and its transaction. */
export class Session {
  readonly id: number;
  readonly login: Login;
  readonly shared: Shared;
  readonly home: DatabaseObjects;
  readonly loginTime = datetimeNow();
  tempTables = new Map<string, Table>();
  options = { ...defaults };
  /** What a running request does, for sys.dm_exec_requests. */
  request: { text: string; startTime: bigint; command: string; waitType: string | null } | undefined;
  /** Of the statement: where it is, and its one clock, so that GETDATE() is the same in all rows. */
  line = 1;
  now = Date.now();
  rowCount = 0;
  lastError = 0;
  lastIdentity: bigint | null = null;
  nesting = 0;
  transactionCount = 0;
  /** An error made the transaction uncommittable. */
  isDoomed = false;

  constructor(id: number, login: Login, home: DatabaseObjects, shared: Shared) {
    this.id = id;
    this.login = login;
    this.home = home;
    this.shared = shared;
  }

  /** SQL Server's ids look random; steps of 16 make sure that no code takes them for positions. */
  newId(): number {
    this.shared.lastId += 16;
    return this.shared.lastId;
  }

  /** Marks the request as waiting while a promise is pending. */
  async wait(waitType: string, pending: Promise<void>): Promise<void> {
    const { request } = this;
    if (request) request.waitType = waitType;
    await pending.finally(() => {
      if (request) request.waitType = null;
    });
  }

  /** Shared use of the database for one statement; returns its end. */
  async read(signal: AbortSignal): Promise<() => void> {
    const { readers } = this.shared;
    await this.#lock('LCK_M_S', signal, () => true);
    readers.push(this);
    return () => {
      readers.splice(readers.indexOf(this), 1);
      this.#wake();
    };
  }

  /**
   * Sole use of the database for `body` and on to the end of the transaction. Without one, what is written and
   * committed within one turn of the event loop needs not wait for readers.
   */
  async write(signal: AbortSignal, body: () => void): Promise<void> {
    const { shared } = this;
    if (this.isDoomed) fail(3930);
    const isAlone = (): boolean => shared.readers.every((reader) => reader === this);
    await this.#lock('LCK_M_X', signal, () => this.transactionCount === 0 || isAlone());
    if (this.transactionCount > 0 && shared.owner !== this) {
      shared.owner = this;
      shared.sqlite.exec('BEGIN');
    }
    body();
    if (this.transactionCount === 0) this.#wake();
  }

  /** LOCK_TIMEOUT -1 waits for ever, 0 not at all; 1222 when the time is over. */
  async #lock(waitType: string, signal: AbortSignal, isFree: () => boolean): Promise<void> {
    const { shared, options } = this;
    const end = options.lockTimeout < 0 ? Number.POSITIVE_INFINITY : performance.now() + options.lockTimeout;
    while ((shared.owner && shared.owner !== this) || !isFree()) {
      const left = end - performance.now();
      if (left <= 0) fail(1222);
      if (signal.aborted) throw new Cancelled();
      const woken = new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          shared.waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        const timer = setTimeout(wake, Math.min(left, 2 ** 31 - 1));
        shared.waiting.add(wake);
        signal.addEventListener('abort', wake);
      });
      await this.wait(waitType, woken);
    }
  }

  /** Ends the transaction, if there is one, and says whether there was. */
  end(how: 'COMMIT' | 'ROLLBACK'): boolean {
    if (this.transactionCount === 0) return false;
    this.transactionCount = 0;
    this.isDoomed = false;
    if (this.shared.owner === this) {
      this.shared.owner = undefined;
      this.shared.sqlite.exec(how);
    }
    this.#wake();
    return true;
  }

  /** Lets those try again who wait, and frees dropped tables; SQLite refuses while any statement reads. */
  #wake(): void {
    const { garbage, owner, readers, sqlite, waiting } = this.shared;
    if (!owner && readers.length === 0)
      for (const table of garbage.splice(0)) sqlite.exec(`DROP TABLE ${table}`);
    for (const wake of [...waiting]) wake();
  }

  /** Back to the state after login. */
  reset(keepTransaction = false): void {
    if (!keepTransaction) this.end('ROLLBACK');
    for (const { storage } of this.tempTables.values()) this.shared.garbage.push(storage);
    this.tempTables = new Map();
    this.options = { ...defaults };
    this.rowCount = this.lastError = 0;
    this.lastIdentity = null;
    this.#wake();
  }
}
