import type { RowStats } from '../sql/index.js';
import { codeOf, isSqlError } from './errors.js';
import type { Invocation } from './invocation.js';

export interface QueryEnd {
  /** Why it ended, where that is neither an error nor what the statistics say. */
  readonly outcome?: string;
  readonly error?: unknown;
  /** Of the response. */
  readonly bytes?: number;
  /** Rows of the response, where they are not those of the query. */
  readonly rows?: number;
}

/**
 * The one line of a request: rows, bytes, times in ms, and why it ended. An error that stopped it comes with the
 * server's number, state and line; no SQL text, no parameter.
 */
export function logQuery(invocation: Invocation, stats: RowStats | undefined, end: QueryEnd): void {
  const { error, outcome } = end;
  if (error !== undefined && error === invocation.reported) return;
  invocation.reported = error;
  const rows = end.rows ?? stats?.rows ?? 0;
  const size = end.bytes === undefined ? '' : `, ${end.bytes} bytes`;
  const times = stats
    ? `; acquire ${Math.round(stats.acquireMs)} ms, first row ${Math.round(stats.firstRowMs)} ms, end ${
        stats.endMs === undefined ? '-' : Math.round(stats.endMs)
      } ms`
    : '';
  const more = stats === undefined ? '' : extras(stats);
  const why = error === undefined ? (outcome ?? stats?.ended ?? 'complete') : failure(error);
  const level = error === undefined ? 'info' : outcome === 'client silent' ? 'warn' : 'error';
  invocation.log(level, `sqlStream: ${rows} rows${size}${times}${more}; ${why}`);
}

function extras({ attempts, recordsets }: RowStats): string {
  const tries = attempts > 1 ? `, ${attempts} attempts` : '';
  return recordsets > 1 ? `${tries}, ${recordsets} recordsets of which the first was sent` : tries;
}

function failure(error: unknown): string {
  const code = codeOf(error);
  if (code === 'EClientSilent') return `client silent: ${(error as Error).message}`;
  if (!isSqlError(error))
    return `failed, ${code}: ${error instanceof Error ? (error.stack ?? error.message) : error}`;
  const { phase, number, state, lineNumber, procName, message } = error;
  const server =
    number === undefined
      ? ''
      : ` (number ${number}, state ${state}, line ${lineNumber}${procName ? `, procedure ${procName}` : ''})`;
  return `failed, ${code}${phase ? ` in phase ${phase}` : ''}${server}: ${message}`;
}
