import type { InvocationContext } from '@azure/functions';
import type { LogLevel, RowSource } from '../sql/index.js';
import { HttpStreamError } from './errors.js';
import { connectionOf, leftEarly, type ProxyConnection } from './proxy-connections.js';

/** A query of an invocation, as its response sees it. */
export interface QueryRecord {
  /** The stream that made it. */
  readonly owner: object;
  /** Here from the first row on. */
  readonly source: RowSource | undefined;
}

/** What an invocation's queries and its response share: the client's connection, the word to stop, the log. */
export class Invocation {
  readonly context: InvocationContext;
  /** Undefined when the response does not go through the stream proxy: then the host collects it whole. */
  readonly connection: ProxyConnection | undefined;
  /** The function's promise has settled, as far as is known: logging through its context would be warned of. */
  handlerEnded = false;
  /** Called once when the client leaves. */
  onDisconnect: (() => void) | undefined;
  /** In the order of their `rows()` calls. */
  readonly queries: QueryRecord[] = [];
  /** A response is made of the rows, and reports on them. */
  responding = false;
  /** The error that the log has already. */
  reported: unknown;
  #controller: AbortController | undefined;
  readonly #onCancel: ((reason: unknown) => void)[] = [];
  #cancelled: { readonly reason: unknown } | undefined;
  #disconnected = false;

  constructor(context: InvocationContext) {
    this.context = context;
    this.connection = connectionOf(context.invocationId);
    if (this.connection) {
      const { response } = this.connection;
      this.connection.onClose = () => {
        if (!response.writableFinished) this.#disconnect();
      };
    } else if (leftEarly(context.invocationId)) {
      this.#disconnect();
    }
  }

  /** Aborts when the client leaves or the response ends early. Made when it is asked for: a signal costs a twentieth of a short request. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = new AbortController();
      this.#controller = controller;
      this.onCancel((reason) => controller.abort(reason));
    }
    return this.#controller.signal;
  }

  get disconnected(): boolean {
    return this.#disconnected;
  }

  /** Calls the listener when the client leaves or the response ends early; at once when that has happened. */
  onCancel(listener: (reason: unknown) => void): void {
    if (this.#cancelled) listener(this.#cancelled.reason);
    else this.#onCancel.push(listener);
  }

  /** Cancels what still runs for this invocation. */
  cancel(reason?: unknown): void {
    if (this.#cancelled) return;
    this.#cancelled = { reason };
    for (const listener of this.#onCancel.splice(0)) listener(reason);
  }

  log(level: LogLevel, line: string): void {
    const { context } = this;
    if (!this.handlerEnded) {
      context[level === 'info' ? 'log' : level](line);
    } else {
      // The library adds a warning to each line that comes through the context after the function has returned,
      // as if it had forgotten to await something; but a streamed body ends after it by design.
      console[level](`${line} (function ${context.functionName}, invocation ${context.invocationId})`);
    }
  }

  #disconnect(): void {
    this.#disconnected = true;
    this.cancel(new HttpStreamError('EClientGone', 'The client left before the end of the response.'));
    this.onDisconnect?.();
  }
}

/** On the context itself: a WeakMap of short-lived keys cost 9 us a request, most of it in the garbage collector. */
const key = Symbol('invocation');

export function invocationOf(context: InvocationContext & { [key]?: Invocation }): Invocation {
  context[key] ??= new Invocation(context);
  return context[key];
}
