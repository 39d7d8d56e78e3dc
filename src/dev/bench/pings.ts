import { Agent } from 'node:http';
import { call } from './http-client.js';

export const pingEveryMs = 50;

/** Sends a ping every 50 ms, also while others are not answered yet. */
export function startPings(port: number): { stop(): Promise<number[]> } {
  // The proxy closes idle connections; with a ping every 50 ms none is.
  const agent = new Agent({ keepAlive: true });
  const latenciesMs: number[] = [];
  const running = new Set<Promise<void>>();
  const ping = async () => {
    const began = performance.now();
    const response = await call({ port, path: 'ping', agent });
    for await (const _chunk of response) {
    }
    latenciesMs.push(performance.now() - began);
  };
  const timer = setInterval(() => {
    // When the worker is gone, the stream beside says so.
    const one = ping().catch(() => {});
    running.add(one);
    one.finally(() => running.delete(one));
  }, pingEveryMs);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
      agent.destroy();
      return latenciesMs;
    },
  };
}
