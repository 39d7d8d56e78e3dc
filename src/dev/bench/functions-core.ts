/**
 * The worker's side of the Functions programming model: `@azure/functions` asks for the module `@azure/functions-core`,
 * which only a worker has. Here it comes from this file, and a request at the library's own stream proxy is
 * itself the order to invoke the function that its path names.
 *
 * So the process runs what it runs in Azure (the real library, its proxy, the app's handlers) and nothing else: no
 * host in front that parses HTTP a second time, and no messages between the two, which cost CPU in both processes and
 * would make all paths look more alike than they are.
 */
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Module from 'node:module';

interface Metadata {
  readonly name: string;
  readonly bindings: Readonly<Record<string, { readonly type: string }>>;
}

interface InvocationModel {
  getArguments(): Promise<{ context: unknown; inputs: unknown[] }>;
  invokeFunction(context: unknown, inputs: unknown[], callback: unknown): Promise<unknown>;
  getResponse(context: unknown, result: unknown): Promise<unknown>;
}

interface ProgrammingModel {
  getInvocationModel(context: object): InvocationModel;
  getCapabilities(capabilities: Record<string, string>): Promise<Record<string, string>>;
}

type Load = (name: string, ...rest: unknown[]) => unknown;

const functions = new Map<string, { readonly metadata: Metadata; readonly callback: unknown }>();
let model: ProgrammingModel | undefined;

/** Invocations begun, and those that failed. */
export const invocations = { begun: 0, running: 0, failed: 0 };

/** To be called before anything imports `@azure/functions`. */
export function provideFunctionsCore(): void {
  const core = {
    setProgrammingModel: (set: ProgrammingModel) => {
      model = set;
    },
    registerFunction: (metadata: Metadata, callback: unknown) => {
      functions.set(metadata.name, { metadata, callback });
    },
    registerHook: () => {},
    log: () => {},
  };
  const loader = Module as unknown as { _load: Load };
  const load = loader._load;
  loader._load = function (this: unknown, name, ...rest) {
    return name === '@azure/functions-core' ? core : load.call(this, name, ...rest);
  };
}

/** To be called when the app is loaded. @returns the port of the library's proxy. */
export async function serveProxy(): Promise<number> {
  if (model === undefined) throw new Error('The app does not import @azure/functions.');
  const { HttpUri } = await model.getCapabilities({});
  if (HttpUri === undefined) throw new Error('The app does not set enableHttpStream.');
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    invoke(request).catch((error: unknown) => {
      invocations.failed++;
      console.error(error);
      // The library leaves the client without an answer.
      response.destroy();
    });
  });
  return Number(new URL(HttpUri).port);
}

async function invoke(request: IncomingMessage): Promise<void> {
  const name = /^\/api\/([\w-]+)/.exec(request.url ?? '')?.[1] ?? '';
  const found = functions.get(name);
  if (found === undefined || model === undefined) throw new Error(`There is no function '${name}'.`);
  const { metadata, callback } = found;
  const [trigger = ''] =
    Object.entries(metadata.bindings).find(([, { type }]) => /trigger$/i.test(type)) ?? [];
  const headers = request.headers as Record<string, string>;
  const http = { url: `http://127.0.0.1${request.url}`, method: request.method, headers, params: {} };
  const coreContext = {
    invocationId: headers['x-ms-invocation-id'],
    metadata,
    state: undefined as string | undefined,
    // The library takes the headers of a streamed request from here, not from the request itself.
    request: {
      inputData: [{ name: trigger, data: { http } }],
      triggerMetadata: { Headers: { json: JSON.stringify(headers) } },
    },
    log: () => {},
  };
  invocations.begun++;
  invocations.running++;
  try {
    const invocation = model.getInvocationModel(coreContext);
    const { context, inputs } = await invocation.getArguments();
    coreContext.state = 'invocation';
    const result = await invocation.invokeFunction(context, inputs, callback).finally(() => {
      coreContext.state = undefined;
    });
    await invocation.getResponse(context, result);
  } finally {
    invocations.running--;
  }
}
