import { timingSafeEqual } from 'node:crypto';
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { invocationIdHeader, tokenHeader } from '../protocol.js';
import type { ProgrammingModel } from './core-model.js';

/**
 * The library's own HTTP server for streamed requests, made fit for a developer's machine. The library listens on all
 * interfaces, and never answers a request that it does not expect.
 */
export interface StreamProxy {
  readonly port: number;
  /** The response that the library has for this invocation, once its request is here. */
  response(invocationId: string): ServerResponse | undefined;
}

/** Lets the library start its server, if it wants one. */
export async function startStreamProxy(
  model: ProgrammingModel,
  token: string,
): Promise<StreamProxy | undefined> {
  const { result, servers } = withLoopbackOnly(() => model.getCapabilities?.({}));
  await result;
  const server = servers[0];
  if (server === undefined) return undefined;
  const responses = guard(server, token);
  return {
    port: (server.address() as AddressInfo).port,
    response: (invocationId) => responses.get(invocationId),
  };
}

/**
 * The library calls `listen(callback)` before it first awaits, so the prototype is changed for that call alone: servers
 * that the app itself starts listen where they like.
 */
function withLoopbackOnly<T>(start: () => T): { result: T; servers: Server[] } {
  const servers: Server[] = [];
  const prototype = Server.prototype;
  const original = prototype.listen;
  prototype.listen = function listen(this: Server, ...args: unknown[]) {
    servers.push(this);
    const callback = args.find((arg): arg is () => void => typeof arg === 'function');
    return original.call(this, { host: '127.0.0.1', port: 0 }, callback);
  } as typeof original;
  try {
    return { result: start(), servers };
  } finally {
    // It was inherited from net.Server; an own property left behind would hide later changes there.
    Reflect.deleteProperty(prototype, 'listen');
  }
}

/** Puts a check before the library's listener, which then only sees what the host sent. */
function guard(server: Server, token: string): ReadonlyMap<string, ServerResponse> {
  const responses = new Map<string, ServerResponse>();
  const listeners = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const id = request.headers[invocationIdHeader];
    const sent = request.headers[tokenHeader];
    if (typeof id !== 'string' || typeof sent !== 'string' || !isSame(sent, token)) {
      response.writeHead(403, { connection: 'close' }).end('Only the Functions host may call this port.\n');
      return;
    }
    delete request.headers[tokenHeader];
    responses.set(id, response);
    response.once('close', () => responses.delete(id));
    for (const listener of listeners) listener.call(server, request, response);
  });
  return responses;
}

function isSame(sent: string, token: string): boolean {
  return sent.length === token.length && timingSafeEqual(Buffer.from(sent, 'latin1'), Buffer.from(token));
}
