import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError, call } from './http-client.js';
import { median } from './statistics.js';

export interface LoadOptions {
  readonly port: number;
  readonly path: string;
  readonly users: number;
  /** Else each request opens a connection of its own, as siege does. */
  readonly keepAlive: boolean;
  /** The users come one after the other within this time, so that they don't all wait for the same second. */
  readonly rampMs: number;
}

export interface LoadFigures {
  /** With status 200 and a whole body, since `reset`. */
  readonly answered: number;
  readonly failures: number;
  readonly elapsedMs: number;
  /** Median. */
  readonly latencyMs: number;
}

export interface Load {
  /** Waits until every user has had an answer: then all connections are open. @throws BenchError after 2 minutes */
  warmUp(): Promise<void>;
  /** Lets time pass. @throws BenchError when no answer comes at all */
  run(ms: number): Promise<void>;
  reset(): void;
  figures(): LoadFigures;
  stop(): void;
}

const warmUpDeadlineMs = 120_000;

export function putLoad({ port, path, users, keepAlive, rampMs }: LoadOptions): Load {
  const agent = new Agent({ keepAlive, maxSockets: users });
  let stopped = false;
  let latencies: number[] = [];
  let failures = 0;
  let served = 0;
  let since = performance.now();

  async function user(index: number): Promise<void> {
    await sleep((rampMs * index) / users);
    for (let isFirst = true; !stopped; ) {
      const began = performance.now();
      const whole = await request().catch(() => false);
      if (stopped) return;
      if (whole) {
        latencies.push(performance.now() - began);
        if (isFirst) served++;
        isFirst = false;
      } else {
        failures++;
        // A worker that refuses at once should not be asked without pause.
        await sleep(100);
      }
    }
  }

  async function request(): Promise<boolean> {
    const response = await call({ port, path, agent });
    for await (const _chunk of response) {
    }
    return response.statusCode === 200 && response.complete;
  }

  for (let index = 0; index < users; index++) void user(index);
  return {
    async warmUp() {
      const deadline = performance.now() + warmUpDeadlineMs;
      while (served < users) {
        if (performance.now() > deadline)
          throw new BenchError(
            `${path}: ${served} of ${users} users had an answer in ${warmUpDeadlineMs / 1_000} s, with ${failures} failures; try fewer --users.`,
          );
        await sleep(50);
      }
    },
    async run(ms) {
      await sleep(ms);
      if (latencies.length === 0)
        throw new BenchError(`${path}: no answer in ${ms} ms, ${failures} failures.`);
    },
    reset() {
      latencies = [];
      failures = 0;
      since = performance.now();
    },
    figures: () => ({
      answered: latencies.length,
      failures,
      elapsedMs: performance.now() - since,
      latencyMs: median(latencies),
    }),
    stop() {
      stopped = true;
      agent.destroy();
    },
  };
}
