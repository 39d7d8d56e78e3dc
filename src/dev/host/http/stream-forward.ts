import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { tokenHeader } from '../protocol.js';
import { type FunctionRequest, hasBody, proxyHeaders } from './request-data.js';
import { breakResponse, type ExtraHeaders, type Problem, respondProblem } from './respond.js';
import type { WorkerAgent } from './worker-agent.js';

export interface ProxyTarget {
  readonly port: number;
  readonly token: string;
  readonly agent: WorkerAgent;
}

const brokeOff: Problem = { status: 502, code: 'WorkerDied', detail: "The worker's answer broke off." };

/** Headers of one connection, not of the message (RFC 9110, 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * One request on its way to the library's stream proxy, and its response on the way back. Each side waits for the slower
 * one; a client that leaves ends the request upstream; an end of the worker's response that is no proper end breaks
 * the client's.
 */
export class StreamForward {
  readonly #client: ServerResponse;
  readonly #incoming: IncomingMessage;
  readonly #upstream: ClientRequest;
  readonly #extra: ExtraHeaders;
  readonly #invocationId: string;
  #settled = false;

  constructor(
    functionRequest: FunctionRequest,
    client: ServerResponse,
    target: ProxyTarget,
    extra: ExtraHeaders,
  ) {
    const { incoming } = functionRequest;
    this.#client = client;
    this.#incoming = incoming;
    this.#extra = extra;
    this.#invocationId = functionRequest.invocationId;
    target.agent.dropStale();
    const withBody = hasBody(functionRequest);
    this.#upstream = request({
      agent: target.agent,
      host: '127.0.0.1',
      port: target.port,
      method: incoming.method ?? 'GET',
      path: functionRequest.target,
      headers: [
        ...proxyHeaders(functionRequest),
        tokenHeader,
        target.token,
        ...bodyHeaders(incoming, withBody),
      ] as never,
    });
    this.#upstream.on('error', () => this.fail(brokeOff));
    this.#upstream.on('response', (response) => this.#relay(response));
    client.once('close', () => {
      if (!client.writableFinished) this.#abandon();
    });
    if (withBody) {
      incoming.once('error', () => this.#abandon());
      incoming.pipe(this.#upstream);
    } else {
      incoming.resume();
      this.#upstream.end();
    }
  }

  /** Answers the client when it has no head yet, else breaks its body; and ends the request upstream. */
  fail(problem: Problem): void {
    if (this.#settled) return;
    this.#settled = true;
    if (this.#client.headersSent) breakResponse(this.#client);
    else respondProblem(this.#client, { ...problem, invocationId: this.#invocationId }, this.#extra);
    this.#stopUpstream();
  }

  #relay(response: IncomingMessage): void {
    if (this.#settled) return;
    const client = this.#client;
    client.writeHead(response.statusCode ?? 500, [...endToEnd(response.rawHeaders), ...this.#extra]);
    const resume = () => response.resume();
    response.on('data', (chunk: Buffer) => {
      if (client.write(chunk)) return;
      response.pause();
      client.once('drain', resume);
    });
    response.once('end', () => {
      this.#settled = true;
      client.end();
      // The client may send on for a while; a connection with half a request on it can't be used again.
      if (!this.#upstream.writableFinished) this.#stopUpstream();
    });
    response.once('error', () => this.fail(brokeOff));
    response.once('close', () => {
      if (!response.complete) this.fail(brokeOff);
    });
  }

  /** The client is gone. */
  #abandon(): void {
    if (this.#settled) return;
    this.#settled = true;
    const upstream = this.#upstream;
    // The worker waits for this request once it knows of the invocation: it must arrive, to be broken off then.
    if (upstream.socket && !upstream.socket.connecting) this.#stopUpstream();
    else if (upstream.socket) upstream.socket.once('connect', () => setImmediate(() => this.#stopUpstream()));
    else
      upstream.once('socket', (socket) => {
        if (socket.connecting) socket.once('connect', () => setImmediate(() => this.#stopUpstream()));
        else setImmediate(() => this.#stopUpstream());
      });
  }

  #stopUpstream(): void {
    this.#incoming.unpipe(this.#upstream);
    this.#incoming.resume();
    this.#upstream.destroy();
  }
}

function bodyHeaders({ headers, method }: IncomingMessage, withBody: boolean): string[] {
  const type = headers['content-type'] === undefined ? [] : ['content-type', headers['content-type']];
  if (withBody) {
    return headers['content-length'] === undefined
      ? [...type, 'transfer-encoding', 'chunked']
      : [...type, 'content-length', headers['content-length']];
  }
  // Without it a chunked body is announced for these.
  return method === 'GET' || method === 'HEAD' ? type : [...type, 'content-length', '0'];
}

/** Of name, value, name, value: those that go on to the client. */
function endToEnd(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (!hopByHop.has(name.toLowerCase())) kept.push(name, rawHeaders[index + 1] as string);
  }
  return kept;
}
