import { functionFailed, problemBody, problemType } from '../problem.js';
import type { RpcInvocationRequest, RpcInvocationResponse, RpcTypedData } from '../rpc.js';
import { answerInstead } from './answer.js';
import { post } from './channel.js';
import { app, type Registration } from './core-api.js';
import type { CoreInvocationContext, FunctionCallback, InvocationModel } from './core-model.js';
import { toFailure } from './failure.js';
import { appHookData, executeHooks, hasHooks } from './hooks.js';
import type { StreamProxy } from './stream-proxy.js';
import { workerLog } from './worker-log.js';

/** Runs one invocation to its end and tells the host; never throws. */
export async function invoke(
  registration: Registration,
  request: RpcInvocationRequest,
  proxy: StreamProxy | undefined,
): Promise<void> {
  const id = request.invocationId;
  const invocation = new Invocation(registration, request);
  try {
    const response = await invocation.run();
    if (proxy?.response(id)?.writableEnded === false) await settle(invocation, proxy, { status: 204 });
    post({
      type: 'result',
      id,
      failure: undefined,
      http: proxy ? undefined : httpOf(registration, response),
    });
  } catch (error) {
    const failure = toFailure(error);
    const detail = functionFailed(registration.metadata.name);
    const answer = {
      status: 500,
      headers: { 'content-type': problemType },
      body: problemBody(500, 'FunctionFailed', detail, id),
    };
    if (proxy) await settle(invocation, proxy, answer);
    post({ type: 'result', id, failure, http: undefined });
  }
}

/** A streamed request that the library left without an answer gets one. */
async function settle(
  { invocationId, model, context }: Invocation,
  proxy: StreamProxy,
  answer: Parameters<typeof answerInstead>[0],
): Promise<void> {
  const response = proxy.response(invocationId);
  if (response?.writableEnded || model === undefined) return;
  await answerInstead(answer, { invocationId, model, context, response });
}

function httpOf({ metadata }: Registration, response: RpcInvocationResponse): RpcTypedData | undefined {
  if (response.returnValue?.http) return response.returnValue;
  return response.outputData?.find(({ name, data }) => isHttp(metadata.bindings[name]?.type) && data)?.data;
}

function isHttp(type: string | undefined): boolean {
  return type?.toLowerCase() === 'http';
}

class Invocation implements CoreInvocationContext {
  readonly invocationId: string;
  readonly request: RpcInvocationRequest;
  readonly metadata: CoreInvocationContext['metadata'];
  state: CoreInvocationContext['state'];
  model: InvocationModel | undefined;
  context: unknown;
  readonly #callback: FunctionCallback;
  readonly #hookData: Record<string, unknown> = {};

  constructor({ metadata, callback }: Registration, request: RpcInvocationRequest) {
    this.invocationId = request.invocationId;
    this.request = request;
    this.metadata = metadata;
    this.#callback = callback;
  }

  log(
    level: Parameters<CoreInvocationContext['log']>[0],
    category: 'user' | 'system',
    message: string,
  ): void {
    workerLog(level, category, message, {
      functionName: this.metadata.name,
      invocationId: this.invocationId,
      invocationContext: this.context,
      hookData: this.#hookData,
    });
  }

  async run(): Promise<RpcInvocationResponse> {
    if (app.model === undefined) throw new Error('The app has set no programming model.');
    const model = await app.model.getInvocationModel(this);
    this.model = model;
    const { context, inputs } = await model.getArguments();
    this.context = context;
    const result = await this.#callWithHooks(model, inputs);
    return model.getResponse(context, result);
  }

  async #callWithHooks(model: InvocationModel, inputs: unknown[]): Promise<unknown> {
    if (!hasHooks('preInvocation') && !hasHooks('postInvocation')) {
      this.state = 'invocation';
      try {
        return await model.invokeFunction(this.context, inputs, this.#callback);
      } finally {
        this.state = undefined;
      }
    }
    const common = { hookData: this.#hookData, appHookData, invocationContext: this.context };
    const before = { ...common, inputs, functionCallback: this.#callback };
    await this.#inState('preInvocationHooks', () => executeHooks('preInvocation', before));
    const after = {
      ...common,
      inputs: before.inputs,
      result: null as unknown,
      error: null as unknown,
    };
    await this.#inState('invocation', async () => {
      try {
        after.result = await model.invokeFunction(this.context, before.inputs, before.functionCallback);
      } catch (error) {
        after.error = error ?? new Error('The handler threw nothing.');
      }
    });
    await this.#inState('postInvocationHooks', () => executeHooks('postInvocation', after));
    if (after.error !== null && after.error !== undefined) throw after.error;
    return after.result;
  }

  async #inState(state: CoreInvocationContext['state'], work: () => Promise<void>): Promise<void> {
    this.state = state;
    try {
      await work();
    } finally {
      this.state = undefined;
    }
  }
}
