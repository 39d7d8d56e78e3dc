import type { IncomingMessage } from 'node:http';
import { invocationIdHeader } from '../protocol.js';
import type { RpcNullableStrings } from '../rpc.js';
import type { RouteValues } from './route-template.js';

/** A request to a function, after routing. */
export interface FunctionRequest {
  readonly incoming: IncomingMessage;
  /** With its query, as the client sent it. */
  readonly target: string;
  readonly values: RouteValues;
  /** What the client calls this server. */
  readonly host: string;
  readonly invocationId: string;
}

/** These are the host's: what a client sends under these names reaches no function. */
function ownHeaders(request: FunctionRequest): Record<string, string> {
  return {
    [invocationIdHeader]: request.invocationId,
    'x-forwarded-host': request.host,
    'x-forwarded-proto': 'http',
  };
}

/** The headers that the handler sees. */
export function handlerHeaders(request: FunctionRequest): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.incoming.headers)) {
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ');
  }
  for (const [name, value] of Object.entries(ownHeaders(request))) {
    if (name in headers) headers[name] = value;
  }
  return headers;
}

/** Head of the request to the worker's stream proxy: name, value, name, value. The library takes the client's headers from the metadata. */
export function proxyHeaders(request: FunctionRequest): string[] {
  const headers = ['host', request.host];
  for (const [name, value] of Object.entries(ownHeaders(request))) headers.push(name, value);
  return headers;
}

/** GET and HEAD have none: what a client sends there is dropped, as the library does. */
export function hasBody({ incoming }: FunctionRequest): boolean {
  const { headers, method } = incoming;
  if (method === 'GET' || method === 'HEAD') return false;
  if (headers['transfer-encoding'] !== undefined) return true;
  return headers['content-length'] !== undefined && headers['content-length'] !== '0';
}

/** Typed data has one value for a name; several are joined, as in the real host. */
export function queryStrings(target: string): RpcNullableStrings {
  const start = target.indexOf('?');
  if (start < 0) return {};
  const query = new URLSearchParams(target.slice(start));
  const names = new Set(query.keys());
  return nullable(Object.fromEntries([...names].map((name) => [name, query.getAll(name).join(',')])));
}

export function nullable(values: Readonly<Record<string, string>>): RpcNullableStrings {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}
