import type { OpenContext, Row, RowSource } from '../sql/index.js';
import { HttpStreamError } from './errors.js';
import type { Invocation, QueryRecord } from './invocation.js';
import { logQuery } from './query-log.js';

/** Binds the parameters of a request and runs the command to its first row. */
export type OpenQuery = (context: OpenContext) => Promise<RowSource>;

/**
 * One run of a command, not begun before its rows are asked for.
 *
 * Either iterated, and then its rows are objects, or taken whole by a response, which passes bytes on.
 */
export class RowQuery<R> implements AsyncIterable<R>, QueryRecord {
  readonly invocation: Invocation;
  readonly owner: object;
  source: RowSource | undefined;
  readonly #open: OpenQuery;
  readonly #signal: AbortSignal | undefined;
  #used = false;

  constructor(owner: object, invocation: Invocation, open: OpenQuery, signal: AbortSignal | undefined) {
    this.owner = owner;
    this.invocation = invocation;
    this.#open = open;
    this.#signal = signal;
    invocation.queries.push(this);
  }

  get used(): boolean {
    return this.#used;
  }

  /** Sends the command; the caller owns the rows. */
  async start(): Promise<RowSource> {
    if (this.#used) {
      throw new HttpStreamError('ERowsUsed', 'These rows were read before: call rows() for each reading.');
    }
    this.#used = true;
    const { invocation } = this;
    this.source = await this.#open({
      ...(this.#signal && { signal: this.#signal }),
      onCancellable: (cancel) => invocation.onCancel(cancel),
      log: (level, message) => invocation.log(level, message),
    });
    return this.source;
  }

  [Symbol.asyncIterator](): AsyncIterator<R, undefined> {
    return new RowIterator<R>(this);
  }
}

class RowIterator<R> implements AsyncIterator<R, undefined> {
  readonly #query: RowQuery<R>;
  #rows: AsyncIterator<Row> | undefined;
  #starting: Promise<void> | undefined;
  #ended = false;

  constructor(query: RowQuery<R>) {
    this.#query = query;
  }

  next(): Promise<IteratorResult<R, undefined>> {
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    if (this.#rows) return this.#rows.next() as Promise<IteratorResult<R, undefined>>;
    this.#starting ??= this.#start();
    return this.#starting.then(() => this.next());
  }

  /** Leaving a loop by `break`, `return` or `throw` cancels the command at the server. */
  async return(): Promise<IteratorResult<R, undefined>> {
    await this.#starting?.catch(() => {});
    await this.#rows?.return?.();
    this.#end(undefined);
    return { done: true, value: undefined };
  }

  async #start(): Promise<void> {
    try {
      const source = await this.#query.start();
      this.#rows = source.rows(this.#end);
    } catch (error) {
      this.#end(error);
      throw error;
    }
  }

  readonly #end = (error: unknown): void => {
    if (this.#ended) return;
    this.#ended = true;
    const { invocation, source } = this.#query;
    if (!invocation.responding) logQuery(invocation, source?.stats, { error });
  };
}
