/**
 * What a Functions host and its worker do for one invocation, around the real `@azure/functions` and its real stream
 * proxy: the test is the host, on sockets of its own.
 */
import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';
import Module from 'node:module';
import { connect, type Socket } from 'node:net';
import type { HttpHandler, HttpMethod } from '@azure/functions';

interface Metadata {
  readonly name: string;
  readonly bindings: Readonly<Record<string, { readonly type: string }>>;
}

interface Model {
  getArguments(): Promise<{ context: unknown; inputs: unknown[] }>;
  invokeFunction(context: unknown, inputs: unknown[], callback: unknown): Promise<unknown>;
  getResponse(context: unknown, result: unknown): Promise<{ returnValue?: { http?: TypedResponse } }>;
}

interface ProgrammingModel {
  getInvocationModel(context: object): Model;
  getCapabilities(capabilities: Record<string, string>): Promise<Record<string, string>>;
}

/** A response that went back as typed data. */
export interface TypedResponse {
  readonly statusCode: string;
  readonly headers: Record<string, string>;
  readonly body: { readonly bytes: Uint8Array };
}

export interface LogLine {
  readonly level: string;
  readonly category: string;
  readonly message: string;
}

export interface Answer {
  readonly id: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body came to its end. */
  readonly complete: boolean;
  /** What the worker would tell the host: undefined, or the error of the invocation. */
  readonly failure: unknown;
}

export interface Call {
  readonly method?: HttpMethod;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly params?: Record<string, string>;
}

const functions = new Map<string, { metadata: Metadata; callback: unknown }>();
const hooks = new Map<string, (() => unknown)[]>();
let model: ProgrammingModel;

type Load = (name: string, ...rest: unknown[]) => unknown;
const loader = Module as unknown as { _load: Load };
const load = loader._load;
loader._load = function (this: unknown, name, ...rest) {
  return name === '@azure/functions-core' ? coreApi : load.call(this, name, ...rest);
};

const coreApi = {
  setProgrammingModel: (set: ProgrammingModel) => {
    model = set;
  },
  registerFunction: (metadata: Metadata, callback: unknown) => {
    functions.set(metadata.name, { metadata, callback });
  },
  registerHook: (name: string, callback: () => unknown) => {
    hooks.set(name, [...(hooks.get(name) ?? []), callback]);
  },
  log: () => {},
};

export class FunctionsProxy {
  readonly logs: LogLine[] = [];
  readonly port: number;

  private constructor(port: number) {
    this.port = port;
  }

  /** @param streaming false for typed data; the library knows one of the two in a process */
  static async start(handlers: Record<string, HttpHandler>, streaming = true): Promise<FunctionsProxy> {
    const { app } = await import('@azure/functions');
    app.setup({ enableHttpStream: streaming });
    for (const [name, handler] of Object.entries(handlers)) app.http(name, { handler });
    const { HttpUri } = await model.getCapabilities({});
    return new FunctionsProxy(HttpUri === undefined ? 0 : Number(new URL(HttpUri).port));
  }

  /** Runs a hook that the app registered, as the worker does. */
  static async runHook(name: string): Promise<void> {
    for (const callback of hooks.get(name) ?? []) await callback();
  }

  static hasHook(name: string): boolean {
    return hooks.has(name);
  }

  /** The worker's side of an invocation; resolves when the library has done its part. */
  async invoke(
    name: string,
    id: string,
    { params = {}, headers = {}, path, method = 'GET' }: Call = {},
  ): Promise<TypedResponse | undefined> {
    const { metadata, callback } = functions.get(name)!;
    const [trigger = ''] = Object.entries(metadata.bindings).find(([, { type }]) => /trigger$/i.test(type))!;
    const http = { url: `http://app${path ?? `/api/${name}`}`, method, headers, params };
    const coreContext = {
      invocationId: id,
      metadata,
      state: undefined as string | undefined,
      request: {
        inputData: [{ name: trigger, data: { http } }],
        triggerMetadata: {
          ...Object.fromEntries(Object.entries(params).map(([key, string]) => [key, { string }])),
          Headers: { json: JSON.stringify(headers) },
        },
      },
      log: (level: string, category: string, message: string) => this.logs.push({ level, category, message }),
    };
    const invocation = model.getInvocationModel(coreContext);
    const { context, inputs } = await invocation.getArguments();
    coreContext.state = 'invocation';
    const result = await invocation.invokeFunction(context, inputs, callback).finally(() => {
      coreContext.state = undefined;
    });
    const response = await invocation.getResponse(context, result);
    return response.returnValue?.http;
  }

  /** Both sides of an invocation, read to the end. */
  async call(name: string, call: Call = {}): Promise<Answer> {
    const id = randomUUID();
    const failure = this.invoke(name, id, call).then(
      () => undefined,
      (error: unknown) => error,
    );
    const { status, headers, body, complete } = await this.#send(this.#options(name, id, call));
    return { id, status, headers, body, complete, failure: await failure };
  }

  /**
   * An invocation whose client is a bare socket, with the request sent. The socket is paused.
   *
   * `ended` settles with the invocation; its value is the failure, if any.
   */
  open(name: string, call: Call = {}): { id: string; socket: Socket; ended: Promise<unknown> } {
    const id = randomUUID();
    const socket = connect(this.port, '127.0.0.1').on('error', () => {});
    const { path, method, headers } = this.#options(name, id, call);
    const lines = Object.entries(headers as Record<string, string>).map(([key, value]) => `${key}: ${value}`);
    socket.write(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('\r\n')}\r\n\r\n`);
    const ended = this.invoke(name, id, call).then(
      () => undefined,
      (error: unknown) => error,
    );
    return { id, socket, ended };
  }

  #options(name: string, id: string, { method = 'GET', path = `/api/${name}`, headers = {} }: Call) {
    const forwarded = { 'x-forwarded-host': 'app', 'x-forwarded-proto': 'http', 'x-ms-invocation-id': id };
    return { host: '127.0.0.1', port: this.port, method, path, headers: { ...headers, ...forwarded } };
  }

  #send(options: RequestOptions): Promise<Pick<Answer, 'status' | 'headers' | 'body' | 'complete'>> {
    return new Promise((resolve, reject) => {
      const sent = request(options, (response) => {
        let body = '';
        const end = () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body,
            complete: response.complete,
          });
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        response.on('end', end).on('error', end);
      });
      sent.on('error', reject).end();
    });
  }
}
