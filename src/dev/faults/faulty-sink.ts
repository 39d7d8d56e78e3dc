import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionReset, LoginRefusal, RequestContext, ResponseSink } from '../sql-engine.js';
import { type FaultState, faultMessage } from './fault-rules.js';

/**
 * Does what a rule says, as one of its times; without a context, to a login. Tells whether all goes on after it. An error
 * is said before anything is awaited. Throws a ConnectionReset or, at a login, the LoginRefusal.
 */
export async function strike(state: FaultState, context?: RequestContext): Promise<boolean> {
  state.left--;
  const { rule } = state;
  const signal = context?.signal;
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
      throw { connectionReset: true } satisfies ConnectionReset;
    default:
      if (!context) throw { ...faultMessage(rule), loginRefusal: true } satisfies LoginRefusal;
      context.response.message(faultMessage(rule));
      context.response.statementDone({ statement: 'select', failed: true });
      return false;
  }
}

/**
 * The context of a request in which a fault strikes at the row that the rule names; await `ended` after the request.
 * Its sink takes no blocks: the row may lie within one.
 */
export function sinkWithFault(
  state: FaultState,
  outer: RequestContext,
): { context: RequestContext; ended: () => Promise<unknown> } {
  const { response } = outer;
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
    ended = strike(state, outer);
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
    transaction: (event) => response.transaction(event),
    flush: () => response.flush?.(),
    drained() {
      if (isOver || !isStruck) return isOver ? undefined : response.drained();
      // The delay: once it is over, this promise costs a turn and no more.
      return ended.then(() => response.drained());
    },
  };
  const context = { response: sink, signal: AbortSignal.any([outer.signal, controller.signal]) };
  return { context, ended: () => ended };
}
