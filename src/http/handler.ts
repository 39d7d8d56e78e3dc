import azureFunctions, {
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  type HttpResponseInit,
  type InvocationContext,
} from '@azure/functions';
import { HttpStreamError } from './errors.js';
import { type Invocation, invocationOf } from './invocation.js';
import { problemResponse } from './problem-response.js';
import { watchProxyRequests } from './proxy-connections.js';
import { logQuery } from './query-log.js';
import { checkInit } from './response-init.js';

/** What a wrapped handler may return; `undefined` becomes 204. */
export type HandlerResult = HttpResponseInit | HttpResponse | undefined | null;

type RespondWithRows = (
  request: HttpRequest,
  context: InvocationContext,
  rows: AsyncIterable<unknown>,
) => Promise<HttpResponse>;

/**
 * A handler that answers whatever happens in it. Without it, under HTTP streaming, a handler that throws, or returns
 * nothing, a string or a status like 999, leaves its client waiting until the host gives up after minutes.
 *
 * @param respondWithRows what becomes of rows that the handler returns
 */
export function wrapHandler(
  handler: (request: HttpRequest, context: InvocationContext) => unknown,
  respondWithRows?: RespondWithRows,
): HttpHandler {
  watchProxyRequests();
  return async (request, context) => {
    const invocation = invocationOf(context);
    try {
      const result = await handler(request, context);
      if (isRows(result) && respondWithRows) return await respondWithRows(request, context, result);
      return responseOf(result);
    } catch (error) {
      return answer(error, invocation);
    } finally {
      invocation.handlerEnded = true;
    }
  };
}

function answer(error: unknown, invocation: Invocation): HttpResponse {
  // What the client's leaving made fail is no failure of the handler.
  if (!invocation.disconnected)
    logQuery(invocation, undefined, { error: error ?? new Error(`threw ${error}`) });
  return problemResponse(error, invocation);
}

function isRows(result: unknown): result is AsyncIterable<unknown> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result;
}

function responseOf(result: unknown): HttpResponse {
  const { HttpResponse: LibraryResponse } = azureFunctions;
  if (result instanceof LibraryResponse) return result;
  if (result === undefined || result === null) return new LibraryResponse({ status: 204 });
  if (typeof result !== 'object') {
    const text = `A handler returns { body, jsonBody, status, headers, cookies }, rows or nothing, not a ${typeof result}.`;
    throw new HttpStreamError('EResponse', text);
  }
  checkInit(result as HttpResponseInit);
  return new LibraryResponse(result as HttpResponseInit);
}
