import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FunctionDescriptor } from '../function-descriptor.js';
import type { LoadedApp } from '../loaded-app.js';
import { type AdminState, respondAdmin } from './admin.js';
import type { Cors } from './cors.js';
import { homePage } from './home-page.js';
import { HttpInvocation } from './invocation.js';
import type { RequestLimiter } from './limiter.js';
import type { FunctionRequest } from './request-data.js';
import { type ExtraHeaders, respond, respondProblem } from './respond.js';
import type { RouteMatch } from './router.js';

export interface FunctionServerOptions {
  /** The app, or a promise while it is being loaded; rejects when there will be none. */
  readonly app: () => LoadedApp | Promise<LoadedApp>;
  readonly admin: () => AdminState;
  readonly cors: Cors;
  readonly limiter: RequestLimiter;
  readonly customHeaders: ExtraHeaders;
  readonly functionTimeoutMs: number | undefined;
  /** False: AzureWebJobsDisableHomepage. */
  readonly hasHomePage: boolean;
}

/** A client that keeps a connection should not meet its end (Kestrel's default). */
const keepAliveMs = 130_000;
const maxHeaderBytes = 32_768;
const validHost = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** HTTP in: finds the function of each request and runs it. */
export class FunctionServer {
  readonly server: Server;
  readonly #options: FunctionServerOptions;
  readonly #running = new Set<HttpInvocation>();
  readonly #connections = new Set<Socket>();
  readonly #busy = new Set<Socket>();
  #stopping = false;
  #onIdle: () => void = () => {};

  constructor(options: FunctionServerOptions) {
    this.#options = options;
    this.server = createServer(
      { keepAliveTimeout: keepAliveMs, maxHeaderSize: maxHeaderBytes },
      (request, response) => {
        // A client that leaves is noticed by its response; without listeners its errors would end the process.
        request.on('error', () => {});
        response.on('error', () => {});
        const { socket } = request;
        this.#busy.add(socket);
        response.once('close', () => this.#busy.delete(socket));
        this.#handle(request, response);
      },
    );
    this.server.on('connection', (socket) => {
      this.#connections.add(socket);
      socket.once('close', () => this.#connections.delete(socket));
    });
  }

  /** Accepts no more; resolves when the running functions have ended, at the latest after `graceMs`, when they are broken off. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    // A function may go on after its client has its answer, or has left: it is not yet done then.
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.#running.size === 0) resolve();
    });
    this.#closeIdle();
    // A connection that is kept alive becomes idle when its request ends.
    const closing = setInterval(() => this.#closeIdle(), 50);
    const timer = setTimeout(() => {
      for (const invocation of this.#running) invocation.abort();
      this.#onIdle();
      // The answers that this gives should still leave.
      setTimeout(() => this.server.closeAllConnections(), 100);
    }, graceMs);
    await Promise.all([closed, idle]);
    clearTimeout(timer);
    clearInterval(closing);
  }

  /** Node's own takes a connection that has said nothing yet for a busy one. */
  #closeIdle(): void {
    for (const socket of this.#connections) if (!this.#busy.has(socket)) socket.destroy();
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const { cors, app } = this.#options;
    const preflight = cors.preflight(request);
    if (preflight) {
      respond(response, 204, preflight);
      return;
    }
    if (this.#stopping) response.shouldKeepAlive = false;
    const target = originForm(request.url ?? '/');
    const queryStart = target.indexOf('?');
    const path = queryStart < 0 ? target : target.slice(0, queryStart);
    if (/^\/admin(?:\/|$)/i.test(path)) {
      respondAdmin(request, response, path.replace(/\/$/, ''), this.#options.admin()).catch(() =>
        respond(response, 500),
      );
      return;
    }
    const loaded = app();
    if (!(loaded instanceof Promise)) {
      this.#route(loaded, request, response, target, path);
      return;
    }
    loaded.then(
      (ready) => this.#route(ready, request, response, target, path),
      () => {
        const detail = 'The worker process is gone. The host says why in its log.';
        respondProblem(response, { status: 503, code: 'WorkerUnavailable', detail }, cors.headers(request));
      },
    );
  }

  #route(
    app: LoadedApp,
    request: IncomingMessage,
    response: ServerResponse,
    target: string,
    path: string,
  ): void {
    const extra = this.#extraHeaders(request);
    const match = app.router.match(request.method ?? 'GET', path);
    if (!match) {
      const isHome = path === '/' && this.#options.hasHomePage && /^(?:GET|HEAD)$/.test(request.method ?? '');
      if (isHome) respond(response, 200, [...extra, 'Content-Type', 'text/html; charset=utf-8'], homePage);
      else respond(response, 404, extra);
      return;
    }
    const { target: fn } = match;
    if (fn.notRun !== undefined) {
      const detail = `The function ${fn.name} is not run here: ${fn.notRun}.`;
      respondProblem(response, { status: 501, code: 'NotSupported', detail }, extra);
      return;
    }
    const host = request.headers.host ?? `127.0.0.1:${request.socket.localPort}`;
    if (!validHost.test(host)) {
      const detail = 'The Host header is no host name with an optional port.';
      respondProblem(response, { status: 400, code: 'BadRequest', detail }, extra);
      return;
    }
    this.#enter(app, match, { incoming: request, target, values: match.values, host }, response, extra);
  }

  #enter(
    app: LoadedApp,
    { target: fn }: RouteMatch<FunctionDescriptor>,
    partial: Omit<FunctionRequest, 'invocationId'>,
    response: ServerResponse,
    extra: ExtraHeaders,
  ): void {
    const { limiter, functionTimeoutMs } = this.#options;
    const giveUp = limiter.enter(() => {
      const request = { ...partial, invocationId: randomUUID() };
      const invocation = new HttpInvocation(app, fn, request, response, extra);
      this.#running.add(invocation);
      invocation.run(functionTimeoutMs).then(() => {
        const leave = () => {
          this.#running.delete(invocation);
          if (this.#running.size === 0) this.#onIdle();
          limiter.leave();
        };
        if (response.closed) leave();
        else response.once('close', leave);
      });
    });
    if (giveUp === undefined) {
      const detail = 'Too many requests run or wait: maxOutstandingRequests of host.json.';
      respondProblem(response, { status: 429, code: 'TooManyRequests', detail, retryAfterSeconds: 1 }, extra);
    } else response.once('close', giveUp);
  }

  #extraHeaders(request: IncomingMessage): ExtraHeaders {
    const { cors, customHeaders } = this.#options;
    const own = cors.headers(request);
    return customHeaders.length === 0 ? own : [...customHeaders, ...own];
  }
}

/** A proxy's client sends `GET http://host/path`. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  return target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/^(?!\/)/, '/');
}
