import type { ServerResponse } from 'node:http';
import { type ProblemCode, problemBody, problemType } from '../problem.js';
import { invocationIdHeader } from '../protocol.js';

/** Headers that go with each answer to a request, those of CORS for one: name, value, name, value. */
export type ExtraHeaders = readonly string[];

/** An answer of the host itself. Does nothing when there is no client any more. */
export function respond(
  response: ServerResponse,
  status: number,
  headers: readonly string[] = [],
  body: string | Uint8Array = '',
): void {
  if (response.headersSent || response.destroyed) return;
  const hasLength = status === 204 || status === 304 || headers.includes('content-length');
  // Node adds no length to a head that is written as an array.
  const length = hasLength ? [] : ['Content-Length', String(Buffer.byteLength(body))];
  response.writeHead(status, [...headers, ...length]);
  response.end(body);
}

export interface Problem {
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail: string;
  readonly invocationId?: string;
  readonly retryAfterSeconds?: number;
}

export function respondProblem(response: ServerResponse, problem: Problem, extra: ExtraHeaders = []): void {
  const { status, code, detail, invocationId, retryAfterSeconds } = problem;
  const headers = [...extra, 'Content-Type', problemType];
  if (invocationId !== undefined) headers.push(invocationIdHeader, invocationId);
  if (retryAfterSeconds !== undefined) headers.push('Retry-After', String(retryAfterSeconds));
  respond(response, status, headers, problemBody(status, code, detail, invocationId));
}

/**
 * Ends a response of which a part is sent, so that no client takes it for complete. What was written last may still be
 * corked, and `destroy` would lose it. A client of HTTP/1.0 takes the end of the connection for the end of the body,
 * so it gets a reset.
 */
export function breakResponse(response: ServerResponse): void {
  if (response.destroyed || response.writableEnded) return;
  response.flushHeaders();
  const { socket } = response;
  setImmediate(() => {
    if (response.req.httpVersion === '1.0') socket?.resetAndDestroy();
    else response.destroy();
  });
}
