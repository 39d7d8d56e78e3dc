import type { ServerResponse } from 'node:http';
import type { FunctionDescriptor } from '../function-descriptor.js';
import type { LoadedApp } from '../loaded-app.js';
import type { FunctionLogger } from '../log/function-logger.js';
import { functionFailed } from '../problem.js';
import type { InvocationFailure } from '../protocol.js';
import type { RpcInvocationRequest, RpcParameterBinding, RpcTypedData } from '../rpc.js';
import type { InvocationResult } from '../worker-process.js';
import { maxBodyBytes, readBody } from './request-body.js';
import { type FunctionRequest, handlerHeaders, hasBody, nullable, queryStrings } from './request-data.js';
import { breakResponse, type ExtraHeaders, type Problem, respondProblem } from './respond.js';
import { StreamForward } from './stream-forward.js';
import { traceContext } from './trace-context.js';
import { respondTyped } from './typed-response.js';

/**
 * One invocation of an HTTP function: its input bindings, then the worker, then the answer. Whatever happens, the client
 * gets an answer or a broken body, and the log gets a line at the start and one at the end.
 */
export class HttpInvocation {
  readonly #app: LoadedApp;
  readonly #fn: FunctionDescriptor;
  readonly #request: FunctionRequest;
  readonly #response: ServerResponse;
  readonly #extra: ExtraHeaders;
  readonly #logger: FunctionLogger;
  readonly #startedAt = performance.now();
  #forward: StreamForward | undefined;
  #ended = false;

  constructor(
    app: LoadedApp,
    fn: FunctionDescriptor,
    request: FunctionRequest,
    response: ServerResponse,
    extra: ExtraHeaders,
  ) {
    this.#app = app;
    this.#fn = fn;
    this.#request = request;
    this.#response = response;
    this.#extra = extra;
    this.#logger = fn.loggers.begin(request.invocationId);
  }

