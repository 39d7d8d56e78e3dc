/**
 * What a SQL engine offers to be served over TDS, and what the wire offers to the engine: all that both share.
 *
 * The wire layer (tds) knows bytes and sessions and no SQL; the engine (tsql) knows SQL and no bytes; what wraps an
 * engine to let things go wrong (faults) knows neither.
 */

/** Names as T-SQL spells them. `numeric` is `decimal`, `timestamp` is `rowversion`. */
export type TypeName =
  | 'bit'
  | 'tinyint'
  | 'smallint'
  | 'int'
  | 'bigint'
  | 'real'
  | 'float'
  | 'smallmoney'
  | 'money'
  | 'smalldatetime'
  | 'datetime'
  | 'uniqueidentifier'
  | 'decimal'
  | 'date'
  | 'time'
  | 'datetime2'
  | 'datetimeoffset'
  | 'char'
  | 'varchar'
  | 'nchar'
  | 'nvarchar'
  | 'binary'
  | 'varbinary'
  | 'rowversion'
  | 'text'
  | 'ntext'
  | 'image'
  | 'xml'
  | 'sql_variant';

export interface SqlType {
  readonly name: TypeName;
  /** char family: characters (UTF-16 units for nchar and nvarchar, bytes for char and varchar); binary family: bytes. */
  readonly length?: number | 'max';
  /** decimal: 1 to 38. */
  readonly precision?: number;
  /** decimal: 0 to precision; time, datetime2, datetimeoffset: 0 to 7. */
  readonly scale?: number;
  /** Text: name of the collation, or its five bytes in hexadecimal if a client sent it; the server's when absent. */
  readonly collation?: string;
}

/** An instant (UTC) with the offset it was written in. */
export interface OffsetDateTime {
  /** 100 ns units since 0001-01-01T00:00:00 UTC. */
  readonly ticks: bigint;
  /** Minutes east of UTC, -840 to 840. */
  readonly offset: number;
}

export interface VariantValue {
  readonly type: SqlType;
  readonly value: SqlValue;
}

/**
 * A value on its way in or out; no type passes through a lossy one:
 *
 * - bit: boolean; tinyint, smallint, int: number; bigint: bigint
 * - decimal, money, smallmoney: bigint, the value times 10^scale (money's scale is 4)
 * - real, float: number
 * - char family, text, ntext, xml: string; uniqueidentifier: string, upper-case as T-SQL prints it
 * - binary family, image, rowversion: Uint8Array
 * - date: number, days since 0001-01-01
 * - time: number, 100 ns units since midnight
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

/** An error (class over 10) or information (class 0 to 10), as SQL Server numbers them. */
export interface ServerMessage {
  readonly number: number;
  readonly state: number;
  readonly class: number;
  readonly message: string;
  readonly procedure?: string;
  /** 1-based; 0 when there is none. */
  readonly line: number;
}

export interface Parameter {
  /** With the leading `@`; empty when the client sent it by position. */
  readonly name: string;
  readonly type: SqlType;
  readonly value: SqlValue;
  /** The client asked for the value back (OUTPUT). */
  readonly output: boolean;
  /** The client leaves the value to the procedure's default; `value` is then null. */
  readonly useDefault?: boolean;
}

/** What a statement did; becomes DONE, DONEINPROC or DONEPROC. */
export interface StatementDone {
  /** Rows selected or changed; absent where T-SQL gives no count, or under SET NOCOUNT ON. */
  readonly rowCount?: number;
  /** The statement kind of the DONE token's CurCmd; the wire layer holds the numbers. */
  readonly statement: 'select' | 'insert' | 'update' | 'delete' | 'other';
  readonly failed?: boolean;
}

/** The response to one request, in the order of the calls. */
export interface ResponseSink {
  /** Begins a recordset. */
  columns(columns: readonly Column[]): void;
  /** A row of the recordset begun last. */
  row(values: readonly SqlValue[]): void;
  /**
   * Encodes rows of the recordset begun last, and returns what sends them all, as often as it is called: much faster
   * than to send them one by one. A sink that must see each row has it not.
   */
  block?(rows: readonly (readonly SqlValue[])[]): () => void;
  /** Sends what is pending, though it fills no packet (RAISERROR ... WITH NOWAIT). */
  flush?(): void;
  statementDone(done: StatementDone): void;
  /** A procedure or sp_executesql body begins; until its end, statements end in DONEINPROC. */
  procedureBegin(): void;
  /** The procedure ends: its RETURNSTATUS, then DONEPROC. */
  procedureEnd(returnStatus: number): void;
  /** An OUTPUT parameter of the request's outermost call; sent before the final DONEPROC. */
  returnValue(name: string, type: SqlType, value: SqlValue): void;
  message(message: ServerMessage): void;
  /** The session's transaction began or ended; becomes ENVCHANGE. */
  transaction(event: 'begin' | 'commit' | 'rollback'): void;
  /**
   * Undefined while the client keeps up. Otherwise a promise that settles when the socket takes bytes again
   * or the request is over; an engine awaits it between rows, which is all that backpressure needs.
   */
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
  /** Empty for the user's default database. */
  readonly database: string;
  readonly applicationName: string;
  readonly hostName: string;
  readonly interfaceName: string;
  readonly readOnlyIntent: boolean;
  readonly clientAddress: string;
}

/** Thrown by `login`: the message that the client gets before the connection closes. */
export interface LoginRefusal extends ServerMessage {
  readonly loginRefusal: true;
}

/** Thrown by `login` or a request, to show a fault: the connection is reset (TCP RST) without an answer. */
export interface ConnectionReset {
  readonly connectionReset: true;
}

/**
 * One login. The wire layer calls one request at a time and awaits it; failures are messages, not exceptions. What it
 * throws, but for a ConnectionReset, is an internal error: logged, and told to the client without details.
 */
export interface EngineSession {
  /** @@SPID. */
  readonly id: number;
  readonly database: string;
  batch(sql: string, context: RequestContext): Promise<void>;
  /** sp_executesql and prepared statements: `declarations` is `@a int, @b nvarchar(10) OUTPUT`. */
  execute(
    sql: string,
    declarations: string,
    parameters: readonly Parameter[],
    context: RequestContext,
  ): Promise<void>;
  /** An RPC by name, `dbo.BlogProc`; calls `procedureBegin` and `procedureEnd` itself. */
  procedure(name: string, parameters: readonly Parameter[], context: RequestContext): Promise<void>;
  transaction(
    request: 'begin' | 'commit' | 'rollback' | 'save',
    name: string,
    context: RequestContext,
  ): Promise<void>;
  /**
   * RESETCONNECTION: rolls back, drops temp tables and settings, returns to the login's database. With
   * RESETCONNECTIONSKIPTRAN, `keepTransaction` is true and the transaction stays open.
   */
  reset(keepTransaction?: boolean): Promise<void>;
  /** The connection is gone; also called while a request runs, after its signal. */
  close(): void;
}

export interface SqlEngine {
  /** Throws a LoginRefusal (18456 on a wrong password, 4060 on an unknown database, ...). */
  login(login: Login): Promise<EngineSession>;
  close(): Promise<void>;
}
