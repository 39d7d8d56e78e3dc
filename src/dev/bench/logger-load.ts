import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly durationMs: number;
  readonly signal: AbortSignal;
}

export interface Load {
  /** Of each request, from its sending to the end of its answer. */
  readonly latenciesMs: Float64Array;
  readonly elapsedMs: number;
}

/**
 * Each connection is kept, and sends its next request when the answer to the last has been read, until the time is over.
 *
 * @throws Error when a request fails or is answered with another status than 200: a figure of such a run would mean nothing
 */
export async function load({ url, connections, durationMs, signal }: LoadOptions): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  const began = performance.now();
  const end = began + durationMs;
  const connection = async () => {
    while (performance.now() < end) {
      signal.throwIfAborted();
      const sent = performance.now();
      await get(url, agent, signal);
      latencies.push(performance.now() - sent);
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, connection));
    return { latenciesMs: Float64Array.from(latencies), elapsedMs: performance.now() - began };
  } finally {
    agent.destroy();
    // Closing reaches the server before the next run does.
    await sleep(50);
  }
}

/** A server that is stuck should end the benchmark, not hold it. */
const answerMs = 30_000;

function get(url: string, agent: Agent, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const answered = (response: IncomingMessage) => {
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve();
        else reject(new Error(`${url} answered ${response.statusCode}.`));
      });
      response.resume();
    };
    const sent = request(url, { agent }, answered).on('error', reject);
    sent.setTimeout(answerMs, () => sent.destroy(new Error(`${url} gave no answer in ${answerMs} ms.`)));
    if (signal.aborted) sent.destroy(new Error('Interrupted.'));
    sent.end();
  });
}
