import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The socket side of an invocation whose HTTP request came through the library's stream proxy.
 *
 * The library copies a body with `response.write` and looks neither at its result nor at the client, and hands
 * nothing of this to the app. Node's diagnostics channel does: it tells of every request that a server of this
 * process begins, with its response.
 */
export interface ProxyConnection {
  readonly response: ServerResponse;
  /** Called once, when the response is over: sent to its end or not. */
  onClose: (() => void) | undefined;
}

interface RequestStart {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
}

const invocationIdHeader = 'x-ms-invocation-id';
const loopback = /^(::ffff:)?127\.|^::1$/;

/**
 * A request is always here before its handler runs (the library awaits it), but whether a handler of ours will
 * ask for it is not known yet. Each entry lives as long as its response; the limit only matters to responses that
 * Node never closes, such as those pipelined behind a connection that broke.
 */
const connections = new Map<string, ProxyConnection>();
const maxConnections = 10_000;

/** Invocations whose client left before their handler asked: it must not run the query after all. */
const lost = new Set<string>();
const maxLost = 1_000;

let watching = false;

/** From now on requests of the proxy can be found by their invocation. Costs nothing where no server runs. */
export function watchProxyRequests(): void {
  if (watching) return;
  watching = true;
  subscribe('http.server.request.start', (message) => remember(message as RequestStart));
}

/** The connection of an invocation; undefined when its request did not come through the proxy, or has ended. */
export function connectionOf(invocationId: string): ProxyConnection | undefined {
  return connections.get(invocationId);
}

/** Whether the client left before anybody asked for the connection. */
export function leftEarly(invocationId: string): boolean {
  return lost.has(invocationId);
}

function remember({ request, response, socket }: RequestStart): void {
  // Every server of the process reports here: only the host, on this machine, sends this header.
  const id = request.headers[invocationIdHeader];
  if (typeof id !== 'string' || !loopback.test(socket.remoteAddress ?? '')) return;
  const connection: ProxyConnection = { response, onClose: undefined };
  connections.set(id, connection);
  if (connections.size > maxConnections) dropOldest(connections);
  response.once('close', () => {
    // A host may have sent the same invocation again, on another connection.
    if (connections.get(id) === connection) connections.delete(id);
    if (connection.onClose) connection.onClose();
    else if (!response.writableFinished) {
      lost.add(id);
      if (lost.size > maxLost) dropOldest(lost);
    }
  });
}

function dropOldest(collection: Map<string, unknown> | Set<string>): void {
  for (const key of collection.keys()) {
    collection.delete(key);
    return;
  }
}
