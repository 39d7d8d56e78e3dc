import type { HttpHandler, HttpRequest, HttpResponse, InvocationContext } from '@azure/functions';
import type { OpenContext, RowBytes, RowSource, RowWriter } from '../sql/index.js';
import { type HandlerResult, wrapHandler } from './handler.js';
import { invocationOf } from './invocation.js';
import { watchProxyRequests } from './proxy-connections.js';
import { respond } from './respond.js';
import type { RespondInit } from './response-init.js';
import { RowQuery } from './row-query.js';

export interface RowsOptions {
  /** Aborted, it cancels the command at the server: the loop gets an `EAborted`. */
  readonly signal?: AbortSignal;
}

/**
 * What the handler given to `SqlStream.handler` may return: rows to stream, or any response; nothing becomes 204.
 */
export type SqlHandler = (
  request: HttpRequest,
  context: InvocationContext,
) => AsyncIterable<unknown> | HandlerResult | Promise<AsyncIterable<unknown> | HandlerResult>;

/** A command that is run for each request, and whose rows go to the client while they arrive. */
export interface SqlStream<R> {
  /**
   * The rows of the command, one by one. Nothing is sent to the database before the first row is asked for.
   *
   * Leaving the loop (`break`, `return`, `throw`), aborting `signal`, and the client's leaving cancel the command at the
   * server. The rows are read at the loop's pace. Each call of `rows` runs the command once; what it returns can be
   * iterated once.
   *
   * Values are exact: bigint as BigInt; decimal, numeric and money as text with all digits, `'12.50'`; dates as ISO 8601
   * text; binary as Buffer.
   *
   * The loop throws a `SqlStreamError`: see its codes.
   */
  rows(request: HttpRequest, context: InvocationContext, options?: RowsOptions): AsyncIterable<R>;

  /**
   * The response that streams the rows: a JSON array, or one JSON object a line for a client that sends
   * `Accept: application/x-ndjson`.
   *
   * It is here when the first row is (or the end, when there is none), so what fails until then has its own status:
   * 400 for a wrong parameter, 503 with Retry-After for what may pass, 504 for a deadline, else 500, as
   * `application/problem+json` with `code` and `invocationId`, without SQL text or names of servers. What fails
   * later breaks the connection, after a last line `{"error":{...}}` in NDJSON: no client takes a part for the
   * whole. It never rejects.
   *
   * @param init status, headers and cookies of the response; a Content-Type of yours is kept
   */
  respond(request: HttpRequest, context: InvocationContext, init?: RespondInit): Promise<HttpResponse>;

  /**
   * The same for rows that were filtered or changed on their way:
   *
   * ```ts
   * async function* rated(rows: AsyncIterable<Blog>) {
   *   for await (const blog of rows) if (blog.Rating > 3) yield { ...blog, Stars: '*'.repeat(blog.Rating) };
   * }
   * return blogs.respond(request, context, rated(blogs.rows(request, context)));
   * ```
   *
   * A value that still is what its column gave is written exactly as without the detour, a decimal as a number with
   * all its digits; everything else as JSON.stringify writes it, and a bigint as its digits.
   */
  respond(
    request: HttpRequest,
    context: InvocationContext,
    rows: AsyncIterable<unknown>,
    init?: RespondInit,
  ): Promise<HttpResponse>;

  /**
   * A handler for `app.http` that answers whatever happens in yours: rows that it returns are streamed as by
   * `respond`, a throw is a 500 or the status that fits, nothing is a 204. Without a handler of yours it responds with
   * the rows.
   *
   * Under HTTP streaming a bare handler that throws, or returns a wrong response, leaves its client waiting for
   * minutes.
   */
  handler(handler?: SqlHandler): HttpHandler;
}

/** Binds the parameters of a request and runs the command to its first row. */
export type OpenForRequest = (
  request: HttpRequest,
  context: InvocationContext,
  open: OpenContext,
) => Promise<RowSource>;

export interface StreamSettings {
  readonly open: OpenForRequest;
  /** The longest time in ms in which a client takes nothing; 0 for no limit. */
  readonly clientSilenceMs: number;
  /** Writes rows that came from no query. */
  readonly plainRowBytes: (writer: RowWriter) => RowBytes;
}

/** Has to be called before the requests that it serves come, so that their connections are known. */
export function createSqlStream<R>({ open, ...settings }: StreamSettings): SqlStream<R> {
  watchProxyRequests();
  const stream: SqlStream<R> = {
    rows: (request, context, options) => query(request, context, options?.signal),
    respond: (
      request: HttpRequest,
      context: InvocationContext,
      rowsOrInit?: RespondInit | AsyncIterable<unknown>,
      initOfRows?: RespondInit,
    ) => {
      const given = isRows(rowsOrInit);
      const rows = given ? rowsOrInit : query(request, context, undefined);
      const init = given ? initOfRows : rowsOrInit;
      return respond(request, invocationOf(context), { rows, owner: stream, ...settings }, init);
    },
    handler: (handler = stream.respond) => wrapHandler(handler, stream.respond),
  };
  function query(request: HttpRequest, context: InvocationContext, signal: AbortSignal | undefined) {
    const openQuery = (openContext: OpenContext) => open(request, context, openContext);
    return new RowQuery<R>(stream, invocationOf(context), openQuery, signal);
  }
  return stream;
}

function isRows(value: RespondInit | AsyncIterable<unknown> | undefined): value is AsyncIterable<unknown> {
  return value !== undefined && Symbol.asyncIterator in value;
}
