/** What the rest of the product knows about SQL: options in, rows or bytes out. No code, only shapes. */

export type CommandType = 'Text' | 'StoredProcedure';

/** How exact numbers leave: as a JSON number with all its digits, or as a JSON string. */
export type NumberFormat = 'number' | 'string';

export interface PoolOptions {
  /** Connections at most, per process. Default: `Max Pool Size` of the connection string, else 100. */
  readonly max?: number;
  /** Connections kept while idle. Default: `Min Pool Size` of the connection string, else 0. */
  readonly min?: number;
  /** An idle connection over `min` is closed after this time. Default 240,000 ms, below Azure's own limit. */
  readonly idleTimeoutMs?: number;
}

/** In ms; each has an error code of its own, which names the phase. 0 switches that deadline off. */
export interface DeadlineOptions {
  /** Waiting for a free connection of an exhausted pool. Default 5,000. `EPoolExhausted`. */
  readonly acquireMs?: number;
  /** Each attempt to connect and log in. Default: `Connect Timeout` of the connection string, else 15,000. `EConnectTimeout`. */
  readonly connectMs?: number;
  /** From sending the command to its first row or its end. Default: `Command Timeout`, else 30,000. `EFirstRowTimeout`. */
  readonly firstRowMs?: number;
  /** From `open` to the last row. Default 230,000. `ETotalTimeout`. */
  readonly totalMs?: number;
  /** While the server says that the database is resuming (40613, 42108, 42109), acquire and connect last this long. Default 60,000. `EResuming`. */
  readonly resumeMs?: number;
}

export interface RetryOptions {
  /** Attempts after the first one, before the first row only. Default 3; 0 switches retries off. */
  readonly retries?: number;
  /** The first wait; doubles, with jitter. Default 200 ms. */
  readonly minDelayMs?: number;
  /** Default 5,000 ms. */
  readonly maxDelayMs?: number;
}

export interface FormatOptions {
  /** bigint in JSON. Default 'number'. (`rows()` gives a BigInt always.) */
  readonly bigint?: NumberFormat;
  /** decimal, numeric, money and smallmoney in JSON. Default 'number'. */
  readonly decimal?: NumberFormat;
  /** decimal, numeric, money and smallmoney of `rows()`: exact text, or a double. Default 'string'. */
  readonly rowDecimal?: NumberFormat;
}

/** The names are those of `SqlInputOptions`; the rest has defaults. */
export interface SqlCommandOptions {
  readonly commandText: string;
  /** Default 'Text'. */
  readonly commandType?: CommandType;
  /** The name of the app setting that holds the connection string. */
  readonly connectionStringSetting: string;
  /**
   * The binding's own form, `@id={id},@name={Query.name}`. The template is split at `,` and `=` before values are put in, so
   * a value may hold anything. Absent when values are given to `SqlCommand.values` instead.
   */
  readonly parameters?: string;
  readonly pool?: PoolOptions;
  readonly deadlines?: DeadlineOptions;
  readonly retry?: RetryOptions;
  readonly formats?: FormatOptions;
  /** The command may run twice without harm: also retry after a lost connection or 40197. Default false. */
  readonly idempotent?: boolean;
  /** The longest single value, in bytes on the wire. Default 64 MiB; longer ones fail with `EValueTooLarge`. */
  readonly maxValueBytes?: number;
}

/** What binding expressions read; an `HttpRequest` of `@azure/functions` is one. Names are found whatever their case. */
export interface BindingData {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Iterable<[string, string]>;
  readonly headers: Iterable<[string, string]>;
}

export type ParameterValue = null | undefined | boolean | number | bigint | string | Date | Uint8Array;

/** Any T-SQL type of `TypeName` below, with its length, precision or scale: `nvarchar(50)`, `decimal(19,4)`, `datetime2(7)`. */
export interface TypedParameter {
  readonly type: string;
  /** Exact types take strings: decimal '12.50', datetime2 '2026-11-30T10:20:30.1234567', time '10:20:30'. */
  readonly value: ParameterValue;
}

/** With or without the leading `@`. */
export type ParameterRecord = Readonly<Record<string, ParameterValue | TypedParameter>>;

/** Checked and ready to send. Opaque: made by `SqlCommand.bind` or `SqlCommand.values`. */
export interface BoundParameters {
  readonly count: number;
}

export type TypeName =
  | 'bit'
  | 'tinyint'
  | 'smallint'
  | 'int'
  | 'bigint'
  | 'decimal'
  | 'money'
  | 'smallmoney'
  | 'real'
  | 'float'
  | 'char'
  | 'varchar'
  | 'nchar'
  | 'nvarchar'
  | 'text'
  | 'ntext'
  | 'xml'
  | 'json'
  | 'binary'
  | 'varbinary'
  | 'image'
  | 'rowversion'
  | 'udt'
  | 'uniqueidentifier'
  | 'date'
  | 'time'
  | 'smalldatetime'
  | 'datetime'
  | 'datetime2'
  | 'datetimeoffset'
  | 'sql_variant';

export interface ColumnInfo {
  /** As a DataTable names it: `Column1` for an unnamed one, a number appended to a repeated one. Unique. */
  readonly name: string;
  readonly type: TypeName;
  readonly nullable: boolean;
  readonly precision?: number;
  readonly scale?: number;
}

