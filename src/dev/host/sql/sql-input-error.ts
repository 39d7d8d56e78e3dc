import { SqlStreamError } from '../../../sql/index.js';

/** A sql input binding failed. The message is for the log: all errors of the server, with their numbers. */
export class SqlInputError extends Error {
  override readonly name = 'SqlInputError';
  readonly code: string | undefined;
  readonly number: number | undefined;

  constructor(cause: unknown) {
    super(`SQL: ${describe(cause)}`, { cause });
    this.code = cause instanceof SqlStreamError ? cause.code : undefined;
    this.number = cause instanceof SqlStreamError ? cause.number : undefined;
  }
}

function describe(cause: unknown): string {
  if (!(cause instanceof SqlStreamError)) return cause instanceof Error ? cause.message : String(cause);
  const all: readonly Described[] = cause.serverErrors.length > 0 ? cause.serverErrors : [cause];
  return all.map(describeOne).join('; ');
}

type Described = Pick<SqlStreamError, 'message' | 'number' | 'lineNumber' | 'procName'>;

function describeOne({ message, number, lineNumber, procName }: Described): string {
  if (number === undefined) return message;
  const procedure = procName ? `${procName}, ` : '';
  return `${message} (error ${number}, ${procedure}line ${lineNumber ?? 0})`;
}
