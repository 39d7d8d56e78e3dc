import type { SqlErrorCode } from '../sql/index.js';

/**
 * What went wrong between the rows and the client.
 *
 * | code | when | status |
 * |---|---|---|
 * | EClientGone | the client left before the end of the response | none |
 * | EClientSilent | the client took nothing for `clientSilenceMs` | none |
 * | EResponse | a handler returned what is no response, or an init with a wrong status, header or cookie | 500 |
 * | ERowsUsed | the rows of one `rows()` call were iterated twice | 500 |
 * | EHandler | the handler threw an error of its own | 500 |
 */
export type HttpErrorCode = 'EClientGone' | 'EClientSilent' | 'EResponse' | 'ERowsUsed' | 'EHandler';

export class HttpStreamError extends Error {
  override readonly name = 'HttpStreamError';
  readonly code: HttpErrorCode;

  constructor(code: HttpErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The fields of a `SqlStreamError`, all that this room knows of that class. */
export interface SqlErrorFields extends Error {
  readonly code: SqlErrorCode;
  readonly phase?: string;
  readonly number?: number;
  readonly state?: number;
  readonly class?: number;
  readonly lineNumber?: number;
  readonly procName?: string;
  readonly retryAfterMs?: number;
  readonly subject?: string;
}

/** By name and not by class, since an app may hold two copies of this package. */
export function isSqlError(error: unknown): error is SqlErrorFields {
  return error instanceof Error && error.name === 'SqlStreamError' && 'code' in error;
}

export function codeOf(error: unknown): SqlErrorCode | HttpErrorCode {
  if (isSqlError(error) || error instanceof HttpStreamError) return error.code;
  return 'EHandler';
}
