import { STATUS_CODES } from 'node:http';
import type { SqlErrorCode } from '../sql/index.js';
import { codeOf, type HttpErrorCode, isSqlError } from './errors.js';

type Code = SqlErrorCode | HttpErrorCode;

/**
 * Status and text of each error. The texts are all that a client is told: messages of errors may hold SQL text,
 * names of servers and logins, so they go to the log only. Statuses without a client to get them are 499.
 */
const answers: Readonly<Record<Code, readonly [status: number, detail: string]>> = {
  EOptions: [500, 'The endpoint is not set up correctly.'],
  ESetting: [500, 'The endpoint is not set up correctly: an app setting is missing or empty.'],
  EConnectionString: [500, 'The endpoint is not set up correctly: its connection string is wrong.'],
  EParameter: [400, 'A parameter is missing or wrong.'],
  EPoolExhausted: [503, 'Too many requests at once: no database connection became free in time.'],
  EConnect: [503, 'The database cannot be reached.'],
  EConnectTimeout: [504, 'Connecting to the database took too long.'],
  ELogin: [500, 'The database refused the login.'],
  EResuming: [503, 'The database is resuming.'],
  ETransient: [503, 'The database is busy or moving.'],
  EServer: [500, 'The command failed.'],
  EConnectionLost: [500, 'The connection to the database was lost.'],
  EFirstRowTimeout: [504, 'The database did not answer in time.'],
  ETotalTimeout: [504, 'The response took too long.'],
  EValueTooLarge: [500, 'A value is larger than the endpoint allows.'],
  EProtocol: [500, 'The answer of the database could not be read.'],
  EAborted: [500, 'The request was cancelled.'],
  EClosed: [503, 'The service is shutting down.'],
  EClientGone: [499, 'The client left.'],
  EClientSilent: [499, 'The client stopped reading.'],
  EResponse: [500, 'The endpoint failed.'],
  ERowsUsed: [500, 'The endpoint failed.'],
  EHandler: [500, 'The endpoint failed.'],
};

export const problemType = 'application/problem+json';

/** An error as a client may see it. */
export interface Problem {
  readonly status: number;
  /** Whole seconds for Retry-After; with 503 only. */
  readonly retryAfter: number | undefined;
  /** The members of `application/problem+json` (RFC 9457), `code` and `invocationId` being extensions. */
  readonly body: Readonly<Record<string, unknown>>;
}

export function problemOf(error: unknown, invocationId: string): Problem {
  const code = codeOf(error);
  let [status, detail] = answers[code];
  const sql = isSqlError(error) ? error : undefined;
  // A caller's own AbortSignal.timeout() is a deadline like the others.
  if (code === 'EAborted' && isTimeout(error)) status = 504;
  if (code === 'EParameter' && sql) detail = sql.message;
  const body = {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Client Closed Request',
    status,
    detail,
    code,
    ...(code === 'EParameter' && sql?.subject ? { parameter: sql.subject } : {}),
    invocationId,
  };
  const retryAfter =
    status === 503 ? Math.max(1, Math.ceil((sql?.retryAfterMs ?? 1_000) / 1_000)) : undefined;
  return { status, retryAfter, body };
}

function isTimeout(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.name === 'TimeoutError';
}
