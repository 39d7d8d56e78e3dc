import type { HttpHandler, HttpRequest, InvocationContext } from '@azure/functions';
import {
  createSqlStream,
  type HandlerResult,
  invocationOf,
  isInHost,
  type SqlStream,
  shutDown,
  shutDownWithProcess,
  wrapHandler,
} from './http/index.js';
import {
  closePools,
  type DeadlineOptions,
  defineCommand,
  type ParameterRecord,
  plainRowBytes,
  type Row,
  type SqlCommand,
  type SqlCommandOptions,
  SqlStreamError,
} from './sql/index.js';

export {
  type HandlerResult,
  type HttpErrorCode,
  HttpStreamError,
  type RespondInit,
  type RowsOptions,
  type SqlHandler,
  type SqlStream,
} from './http/index.js';
export {
  type CommandType,
  type FormatOptions,
  type NumberFormat,
  type ParameterRecord,
  type ParameterValue,
  type PoolOptions,
  type PoolStats,
  poolStats,
  type RetryOptions,
  type Row,
  type RowValue,
  type SqlErrorCode,
  SqlStreamError,
  type TypedParameter,
} from './sql/index.js';

/** In ms; each has an error code of its own, which names the phase. 0 switches that deadline off. */
export interface StreamDeadlineOptions extends DeadlineOptions {
  /**
   * A client that takes nothing for so long is cut off, and its command cancelled. Default 30,000. `EClientSilent` in the log.
   *
   * What the kernel holds for a client counts as taken, and is reported in steps: with Linux defaults a client that
   * reads less than about 30 kB/s can look silent for that time.
   */
  readonly clientSilenceMs?: number;
}

/** The names of `input.sql`, so that one can take the place of the other; the rest has defaults. */
export interface SqlStreamOptions extends Omit<SqlCommandOptions, 'parameters' | 'deadlines'> {
  /**
   * The binding's own form, `'@id={id},@name={Query.name}'`, or a function that gives the values, which become typed
   * parameters: `(request) => ({ id: Number(request.params.id), name: request.query.get('name') })`.
   */
  readonly parameters?:
    | string
    | ((request: HttpRequest, context: InvocationContext) => ParameterRecord | Promise<ParameterRecord>);
  readonly deadlines?: StreamDeadlineOptions;
}

/**
 * A T-SQL command whose rows are streamed to HTTP clients: lazily, row by row, at the pace of the client, and
 * cancelled at the server when the client leaves. To be called where the app registers its functions.
 *
 * ```ts
 * const blogs = sqlStream<Blog>({
 *   commandText: 'select * from dbo.Blogs where Rating >= @rating',
 *   parameters: '@rating={Query.rating}',
 *   connectionStringSetting: 'SqlConnectionString',
 * });
 * app.http('Blogs', { methods: ['GET'], handler: blogs.handler((request, context) => blogs.rows(request, context)) });
 * ```
 *
 * Wrong options or app settings are logged, and the endpoint answers 500 with their code while other functions
 * go on. In development (AZURE_FUNCTIONS_ENVIRONMENT is `Development`) they are thrown here and now, so that the app
 * does not start.
 *
 * Each request has one line in the log, `sqlStream: 10 rows, 1285 bytes; acquire 0 ms, first row 1003 ms, end 1004 ms; complete`,
 * or why it ended otherwise. It comes through `context.log` while the handler runs, and through the console, with function
 * and invocation, for a body that outlives its handler: the library warns of every later `context.log`.
 *
 * Commands with the same connection string share one pool of connections, for the life of the process. It is closed,
 * once running responses had 4 s to end, when the host ends the worker or on SIGTERM.
 *
 * @typeParam R the shape of a row as `rows()` gives it: what the columns are called and hold is not checked
 * @throws SqlStreamError `EOptions`, `ESetting`, `EConnectionString` (in development only)
 */
export function sqlStream<R = Row>(options: SqlStreamOptions): SqlStream<R> {
  const { parameters, deadlines: { clientSilenceMs = 30_000, ...deadlines } = {}, ...rest } = options;
  const template = typeof parameters === 'string' ? { parameters } : {};
  const command = definedOnce(() => {
    checkSilence(clientSilenceMs);
    checkParameters(parameters);
    return defineCommand({ ...rest, deadlines, ...template });
  });
  shutDownWithProcess(closePools);
  return createSqlStream<R>({
    clientSilenceMs,
    plainRowBytes,
    async open(request, context, openContext) {
      const sql = command();
      const bound =
        typeof parameters === 'function' ? sql.values(await parameters(request, context)) : sql.bind(request);
      return sql.open(bound, openContext);
    },
  });
}

/**
 * In a host, what is wrong is said when the app loads. Elsewhere (a build, a unit test that imports the function)
 * nothing is read before it is used, since settings may be absent or come later.
 */
function definedOnce(define: () => SqlCommand): () => SqlCommand {
  let command: SqlCommand | undefined;
  const get = () => {
    command ??= define();
    return command;
  };
  if (!isInHost()) return get;
  try {
    get();
  } catch (error) {
    if (process.env['AZURE_FUNCTIONS_ENVIRONMENT'] === 'Development') throw error;
    console.error(
      `sqlStream: ${error instanceof SqlStreamError ? `${error.code}: ${error.message}` : error}`,
    );
  }
  return get;
}

function checkParameters(parameters: unknown): void {
  if (parameters === undefined || typeof parameters === 'string' || typeof parameters === 'function') return;
  const message = `parameters is a ${typeof parameters}: use a string like '@id={id}', or a function of the request.`;
  throw new SqlStreamError('EOptions', message, { phase: 'setup', subject: 'parameters' });
}

function checkSilence(ms: number): void {
  if (Number.isInteger(ms) && ms >= 0 && ms <= 2_147_483_647) return;
  const message = `deadlines.clientSilenceMs is ${ms}: use a whole number of milliseconds, or 0 for no limit.`;
  throw new SqlStreamError('EOptions', message, { phase: 'setup', subject: 'deadlines.clientSilenceMs' });
}

/**
 * A handler for `app.http` that answers whatever happens in yours, as `SqlStream.handler` does, for functions that
 * stream no rows: a throw is a 500, nothing is a 204. To be called where the app registers its functions.
 */
export function httpHandler(
  handler: (request: HttpRequest, context: InvocationContext) => HandlerResult | Promise<HandlerResult>,
): HttpHandler {
  return wrapHandler(handler);
}

/**
 * Aborts when the client of an invocation leaves before its response is sent. Known in functions with a handler of
 * `SqlStream.handler` or `httpHandler`, in an app with HTTP streaming; else it never aborts.
 */
export function clientSignal(context: InvocationContext): AbortSignal {
  return invocationOf(context).signal;
}

/**
 * Refuses new commands, gives responses that are under way `graceMs` to end, cancels the rest, and closes all connections.
 * The host's end of the worker and SIGTERM do this by themselves; for tests and other ends.
 */
export function closeSqlStreams(graceMs = 4_000): Promise<void> {
  return shutDown(closePools, graceMs);
}
