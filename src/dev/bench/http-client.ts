import { randomUUID } from 'node:crypto';
import { type Agent, type IncomingMessage, request } from 'node:http';

/** A measurement that is void: an answer was wrong, or did not come to its end. */
export class BenchError extends Error {
  readonly code = 'EBENCH';
  override readonly name = 'BenchError';
}

export interface Call {
  readonly port: number;
  /** The function with its query, `respond?rows=1000`. */
  readonly path: string;
  readonly agent?: Agent;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** A request as a Functions host sends it to the worker's proxy. @throws what `request` does before the head came. */
export function call({ port, path, agent, headers = {}, signal }: Call): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({
      host: '127.0.0.1',
      port,
      path: `/api/${path}`,
      ...(agent && { agent }),
      ...(signal && { signal }),
      headers: {
        ...headers,
        'x-forwarded-host': '127.0.0.1',
        'x-forwarded-proto': 'http',
        'x-ms-invocation-id': randomUUID(),
      },
    });
    sent.on('response', resolve).on('error', reject).end();
  });
}

export interface StreamFigures {
  readonly rows: number;
  readonly bytes: number;
  /** From sending the request to the first byte of the body. */
  readonly firstByteMs: number;
  readonly totalMs: number;
}

const [openBrace, openBracket, closeBracket] = [0x7b, 0x5b, 0x5d];

/**
 * Reads a JSON array of objects as fast as it comes, and counts the objects by their braces: the values of
 * `dev.replay` have none.
 *
 * @throws BenchError unless exactly `rows` objects came and the body came to its end
 */
export async function readRows(options: Call, rows: number): Promise<StreamFigures> {
  const began = performance.now();
  const response = await call(options);
  let firstByteMs = Number.NaN;
  let [count, bytes, first, last] = [0, 0, 0, 0];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (bytes === 0) {
      firstByteMs = performance.now() - began;
      first = chunk[0] ?? 0;
    }
    bytes += chunk.length;
    last = chunk[chunk.length - 1] ?? last;
    for (let at = chunk.indexOf(openBrace); at >= 0; at = chunk.indexOf(openBrace, at + 1)) count++;
  }
  const totalMs = performance.now() - began;
  const isArray = first === openBracket && last === closeBracket;
  if (response.statusCode !== 200 || !response.complete || !isArray || count !== rows) {
    const end = response.complete ? '' : ', and it broke off';
    throw new BenchError(`${options.path}: status ${response.statusCode}, ${count} rows of ${rows}${end}.`);
  }
  return { rows: count, bytes, firstByteMs, totalMs };
}
