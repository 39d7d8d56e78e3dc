import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { SqlEngine } from '../sql-engine.js';
import { Connection } from './connection.js';
import { assemblyLimit } from './requests.js';
import { secureContext } from './tls-tunnel.js';

export interface TdsServerOptions {
  /** Stays the caller's: `close` does not close it. */
  readonly engine: SqlEngine;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** PEM. Without it, clients that ask for encryption are told that there is none. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** In ERROR and INFO tokens. Default: `localhost`. */
  readonly serverName?: string;
  /** A client that has not sent its LOGIN7 by then is dropped. Default: 15,000. */
  readonly loginTimeoutMs?: number;
  readonly log?: (line: string) => void;
  /** Bytes that requests under way on all connections may take together. Default: 536,870,912. */
  readonly assemblyLimit?: number;
}

export interface TdsServer {
  readonly port: number;
  /** Connections that are logged in. */
  readonly sessions: number;
  /** All connections. */
  readonly connections: number;
  /** Ends all connections, aborts what runs and stops listening. */
  close(): Promise<void>;
}

/** Serves an engine over TDS 7.4. Rejects with the error of `listen` (EADDRINUSE, ...) when the port is taken. */
export async function startTdsServer(options: TdsServerOptions): Promise<TdsServer> {
  const {
    engine,
    host = '127.0.0.1',
    port,
    tls,
    serverName = 'localhost',
    loginTimeoutMs = 15_000,
  } = options;
  const { log = () => {} } = options;
  const context = tls && secureContext(tls.key, tls.cert);
  const budget = { limit: options.assemblyLimit ?? assemblyLimit, used: 0 };
  const connections = new Set<Connection>();
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 }, (socket) => {
    const all = { engine, serverName, loginTimeoutMs, log, secureContext: context, budget };
    const connection = new Connection(socket, all);
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
  });
  // Thousands may connect in one instant.
  server.listen({ port, host, backlog: 4_096 });
  await once(server, 'listening');
  server.on('error', (error) => log(`The listener failed: ${error.message}`));
  return {
    port: (server.address() as AddressInfo).port,
    get sessions() {
      return [...connections].filter(({ isLoggedIn }) => isLoggedIn).length;
    },
    get connections() {
      return connections.size;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const connection of connections) connection.close();
      await closed;
    },
  };
}
