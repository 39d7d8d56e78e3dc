import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionReset, type RequestContext, type ResponseSink, type ServerMessage } from './engine.js';
import { type FaultState, faultMessage } from './fault-rules.js';

/**
 * Does what a rule says, as one of its times. Tells whether all goes on after it; `fail` gets the message otherwise,
 * before anything is awaited. Throws a ConnectionReset.
 */
export async function strike(
  state: FaultState,
  fail: (message: ServerMessage) => void,
  signal?: AbortSignal,
): Promise<boolean> {
  state.left--;
  const { rule } = state;
  switch (rule.action) {
    case 'delay':
      await sleep(rule.delayMs, undefined, { signal }).catch(() => {});
      return signal?.aborted !== true;
    case 'silence':
      if (!signal?.aborted) {
        await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
      }
      return false;
    case 'reset':
      // A reset takes with it what the peer has not read yet: let it read the rows first.
      if (rule.at === 'rows') await sleep(50);
      throw new ConnectionReset();
    default:
      fail(faultMessage(rule));
      return false;
  }
}

/** The context of a request in which a fault strikes at the row that the rule names; await `ended` after the request. */
export function sinkWithFault(
  state: FaultState,
  { response, signal }: RequestContext,
): { context: RequestContext; ended: () => Promise<unknown> } {
  /** Stops the engine when the request is over with the fault. */
  const controller = new AbortController();
  let left = state.rule.rows!;
  let isStruck = false;
  let isOver = false;
  let ended: Promise<unknown> = Promise.resolve();

  const count = (rows: number): void => {
    left -= rows;
    // Another request may have met the rule's last time meanwhile.
    if (left > 0 || isStruck || state.left <= 0) return;
    isStruck = true;
    response.flush?.();
    const fail = (message: ServerMessage): void => {
      response.message(message);
      response.statementDone({ statement: 'select', failed: true });
    };
    ended = strike(state, fail, signal);
    // Whoever awaits it later gets the reset; nobody else should.
    ended.catch(() => {});
    if (state.rule.action === 'delay') return;
    isOver = true;
    controller.abort();
  };
  const unlessOver =
    <Values extends unknown[]>(call: (...values: Values) => void, rows?: number) =>
    (...values: Values): void => {
      if (isOver) return;
      call.apply(response, values);
      if (rows !== undefined) count(rows);
    };
  const sink: ResponseSink = {
    columns: unlessOver(response.columns, 0),
    row: unlessOver(response.row, 1),
    statementDone: unlessOver(response.statementDone),
    returnValue: unlessOver(response.returnValue),
    message: unlessOver(response.message),
    procedureBegin: () => response.procedureBegin(),
    procedureEnd: (status) => response.procedureEnd(status),
    databaseChanged: (from, to) => response.databaseChanged(from, to),
    transaction: (event) => response.transaction(event),
    flush: () => response.flush?.(),
    drained() {
      if (isOver || !isStruck) return isOver ? undefined : response.drained();
      // The delay: once it is over, this promise costs a turn and no more.
      return ended.then(() => response.drained());
    },
  };
  const context = { response: sink, signal: AbortSignal.any([signal, controller.signal]) };
  return { context, ended: () => ended };
}
