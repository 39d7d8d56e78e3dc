import { setTimeout as sleep } from 'node:timers/promises';
import type { ResponseSink, SqlValue } from './engine.js';
import { type Armed, type FaultRule, faultMessage } from './fault-rules.js';

/** Does what a rule says; `stop` when the request is over with it. */
export async function strike(
  rule: FaultRule,
  response: ResponseSink,
  signal: AbortSignal,
): Promise<'go on' | 'stop'> {
  switch (rule.action) {
    case 'delay':
      await sleep(rule.delayMs, undefined, { signal }).catch(() => {});
      return signal.aborted ? 'stop' : 'go on';
    case 'silence':
      response.flush?.();
      if (!signal.aborted) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      }
      return 'stop';
    case 'reset':
      if (rule.at === 'rows') {
        // A reset takes with it what the peer has not read yet: let it read the rows first.
        response.flush?.();
        await sleep(50);
      }
      response.reset();
      return 'stop';
    default:
      response.message(faultMessage(rule));
      response.statementDone({ statement: 'select', failed: true });
      return 'stop';
  }
}

/** Counts rows on their way out; at the one that the rule names, the fault strikes. */
export class FaultySink implements ResponseSink {
  readonly #inner: ResponseSink;
  readonly #armed: Armed;
  readonly #rule: FaultRule;
  readonly #outer: AbortSignal;
  readonly #controller = new AbortController();
  #left: number;
  #isOver = false;
  /** Settles when the fault, once it has struck, is done. */
  ended: Promise<void> = Promise.resolve();
  #isStruck = false;

  constructor(inner: ResponseSink, armed: Armed, outer: AbortSignal) {
    this.#inner = inner;
    this.#armed = armed;
    this.#rule = armed.rule;
    this.#outer = outer;
    this.#left = armed.rule.rows!;
  }

  /** Stops the engine when the request is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  #strike(): void {
    this.#isStruck = true;
    // Another request may have met the rule's last time meanwhile.
    if (this.#armed.left <= 0) return;
    this.#armed.left--;
    const waits = this.#rule.action === 'delay';
    if (!waits) this.#isOver = true;
    else this.#inner.flush?.();
    this.ended = strike(this.#rule, this.#inner, this.#outer).then(() => {});
    if (this.#isOver) this.#controller.abort();
  }

  columns(columns: Parameters<ResponseSink['columns']>[0]): void {
    if (this.#isOver) return;
    this.#inner.columns(columns);
    if (!this.#isStruck && this.#left <= 0) this.#strike();
  }

  row(values: readonly SqlValue[]): void {
    if (this.#isOver) return;
    this.#inner.row(values);
    this.#count(1);
  }

  /** A block is not cut: the fault strikes at its end. */
  encodedRows(tokens: Uint8Array, count = 1): void {
    if (this.#isOver) return;
    this.#inner.encodedRows(tokens, count);
    this.#count(count);
  }

  #count(rows: number): void {
    this.#left -= rows;
    if (!this.#isStruck && this.#left <= 0) this.#strike();
  }

  drained(): Promise<void> | undefined {
    if (this.#isStruck && !this.#isOver) {
      // The delay: once it is over, this promise costs a turn and no more.
      return this.ended.then(() => this.#inner.drained());
    }
    return this.#isOver ? undefined : this.#inner.drained();
  }

  statementDone(done: Parameters<ResponseSink['statementDone']>[0]): void {
    if (!this.#isOver) this.#inner.statementDone(done);
  }

  procedureBegin(): void {
    this.#inner.procedureBegin();
  }

  procedureEnd(returnStatus: number): void {
    this.#inner.procedureEnd(returnStatus);
  }

  returnValue(...value: Parameters<ResponseSink['returnValue']>): void {
    if (!this.#isOver) this.#inner.returnValue(...value);
  }

  message(message: Parameters<ResponseSink['message']>[0]): void {
    if (!this.#isOver) this.#inner.message(message);
  }

  databaseChanged(from: string, to: string): void {
    this.#inner.databaseChanged(from, to);
  }

  transaction(event: Parameters<ResponseSink['transaction']>[0]): void {
    this.#inner.transaction(event);
  }

  flush(): void {
    this.#inner.flush?.();
  }

  reset(): void {
    this.#inner.reset();
  }
}
