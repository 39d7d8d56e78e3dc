import {
  type ServerErrorFields,
  type SqlErrorCode,
  type SqlErrorDetails,
  type SqlPhase,
  SqlStreamError,
} from './errors.js';

/** The database is being resumed or warmed up (learn.microsoft.com, "Troubleshoot transient connection errors"; 42108 and 42109: SQL pools). */
const resuming = new Set([40613, 42108, 42109]);
/**
 * Numbers that mean "not started, or rolled back": deadlock victim, lock timeout, database not available, limits of resources, service busy. From the same page and
 * "Database Engine events and errors".
 */
const notStarted = new Set([1205, 1222, 4060, 10928, 10929, 40501, 40613, 42108, 42109, 49918, 49919, 49920]);
/** The service failed amid the request: it may have been done. */
const maybeDone = new Set([40197]);

export function isResuming(number: number | undefined): boolean {
  return number !== undefined && resuming.has(number);
}

function isTransient(number: number | undefined): boolean {
  return number !== undefined && (notStarted.has(number) || maybeDone.has(number));
}

/** The server ends the connection after such an error (Transact-SQL, "Database Engine error severities": 20 to 24), often without a DONE. */
const leastFatalClass = 20;

export function isFatal(error: { readonly class?: number | undefined }): boolean {
  return (error.class ?? 0) >= leastFatalClass;
}

/** May the command be sent again after this error? Asked only before the first row. */
export function mayRetry(error: SqlStreamError, idempotent: boolean): boolean {
  if (error.code === 'EConnect') return error.phase === 'connect';
  if (error.code === 'EConnectionLost') return idempotent;
  if (error.number === undefined) return false;
  if (notStarted.has(error.number)) return true;
  if (error.phase === 'connect') return maybeDone.has(error.number);
  return idempotent && (maybeDone.has(error.number) || isFatal(error));
}

function fieldsOf(error: unknown): ServerErrorFields | undefined {
  const {
    message,
    number,
    state,
    class: severity,
    lineNumber,
    procName,
  } = error as Partial<ServerErrorFields>;
  if (typeof number !== 'number') return undefined;
  return {
    message: message ?? '',
    number,
    state: state ?? 0,
    class: severity ?? 0,
    lineNumber: lineNumber ?? 0,
    procName: procName ?? '',
  };
}

/** When a client may well try again; for what a status of 503 fits. */
export const retryAfterMs = {
  resuming: 30_000,
  transient: 10_000,
  connect: 10_000,
  exhausted: 5_000,
  closed: 5_000,
};

function codeFor(number: number, phase: SqlPhase): { code: SqlErrorCode; retryAfterMs?: number } {
  if (isResuming(number)) return { code: 'EResuming', retryAfterMs: retryAfterMs.resuming };
  if (isTransient(number)) return { code: 'ETransient', retryAfterMs: retryAfterMs.transient };
  return { code: phase === 'connect' ? 'ELogin' : 'EServer' };
}

export function serverError(
  errors: readonly ServerErrorFields[],
  phase: SqlPhase,
  cause?: unknown,
): SqlStreamError {
  // A batch goes on after most errors: the first is the reason, as it is in a SqlException; a transient one among them still is one.
  const first = errors.find((error) => isTransient(error.number)) ?? errors[0]!;
  const { message, ...fields } = first;
  return new SqlStreamError(codeFor(first.number, phase).code, message, {
    ...fields,
    ...codeFor(first.number, phase),
    phase,
    cause,
    serverErrors: errors.length > 1 ? errors : [],
  });
}

/**
 * What tedious reports for a request: one error of the server, several, or a broken connection.
 *
 * @param fatal the error after which the server ended the connection: the end is all that tedious reports then
 */
export function requestError(error: unknown, phase: SqlPhase, fatal?: ServerErrorFields): SqlStreamError {
  if (error instanceof SqlStreamError) return error;
  const all = error instanceof AggregateError ? error.errors : [error];
  const fields = all.map(fieldsOf).filter((one) => one !== undefined);
  if (fields.length > 0) return serverError(fields, phase, error);
  const { code, message } = error as { code?: string; message?: string };
  const details: SqlErrorDetails = { phase, cause: error };
  // A DONE with its error bit set and no ERROR token.
  if (code === 'UNKNOWN')
    return new SqlStreamError('EServer', 'The server reported an error without a text.', details);
  if (code === 'EPARAM') return new SqlStreamError('EParameter', message ?? '', details);
  if (fatal !== undefined) return serverError([fatal], phase, error);
  return new SqlStreamError(
    'EConnectionLost',
    `The connection was lost: ${message ?? String(error)}`,
    details,
  );
}

const certificateCodes = /CERT|SELF_SIGNED|ALTNAME/;

function causeCode(error: unknown): string {
  for (
    let at = error as { code?: unknown; cause?: unknown } | undefined;
    at != null;
    at = at.cause as typeof at
  ) {
    if (typeof at.code === 'string' && at.code !== 'ESOCKET') return at.code;
  }
  return '';
}

/** What tedious reports for a connect, with the ERROR tokens that came before it. */
export function connectError(
  error: unknown,
  tokens: readonly ServerErrorFields[],
  server: string,
): SqlStreamError {
  if (error instanceof SqlStreamError) return error;
  if (tokens.length > 0) return serverError(tokens, 'connect', error);
  // Without a token, tedious reports an error of its own, without a reason, and beside it that of the library that gets tokens.
  const parts = (error instanceof AggregateError ? error.errors : [error]) as {
    code?: string;
    message?: string;
  }[];
  const code = parts[0]?.code;
  const message = parts.map((part) => part.message ?? String(part)).join(' ');
  const details: SqlErrorDetails = { phase: 'connect', cause: error };
  if (code === 'ETIMEOUT') return new SqlStreamError('EConnectTimeout', message, details);
  if (code === 'ELOGIN' || code === 'EFEDAUTH' || code === 'ESECURITY') {
    return new SqlStreamError('ELogin', message, details);
  }
  const hint = certificateCodes.test(causeCode(error))
    ? '. The certificate of the server is not trusted: for a development server, TrustServerCertificate=true in the connection string'
    : code === 'EENCRYPT'
      ? '. In the connection string: Encrypt=true'
      : '';
  return new SqlStreamError('EConnect', `${server} can't be reached: ${message}${hint}`, {
    ...details,
    retryAfterMs: retryAfterMs.connect,
  });
}