/**
 * See the table of values: bigint is a bigint, exact decimals and all dates are strings, binary is a Buffer.
 */
export type RowValue = null | boolean | number | bigint | string | Buffer;
/** Has no prototype trouble: a column named `__proto__` is an own property like any other. */
export type Row = Record<string, RowValue>;

/**
 * The framing between the values of columns and rows; the decoders of the columns write the values as JSON.
 * All of it is asked for once for a recordset, so that the row loop only copies bytes. Texts become UTF-8.
 *
 * - JSON array: open `[`, separator `,`, rowEnd `}`, close `]`
 * - NDJSON: open ``, separator ``, rowEnd `}\n`, close ``
 *
 * and for both the prefix of the first column is `{"Id":`, of the next `,"Name":`.
 */
export interface RowWriter {
  /** Before the first row, also when there is none. */
  readonly open: string;
  /** Between two rows. */
  readonly separator: string;
  /** Before the value of each column, in the order of `columns`. */
  columnPrefixes(columns: readonly ColumnInfo[]): readonly string[];
  readonly rowEnd: string;
  /** After the last row of a request that ended well; never sent when it failed. */
  readonly close: string;
}

/** Writes rows one after the other, and hands them out as chunks of about 32 KiB. */
export interface RowBytes {
  add(row: unknown): void;
  /** After the last row of a request that ended well. */
  close(): void;
  /** A chunk's worth is there. */
  readonly isFull: boolean;
  /** What is there, a chunk at a time, each a buffer of its own; undefined when there is none. */
  take(): Uint8Array | undefined;
}

export interface RowStats {
  /** Rows handed out. */
  readonly rows: number;
  /** Bytes handed out by `chunks`; 0 for `rows`. */
  readonly bytes: number;
  /** Recordsets seen; those after the first are drained. */
  readonly recordsets: number;
  /** Attempts made, 1 when nothing was retried. */
  readonly attempts: number;
  /** From `open` to a connection in hand, all attempts included. */
  readonly acquireMs: number;
  /** From `open` to the first row (or the end of an empty recordset). */
  readonly firstRowMs: number;
  /** From `open` to the end; undefined while it runs. */
  readonly endMs: number | undefined;
  readonly ended: 'complete' | 'cancelled' | 'failed' | undefined;
}

/**
 * The first recordset of a command that runs: its first row is here, or it has ended well.
 *
 * It holds a connection until its rows are read to the end, its iteration is left (`break`, `throw`), its signal aborts,
 * or `cancel` is called: one of these must happen. Only one of `chunks` and `rows` can be called, once.
 */
export interface RowSource {
  /** Empty when the command returned no recordset at all; then there are no rows either. */
  readonly columns: readonly ColumnInfo[];
  readonly stats: RowStats;
  /** Whether `chunks` has handed out its last chunk, as far as is known without asking for another. */
  readonly exhausted: boolean;
  /**
   * The rows as bytes. Chunks are about 32 KiB, 64 KiB at most unless one value is longer; each is a buffer of its own. The consumer's pace is the database's.
   * Throws a SqlStreamError when the command fails amid the rows; what was handed out before is then incomplete, and `close` was not written.
   */
  chunks(writer: RowWriter): AsyncIterableIterator<Uint8Array>;
  /** @param onEnd told each time that the iterator ends, is left or fails; with what it fails */
  rows(onEnd?: (error: unknown) => void): AsyncIterableIterator<Row>;
  /**
   * For rows made from `rows()`, perhaps changed: a value that still is what its column gives is written as
   * `chunks` writes it (all digits, base64), everything else as JSON.stringify does, and a bigint as its digits.
   * A decimal in a sql_variant is text in a row, and stays text.
   */
  rowBytes(writer: RowWriter): RowBytes;
  /**
   * Sends ATTENTION; resolves when the connection is back in its pool, or destroyed because the server did not
   * acknowledge in time. Does nothing when the rows have ended. Never rejects.
   */
  cancel(reason?: unknown): Promise<void>;
}

export type LogLevel = 'info' | 'warn' | 'error';

export interface OpenContext {
  /** Aborted: the command is cancelled at the server, and whoever waits gets `EAborted`. */
  readonly signal?: AbortSignal;
  /** Told at once how to cancel the command, for a caller that has no signal. As `RowSource.cancel`, also while there is no row yet. */
  readonly onCancellable?: (cancel: (reason: unknown) => Promise<void>) => void;
  /** Retries, drained recordsets, what is ignored. Lines without secrets or SQL text. */
  readonly log?: (level: LogLevel, message: string) => void;
}

/** A command of an app, checked once and opened for each request. */
export interface SqlCommand {
  readonly commandType: CommandType;
  /** @throws SqlStreamError `EParameter` naming the parameter. */
  bind(data: BindingData): BoundParameters;
  /** @throws SqlStreamError `EParameter` naming the parameter. */
  values(record: ParameterRecord): BoundParameters;
  /** @throws SqlStreamError (see its codes) before the first row. */
  open(parameters: BoundParameters, context?: OpenContext): Promise<RowSource>;
}

export interface PoolStats {
  /** `server,port/database`. */
  readonly name: string;
  readonly used: number;
  readonly free: number;
  /** Requests that wait for a connection. */
  readonly pending: number;
  /** Connections being opened. */
  readonly connecting: number;
  readonly max: number;
}
