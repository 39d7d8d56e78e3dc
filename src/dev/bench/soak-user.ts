import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from './http-client.js';
import { type BodyFormat, expectedBody } from './soak-rows.js';

export type Outcome = 'whole' | 'refused' | 'broken' | 'left' | 'violation';

export interface Result {
  readonly outcome: Outcome;
  /** Of a violation: what was seen. Of a refusal: status and code. */
  readonly detail: string;
}

type Behaviour = 'reads' | 'slow' | 'leaves';

/** Longer than any request may take with all its faults and deadlines: retries, a silent server, a slow reader. */
export const requestDeadlineMs = 60_000;

const refusals = new Set([500, 503, 504]);

/** One request of a simulated user, of a random kind: 10 % leave, 5 % read slowly. Never rejects. */
export async function soakRequest(port: number, mostRows: number): Promise<Result> {
  const luck = Math.random();
  const behaviour: Behaviour = luck < 0.1 ? 'leaves' : luck < 0.15 ? 'slow' : 'reads';
  const format: BodyFormat = Math.random() < 0.2 ? 'ndjson' : 'json';
  const path = Math.random() < 0.2 ? 'soak-rows' : 'soak';
  const rows = 1 + Math.floor(Math.random() * mostRows);
  const what = `${path} ${format} ${rows} rows, client ${behaviour}`;
  const deadline = AbortSignal.timeout(requestDeadlineMs);
  const over = new AbortController();
  const signal = AbortSignal.any([deadline, over.signal]);
  const accept = format === 'json' ? 'application/json' : 'application/x-ndjson';
  if (behaviour === 'leaves') setTimeout(() => over.abort(), Math.random() * 150).unref();
  try {
    const response = await call({ port, path: `${path}?rows=${rows}`, headers: { accept }, signal });
    const body = await read(response, behaviour);
    return judge(response, body, expectedBody(rows, format), what);
  } catch (error) {
    if (deadline.aborted) return { outcome: 'violation', detail: `hangs: ${what}` };
    if (over.signal.aborted) return { outcome: 'left', detail: '' };
    // No head came: the worker has no reason to break a connection that early.
    return { outcome: 'violation', detail: `no answer (${(error as Error).message}): ${what}` };
  }
}

async function read(response: IncomingMessage, behaviour: Behaviour): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      if (behaviour === 'slow') await sleep(100 + Math.random() * 200);
    }
  } catch (error) {
    // A body that breaks off is told by `complete`; whether this client has left, by its signal.
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
  }
  return Buffer.concat(chunks).toString();
}

function judge(
  { statusCode, complete, headers }: IncomingMessage,
  body: string,
  expected: string,
  what: string,
): Result {
  const violation = (problem: string): Result => ({ outcome: 'violation', detail: `${problem}: ${what}` });
  if (statusCode === 200) {
    if (!complete) {
      const end = body.lastIndexOf('{"error":');
      const sent = end > 0 && what.includes('ndjson') ? body.slice(0, end) : body;
      return expected.startsWith(sent)
        ? { outcome: 'broken', detail: '' }
        : violation('a broken body with wrong rows');
    }
    if (body === expected) return { outcome: 'whole', detail: '' };
    return violation(`a complete body that is wrong (${body.length} characters for ${expected.length})`);
  }
  if (!complete || !refusals.has(statusCode ?? 0)) return violation(`status ${statusCode}`);
  if (!headers['content-type']?.startsWith('application/problem+json'))
    return violation('a refusal that is no problem+json');
  const { code } = JSON.parse(body) as { code?: string };
  return typeof code === 'string'
    ? { outcome: 'refused', detail: `${statusCode} ${code}` }
    : violation('a refusal without a code');
}
