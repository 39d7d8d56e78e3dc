import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { deadline } from './deadline.js';

export interface UsersResult {
  /** Answers with a status below 400 that were read to their end within the time. */
  readonly answered: number;
  /** By status, or by the code of the connection's error; with how often. */
  readonly failures: Readonly<Record<string, number>>;
  /** Requests under way when the time was over; their connections were closed. */
  readonly unfinished: number;
  readonly elapsedMs: number;
}

export interface UsersOptions {
  readonly url: string;
  readonly users: number;
  readonly durationMs: number;
  readonly signal: AbortSignal;
}

/**
 * Simulated users: each sends a request, waits for its answer, and at once sends the next one, on a connection of its
 * own, until the time is over.
 */
export class Users {
  answered = 0;
  inFlight = 0;
  readonly failures: Record<string, number> = {};
  readonly #options: UsersOptions;

  constructor(options: UsersOptions) {
    this.#options = options;
  }

  get failed(): number {
    return Object.values(this.failures).reduce((sum, count) => sum + count, 0);
  }

  async run(): Promise<UsersResult> {
    const { users, durationMs, signal } = this.#options;
    const began = performance.now();
    const { signal: over, release } = deadline(durationMs, signal);
    let unfinished = 0;
    const user = async () => {
      while (!over.aborted) {
        this.inFlight++;
        const outcome = await get(this.#options.url, over);
        this.inFlight--;
        if (outcome === 'unfinished') unfinished++;
        else if (outcome === 'answered') this.answered++;
        else {
          this.failures[outcome] = (this.failures[outcome] ?? 0) + 1;
          // A server that refuses at once would be asked as fast as the machine can.
          await sleep(100, undefined, { signal: over }).catch(() => {});
        }
      }
    };
    await Promise.all(Array.from({ length: users }, user));
    release();
    const elapsedMs = performance.now() - began;
    return { answered: this.answered, failures: this.failures, unfinished, elapsedMs };
  }
}

/** @returns 'answered', 'unfinished', or what went wrong. A body that breaks off is no answer. */
function get(url: string, signal: AbortSignal): Promise<string> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => {
      resolve(signal.aborted ? 'unfinished' : (error.code ?? error.message));
    };
    const answered = (response: IncomingMessage) => {
      const status = response.statusCode ?? 0;
      response.on('error', failed);
      response.on('end', () => resolve(status < 400 ? 'answered' : `status ${status}`));
      response.resume();
    };
    send(url, { agent: false, signal }, answered).on('error', failed).end();
  });
}
