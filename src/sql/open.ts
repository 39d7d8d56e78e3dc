import type { SqlConnection } from './connection.js';
import { SqlStreamError } from './errors.js';
import { abortedError, Lifetime } from './lifetime.js';
import type { ResolvedCommand } from './options.js';
import type { Binding } from './parameters/binding.js';
import type { SqlPool } from './pool.js';
import { poolFor, trackRunning } from './pools.js';
import { RetryPolicy, waitFor } from './retry.js';
import { JsonRowBytes } from './row-bytes.js';
import { rowSourceOf } from './row-source.js';
import { RunningCommand } from './running-command.js';
import { internals } from './tedious/internals.js';
import type { OpenContext, RowSource, RowStats } from './types.js';

let warned = internals !== undefined;

function warnWhenPlain(log: NonNullable<OpenContext['log']>): void {
  if (warned) return;
  warned = true;
  log(
    'warn',
    'The installed version of tedious lacks what rows are read with: rows are slower, decimals are rounded to doubles and offsets are lost. Install the version that this package asks for.',
  );
}

interface Progress {
  acquireMs: number;
  firstRowMs: number;
  endMs: number | undefined;
  ended: RowStats['ended'];
  attempts: number;
}

/** Acquires a connection and waits for the first row. The connection is back, or gone, when this throws. */
async function attempt(
  command: ResolvedCommand,
  parameters: readonly Binding[],
  pool: SqlPool,
  lifetime: Lifetime,
  progress: Progress,
): Promise<{ connection: SqlConnection; running: RunningCommand }> {
  const { acquireMs, connectMs, firstRowMs } = command.deadlines;
  const connection = await pool.acquire({ acquireMs, connectMs, lifetime });
  if (lifetime.stopReason !== undefined) {
    pool.release(connection);
    throw lifetime.stopReason;
  }
  progress.acquireMs = lifetime.elapsedMs;
  const running = new RunningCommand(connection, command, parameters);
  lifetime.onStop = (reason) => void running.cancel(reason);
  const timer =
    firstRowMs > 0
      ? setTimeout(() => {
          const message = `The command gave no row within ${firstRowMs} ms.`;
          void running.cancel(new SqlStreamError('EFirstRowTimeout', message, { phase: 'firstRow' }));
        }, firstRowMs)
      : undefined;
  try {
    running.send(command, parameters);
    await running.response.ready;
    return { connection, running };
  } catch (error) {
    // Not awaited: on a dead network that takes its time.
    void running.finished.then(() => pool.release(connection));
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function attemptUntilRows(
  command: ResolvedCommand,
  parameters: readonly Binding[],
  lifetime: Lifetime,
  progress: Progress,
  log: NonNullable<OpenContext['log']>,
) {
  const policy = new RetryPolicy(command);
  for (;;) {
    lifetime.throwIfStopped();
    const pool = poolFor(command, log);
    try {
      return { pool, ...(await attempt(command, parameters, pool, lifetime, progress)) };
    } catch (error) {
      // A deadline that fires while an error is on its way is what ended it.
      lifetime.throwIfStopped();
      if (!(error instanceof SqlStreamError)) throw error;
      const delayMs = policy.delayAfter(error);
      if (delayMs === undefined) throw error;
      policy.attempts++;
      progress.attempts = policy.attempts;
      log(
        'warn',
        `Attempt ${policy.attempts} in ${Math.round(delayMs)} ms, after ${error.code}${error.number === undefined ? '' : ` ${error.number}`} (${error.phase}).`,
      );
      await waitFor(delayMs, lifetime);
    }
  }
}

/**
 * Sends a command; resolves when its first row, its empty recordset or its end is there. What may be tried again is, before the first row only.
 *
 * @throws SqlStreamError `EPoolExhausted`, `EConnect`, `EConnectTimeout`, `ELogin`, `EResuming`, `ETransient`, `EServer`, `EConnectionLost`,
 * `EFirstRowTimeout`, `ETotalTimeout`, `EValueTooLarge`, `EProtocol`, `EAborted`, `EClosed`
 */
export async function openRows(
  command: ResolvedCommand,
  parameters: readonly Binding[],
  context: OpenContext,
): Promise<RowSource> {
  const log = context.log ?? (() => {});
  warnWhenPlain(log);
  const lifetime = new Lifetime(command.deadlines.totalMs, context.signal);
  const progress: Progress = { acquireMs: 0, firstRowMs: 0, endMs: undefined, ended: undefined, attempts: 1 };
  const cancel = async (reason: unknown): Promise<void> => {
    lifetime.stop(reason instanceof SqlStreamError ? reason : abortedError(undefined, reason));
    await lifetime.ended;
  };
  trackRunning(cancel, lifetime.ended);
  context.onCancellable?.(cancel);
  let opened: Awaited<ReturnType<typeof attemptUntilRows>>;
  try {
    opened = await attemptUntilRows(command, parameters, lifetime, progress, log);
  } catch (error) {
    lifetime.end();
    throw error;
  }
  const { pool, connection, running } = opened;
  const { response } = running;
  progress.firstRowMs = lifetime.elapsedMs;
  void running.finished.then(() => {
    pool.release(connection);
    progress.endMs = lifetime.elapsedMs;
    progress.ended = response.succeeded
      ? 'complete'
      : lifetime.stopReason !== undefined
        ? 'cancelled'
        : 'failed';
    if (response.recordsets > 1)
      log('warn', `${response.recordsets - 1} more recordsets were read and dropped.`);
    lifetime.end();
  });
  return rowSourceOf({
    response,
    rowBytes: (writer) => new JsonRowBytes(response.columns.infos, command.formats, writer),
    get stats(): RowStats {
      const { rows, bytes, recordsets } = response;
      const { attempts, acquireMs, firstRowMs, endMs, ended } = progress;
      return { rows, bytes, recordsets, attempts, acquireMs, firstRowMs, endMs, ended };
    },
    cancel,
  });
}
