/**
 * The interface through which a server offers this engine to its clients: text in, rows out. The wire layer declares the
 * same shapes for itself, with what they mean on the wire, so that neither room imports the other; the compiler checks
 * that they fit where both are put together.
 */
import type { SqlType } from './types.js';

export type { SqlType, TypeName } from './types.js';

/** An instant, in 100 ns units since 0001-01-01T00:00:00 UTC, with the offset it was written in, in minutes east of UTC. */
export interface OffsetDateTime {
  readonly ticks: bigint;
  readonly offset: number;
}

export interface VariantValue {
  readonly type: SqlType;
  readonly value: SqlValue;
}

/**
 * A value on its way in or out; no type passes through a lossy one:
 *
 * - bit: boolean; tinyint, smallint, int, real, float: number; bigint: bigint
 * - decimal, money, smallmoney: bigint, the value times 10^scale (money's scale is 4)
 * - char family, text, ntext, xml: string; uniqueidentifier: string, upper-case as T-SQL prints it
 * - binary family, image, rowversion: Uint8Array
 * - date: number, days since 0001-01-01; time: number, 100 ns units since midnight
 * - smalldatetime, datetime, datetime2: bigint, 100 ns units since 0001-01-01 (datetime is rounded to the
 *   nearest 100 ns of its 1/300 s)
 * - datetimeoffset: OffsetDateTime; sql_variant: VariantValue
 */
export type SqlValue = null | boolean | number | bigint | string | Uint8Array | OffsetDateTime | VariantValue;

export interface Column {
  /** Empty for an expression without a name. */
  readonly name: string;
  readonly type: SqlType;
  readonly nullable: boolean;
  readonly identity?: boolean;
}

/** An error (class over 10) or information; `line` is 1-based, 0 when there is none. */
export interface ServerMessage {
  readonly number: number;
  readonly state: number;
  readonly class: number;
  readonly message: string;
  readonly procedure?: string;
  readonly line: number;
}

/** `name` is empty when the client sent the parameter by position. */
export interface Parameter {
  readonly name: string;
  readonly type: SqlType;
  readonly value: SqlValue;
  readonly output: boolean;
  readonly useDefault?: boolean;
}

export interface StatementDone {
  /** Rows selected or changed; absent where T-SQL gives no count, or under SET NOCOUNT ON. */
  readonly rowCount?: number;
  readonly statement: 'select' | 'insert' | 'update' | 'delete' | 'other';
  readonly failed?: boolean;
}

/** The response to one request, in the order of the calls. */
export interface ResponseSink {
  columns(columns: readonly Column[]): void;
  row(values: readonly SqlValue[]): void;
  flush?(): void;
  statementDone(done: StatementDone): void;
  procedureBegin(): void;
  procedureEnd(returnStatus: number): void;
  returnValue(name: string, type: SqlType, value: SqlValue): void;
  message(message: ServerMessage): void;
  transaction(event: 'begin' | 'commit' | 'rollback'): void;
  /** Undefined while the client keeps up; else settles when the socket takes bytes again or the request is over. */
  drained(): Promise<void> | undefined;
}

export interface RequestContext {
  readonly response: ResponseSink;
  /** Aborted by ATTENTION, by the loss of the connection and by the server's end. The engine then stops soon. */
  readonly signal: AbortSignal;
}

export interface Login {
  readonly user: string;
  readonly password: string;
  /** Empty for the default one. */
  readonly database: string;
  readonly applicationName: string;
  readonly hostName: string;
}

/** Thrown by `login`: the message that the client gets before the connection closes. */
export interface LoginRefusal extends ServerMessage {
  readonly loginRefusal: true;
}

type Run<T extends unknown[]> = (...args: [...T, context: RequestContext]) => Promise<void>;

/** One login. The wire layer calls one request at a time and awaits it; failures are messages, not exceptions. */
export interface EngineSession {
  /** @@SPID. */
  readonly id: number;
  readonly database: string;
  readonly batch: Run<[sql: string]>;
  /** sp_executesql and prepared statements: `declarations` is `@a int, @b nvarchar(10) OUTPUT`. */
  readonly execute: Run<[sql: string, declarations: string, parameters: readonly Parameter[]]>;
  readonly procedure: Run<[name: string, parameters: readonly Parameter[]]>;
  readonly transaction: Run<[request: 'begin' | 'commit' | 'rollback' | 'save', name: string]>;
  /** RESETCONNECTION: back to the state after login; with `keepTransaction` the transaction stays open. */
  reset(keepTransaction?: boolean): Promise<void>;
  /** The connection is gone; also called while a request runs, after its signal. */
  close(): void;
}

export interface SqlEngine {
  /** Throws a LoginRefusal (18456 on a wrong password, 4060 on an unknown database). */
  login(login: Login): Promise<EngineSession>;
  close(): Promise<void>;
}
