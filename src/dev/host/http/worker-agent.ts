import { Agent, type ClientRequest } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The worker's server closes a connection that was idle for 5 s. A request that is sent just then is lost, and nobody
 * can tell whether it ran; so one that was idle for 4 s is not used again.
 */
const maxIdleMs = 4_000;

/** Connections to the worker's stream proxy, kept for reuse. */
export class WorkerAgent extends Agent {
  readonly #idleSince = new WeakMap<Socket, number>();

  readonly #maxIdleMs: number;

  constructor(idleMs = maxIdleMs) {
    super({ keepAlive: true, maxFreeSockets: 4_096, scheduling: 'lifo', timeout: idleMs });
    this.#maxIdleMs = idleMs;
  }

  override keepSocketAlive(socket: Socket): boolean {
    this.#idleSince.set(socket, performance.now());
    return Boolean(super.keepSocketAlive(socket));
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    super.reuseSocket(socket, request);
    // A response whose last chunk was paused leaves its socket paused, and the next one would never come.
    socket.resume();
  }

  /** The timeout of the agent does the same, but late when the event loop is: call this before each request. */
  dropStale(): void {
    const now = performance.now();
    for (const sockets of Object.values(this.freeSockets)) {
      // Used last in, first out: the oldest stand at the front.
      for (let oldest = sockets?.[0]; oldest; oldest = sockets?.[0]) {
        if (now - (this.#idleSince.get(oldest) ?? now) < this.#maxIdleMs) break;
        sockets?.shift();
        oldest.destroy();
      }
    }
  }
}
