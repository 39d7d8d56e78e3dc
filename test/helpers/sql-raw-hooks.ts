import { afterAll, beforeAll } from 'vitest';
import { closePools } from '../../src/sql/index.js';
import { RawServer, type Respond } from './sql-raw-server.js';

/** A raw server for the tests of a file, from before them until after them, when the pools of its clients are closed too. */
export function serveRaw(respond: Respond = () => {}): RawServer {
  const server = new RawServer(respond);
  beforeAll(async () => {
    await server.listen();
  });
  afterAll(async () => {
    await closePools(0);
    await server.close();
  });
  return server;
}
