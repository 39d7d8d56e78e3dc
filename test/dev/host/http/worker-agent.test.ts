import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WorkerAgent } from '../../../../src/dev/host/http/worker-agent.js';

const server = createServer((_request, response) => response.end('ok'));
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => server.close());

async function fetchSocket(agent: WorkerAgent): Promise<Socket> {
  agent.dropStale();
  const { port } = server.address() as AddressInfo;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ agent, port, host: '127.0.0.1' }, resolve).once('error', reject);
  });
  const { socket } = response;
  response.resume();
  await new Promise((resolve) => response.once('end', resolve));
  // It goes back to the agent after that.
  await sleep(10);
  return socket;
}

test('a connection is used again while it is fresh, and not after it was idle for long', async () => {
  const agent = new WorkerAgent(150);
  const first = await fetchSocket(agent);
  expect(await fetchSocket(agent)).toBe(first);
  // The event loop is held, so that no timer can have closed it.
  const until = performance.now() + 200;
  while (performance.now() < until);
  expect(await fetchSocket(agent)).not.toBe(first);
  agent.destroy();
});