  /** Resolves when the function has ended; the client may still be reading. Never rejects. */
  async run(timeoutMs: number | undefined): Promise<void> {
    const { invocationId: id } = this.#request;
    this.#logger.executing(id);
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.#timeOut(timeoutMs), timeoutMs);
    try {
      if (Number(this.#request.incoming.headers['content-length'] ?? 0) > maxBodyBytes) this.#refuseBody();
      if (this.#ended) return;
      const inputs = this.#fn.sqlInputs.length === 0 ? [] : await this.#readInputs();
      if (inputs === undefined || this.#ended) return;
      const body = this.#app.proxy === undefined ? await this.#readBody() : undefined;
      if (this.#response.destroyed) {
        this.#end({ message: 'The client left before the function ran.', at: undefined, stack: undefined });
        return;
      }
      if (this.#ended) return;
      const result = await this.#invoke([
        { name: this.#fn.triggerName, data: this.#trigger(body) },
        ...inputs,
      ]);
      this.#answer(result);
    } catch (error) {
      this.#fail(
        { status: 500, code: 'FunctionFailed', detail: functionFailed(this.#fn.name) },
        error as Error,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  /** The host stops and waits no longer. */
  abort(): void {
    this.#fail(
      { status: 503, code: 'HostStopping', detail: 'The host stops.' },
      new Error('The host stopped before the function had ended.'),
    );
  }

  async #readInputs(): Promise<RpcParameterBinding[] | undefined> {
    const { incoming, values, target, invocationId } = this.#request;
    const queryStart = target.indexOf('?');
    const data = {
      route: values,
      query: new URLSearchParams(queryStart < 0 ? '' : target.slice(queryStart)),
      headers: incoming.headers,
    };
    try {
      return await Promise.all(
        this.#fn.sqlInputs.map(async (input) => ({
          name: input.name,
          data: await input.read(data, invocationId),
        })),
      );
    } catch (error) {
      const detail = `An input binding of the function ${this.#fn.name} failed. The host's log says why, under this invocation id.`;
      this.#fail({ status: 500, code: 'BindingFailed', detail }, error as Error);
      return undefined;
    }
  }

  async #readBody(): Promise<Buffer | undefined> {
    if (!hasBody(this.#request)) {
      this.#request.incoming.resume();
      return undefined;
    }
    const body = await readBody(this.#request.incoming, maxBodyBytes).catch(() => undefined);
    if (body === undefined && !this.#request.incoming.destroyed) this.#refuseBody();
    return body;
  }

  #refuseBody(): void {
    const detail = `The body of the request is longer than ${maxBodyBytes} bytes.`;
    this.#fail({ status: 413, code: 'RequestTooLarge', detail }, new Error(detail));
  }

  #trigger(body: Buffer | undefined): RpcTypedData {
    const { incoming, target, values, host } = this.#request;
    // With streaming on, the library takes all but the headers from the request to its proxy.
    if (this.#app.proxy !== undefined) return { string: '' };
    return {
      http: {
        method: incoming.method ?? 'GET',
        url: `http://${host}${target}`,
        nullableHeaders: nullable(handlerHeaders(this.#request)),
        nullableParams: nullable(values),
        nullableQuery: queryStrings(target),
        ...(body === undefined ? {} : { body: { bytes: body } }),
      },
    };
  }

  #invoke(inputData: RpcParameterBinding[]): Promise<InvocationResult | undefined> {
    const { invocationId, values, incoming } = this.#request;
    const triggerMetadata: Record<string, RpcTypedData> = {};
    for (const [name, value] of Object.entries(values)) triggerMetadata[name] = { string: value };
    triggerMetadata['Headers'] = { json: JSON.stringify(handlerHeaders(this.#request)) };
    const request: RpcInvocationRequest = {
      invocationId,
      functionId: this.#fn.name,
      inputData,
      triggerMetadata,
      traceContext: traceContext(incoming.headers),
    };
    return new Promise((resolve) => {
      this.#app.worker.invoke(request, resolve);
      if (this.#app.proxy === undefined) return;
      this.#forward = new StreamForward(this.#request, this.#response, this.#app.proxy, this.#extra);
    });
  }

  #answer(result: InvocationResult | undefined): void {
    if (result === undefined) {
      const detail = `The worker process died while the function ${this.#fn.name} ran.`;
      this.#fail({ status: 502, code: 'WorkerDied', detail }, new Error(detail));
      return;
    }
    // Its answer went through the proxy, or is on the way.
    if (this.#forward === undefined && !this.#ended) {
      if (result.failure) {
        this.#respond({ status: 500, code: 'FunctionFailed', detail: functionFailed(this.#fn.name) });
      } else respondTyped(this.#response, result.http, this.#request.invocationId, this.#extra);
    }
    this.#end(result.failure);
  }

  #timeOut(timeoutMs: number): void {
    const message =
      `functionTimeout of host.json, ${timeoutMs / 1_000} s, is over. ` +
      'Azure would restart the worker now, and all that runs in it would fail.';
    const detail = `The function ${this.#fn.name} did not end in time.`;
    this.#fail({ status: 500, code: 'FunctionTimeout', detail }, new Error(message));
  }

  #fail(problem: Problem, error: Error): void {
    if (this.#ended) return;
    if (this.#forward) this.#forward.fail(problem);
    else this.#respond(problem);
    this.#end({ message: error.message, at: undefined, stack: error.stack });
  }

  #respond(problem: Problem): void {
    if (this.#response.headersSent) breakResponse(this.#response);
    else
      respondProblem(this.#response, { ...problem, invocationId: this.#request.invocationId }, this.#extra);
  }

  #end(failure: InvocationFailure | undefined): void {
    if (this.#ended) return;
    this.#ended = true;
    const { invocationId: id } = this.#request;
    this.#logger.executed(id, performance.now() - this.#startedAt, failure);
    this.#fn.loggers.end(id);
  }
}
