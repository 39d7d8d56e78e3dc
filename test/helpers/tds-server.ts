/** Hooks that give the tests of a file, or of a `describe`, a server and whoever talks to it. */
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { SqlEngine } from '../../src/dev/sql-engine.js';
import { startTdsServer, type TdsServer, type TdsServerOptions } from '../../src/dev/tds/server.js';
import { within } from './run.js';
import { credentials } from './tds-engine.js';
import { packets, RawClient } from './tds-raw-client.js';
import { type Token, tokensOf } from './tds-tokens.js';

/** A server of the engine, from before the tests until after them. */
export function serve(engine: SqlEngine, options: Partial<TdsServerOptions> = {}) {
  let server: TdsServer;
  beforeAll(async () => {
    server = await startTdsServer({ engine, port: 0, ...options });
  });
  afterAll(() => server.close());
  return {
    get port(): number {
      return server.port;
    },
    get connectionString(): string {
      return `Server=127.0.0.1,${server.port};User Id=sa;Password="${credentials.password}";Encrypt=false`;
    },
  };
}

/** In each test a raw client of its own, logged in to a server of the engine. */
export function serveRawClient(
  engine: SqlEngine,
  login: Parameters<typeof RawClient.login>[1] = {},
  options: Partial<TdsServerOptions> = {},
) {
  const server = serve(engine, options);
  let client: RawClient;
  beforeEach(async () => {
    client = await RawClient.login(server.port, login);
    return () => client.close();
  });
  /** The next message, whole tokens all through. */
  async function answer(what = 'the response'): Promise<Token[]> {
    const message = await within(5_000, what, client.answer());
    expect(message?.type).toBe(4);
    return tokensOf(message!.payload);
  }
  return {
    get port(): number {
      return server.port;
    },
    get client(): RawClient {
      return client;
    },
    answer,
    send(type: number, payload: Buffer, status = 0): Promise<Token[]> {
      client.send(packets(type, payload, 4096, status));
      return answer();
    },
  };
}
