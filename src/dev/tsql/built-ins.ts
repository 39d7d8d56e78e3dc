import type { Parameter } from '../sql-engine.js';
import { Cancelled, refuse, sqlError } from './errors.js';
import type { BuiltInProcedure, BuiltInRows, Frame } from './session.js';
import { counted } from './statements.js';

/** Runs a procedure that the program supplies; returns its status. */
export async function runBuiltIn(
  builtIn: BuiltInProcedure,
  values: readonly Pick<Parameter, 'name' | 'value'>[],
  frame: Frame,
): Promise<number> {
  const args = values.map(({ name, value }) => {
    if (name === '') refuse('An argument without a name, here,');
    return [name.slice(1).toLowerCase(), value] as const;
  });
  frame.response.procedureBegin();
  let status = -6;
  try {
    const result = builtIn(Object.fromEntries(args));
    if (result) await send(result, frame);
    status = 0;
  } catch (error) {
    throw error instanceof Cancelled ? error : sqlError(50_000, (error as Error).message);
  } finally {
    frame.response.procedureEnd(status);
  }
  return status;
}

async function send(result: BuiltInRows, frame: Frame): Promise<void> {
  const { response, session, signal, pause } = frame;
  response.columns(result.columns);
  const rows = [...result.rows];
  const { count = rows.length } = result;
  const sendAll = count > rows.length ? response.block?.(rows) : undefined;
  for (let sent = 0; sent < count; ) {
    if (sendAll && sent + rows.length <= count) {
      sendAll();
      sent += rows.length;
    } else {
      response.row(rows[sent % rows.length]!);
      sent++;
    }
    const full = response.drained();
    if (full) await session.wait('ASYNC_NETWORK_IO', full);
    if (signal.aborted) throw new Cancelled();
    const turn = pause();
    if (turn) await turn;
  }
  counted('select', count, frame);
}
