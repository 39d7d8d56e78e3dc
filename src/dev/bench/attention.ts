import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from './http-client.js';

/** The type of a packet is its first byte; ATTENTION (MS-TDS 2.2.1.7, 2.2.3.1.1). It has no data: 8 bytes in all. */
const attention = 0x06;
const headerLength = 8;

/** A relay in front of a SQL server that tells of each ATTENTION. Without TLS only: it reads the packets' headers. */
export class AttentionRelay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Called for each. */
  onAttention: () => void = () => {};

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(sqlPort: number): Promise<AttentionRelay> {
    const server = createServer({ noDelay: true });
    const relay = new AttentionRelay(server);
    server.on('connection', (client) =>
      relay.#relay(client, connect({ port: sqlPort, host: '127.0.0.1', noDelay: true })),
    );
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return relay;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  #relay(client: Socket, upstream: Socket): void {
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (chunk) => {
      // While rows come the client sends nothing else, so an ATTENTION is a chunk of its own.
      if (chunk.length === headerLength && chunk[0] === attention) this.onAttention();
    });
    client.pipe(upstream);
    upstream.pipe(client);
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** More than a stream can send before its client leaves. */
const rows = 10_000_000;
const attentionDeadlineMs = 5_000;

/**
 * Clients that leave amid the rows, one after the other.
 *
 * @returns for each the ms from closing the client's socket to the ATTENTION on the wire; Infinity when none came in 5 s.
 */
export async function attentionTimes(port: number, relay: AttentionRelay, times: number): Promise<number[]> {
  const all: number[] = [];
  for (let index = 0; index < times; index++) {
    const response = await call({ port, path: `watched?rows=${rows}&mix=strings` });
    response.on('error', () => {});
    await new Promise((resolve) => response.once('data', resolve));
    await sleep(Math.random() * 50);
    const seen = new Promise<number>((resolve) => {
      relay.onAttention = () => resolve(performance.now());
    });
    const left = performance.now();
    response.destroy();
    const at = await Promise.race([
      seen,
      sleep(attentionDeadlineMs, Number.POSITIVE_INFINITY, { ref: false }),
    ]);
    all.push(at - left);
  }
  return all;
}
