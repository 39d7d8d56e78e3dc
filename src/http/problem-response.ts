import azureFunctions, { type HttpResponse } from '@azure/functions';
import type { Invocation } from './invocation.js';
import { problemOf, problemType } from './problem.js';

/** What the client is told of an error that came before the first byte (RFC 9457). */
export function problemResponse(error: unknown, invocation: Invocation): HttpResponse {
  const { status, retryAfter, body } = problemOf(error, invocation.context.invocationId);
  const headers: Record<string, string> = { 'content-type': problemType, 'cache-control': 'no-store' };
  if (retryAfter !== undefined) headers['retry-after'] = `${retryAfter}`;
  return new azureFunctions.HttpResponse({ status, headers, body: JSON.stringify(body) });
}
