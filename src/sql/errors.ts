/**
 * What went wrong, for code to branch on; texts may change. With the HTTP status that fits it.
 *
 * | code | when | status |
 * |---|---|---|
 * | EOptions | an option is missing or wrong | 500 |
 * | ESetting | the app setting is missing or empty | 500 |
 * | EConnectionString | a keyword or value is wrong, or can't be honoured | 500 |
 * | EParameter | a parameter is missing or can't be sent as its type | 400 |
 * | EPoolExhausted | no connection became free in time; `pool` has the counts | 503 |
 * | EConnect | the server can't be reached (`cause` has the socket's error) | 503 |
 * | EConnectTimeout | connect and login took too long | 504 |
 * | ELogin | the server refused the login (`number`, e.g. 18456) | 500 |
 * | EResuming | the database was still resuming when `resumeMs` was over | 503 |
 * | ETransient | a transient number, after all retries | 503 |
 * | EServer | any other error of the server, amid rows or before | 500 |
 * | EConnectionLost | the connection broke while the command ran | 500 |
 * | EFirstRowTimeout | no row in time | 504 |
 * | ETotalTimeout | not all rows in time | 504 |
 * | EValueTooLarge | a value is longer than `maxValueBytes` | 500 |
 * | EProtocol | bytes that TDS 7.4 does not explain, or a type that is not known | 500 |
 * | EAborted | the caller's signal aborted, or `cancel` was called | none |
 * | EClosed | the pools are closing or closed | 503 |
 */
export type SqlErrorCode =
  | 'EOptions'
  | 'ESetting'
  | 'EConnectionString'
  | 'EParameter'
  | 'EPoolExhausted'
  | 'EConnect'
  | 'EConnectTimeout'
  | 'ELogin'
  | 'EResuming'
  | 'ETransient'
  | 'EServer'
  | 'EConnectionLost'
  | 'EFirstRowTimeout'
  | 'ETotalTimeout'
  | 'EValueTooLarge'
  | 'EProtocol'
  | 'EAborted'
  | 'EClosed';

/** Where a request was when it failed. */
export type SqlPhase = 'setup' | 'parameters' | 'acquire' | 'connect' | 'firstRow' | 'rows';

export interface SqlErrorDetails {
  readonly phase?: SqlPhase | undefined;
  readonly cause?: unknown;
  /** The server's own fields (MS-TDS 2.2.7.10). */
  readonly number?: number | undefined;
  readonly state?: number | undefined;
  readonly class?: number | undefined;
  readonly lineNumber?: number | undefined;
  readonly procName?: string | undefined;
  /** When another try may succeed; set for all that a status of 503 fits. */
  readonly retryAfterMs?: number | undefined;
  /** The name of the parameter, setting or connection string keyword that is wrong. */
  readonly subject?: string | undefined;
  /** All errors of the server, in its order, when there were several. */
  readonly serverErrors?: readonly ServerErrorFields[] | undefined;
}

export interface ServerErrorFields {
  readonly message: string;
  readonly number: number;
  readonly state: number;
  readonly class: number;
  readonly lineNumber: number;
  readonly procName: string;
}

/**
 * The one error of this room. `message` is for the log: it may hold the server's text, so it does not go to a client;
 * for `EParameter` it is meant for the client and has no value of a setting in it.
 */
export class SqlStreamError extends Error {
  override readonly name = 'SqlStreamError';
  readonly code: SqlErrorCode;
  readonly phase: SqlPhase | undefined;
  readonly number: number | undefined;
  readonly state: number | undefined;
  readonly class: number | undefined;
  readonly lineNumber: number | undefined;
  readonly procName: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly subject: string | undefined;
  readonly serverErrors: readonly ServerErrorFields[];

  constructor(code: SqlErrorCode, message: string, details: SqlErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.phase = details.phase;
    this.number = details.number;
    this.state = details.state;
    this.class = details.class;
    this.lineNumber = details.lineNumber;
    this.procName = details.procName;
    this.retryAfterMs = details.retryAfterMs;
    this.subject = details.subject;
    this.serverErrors = details.serverErrors ?? [];
  }
}
