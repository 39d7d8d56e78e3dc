import { type DescriptorOptions, describeFunctions } from './descriptors.js';
import type { FunctionDescriptor } from './function-descriptor.js';
import { Router } from './http/router.js';
import type { ProxyTarget } from './http/stream-forward.js';
import { WorkerAgent } from './http/worker-agent.js';
import { type WorkerOptions, WorkerProcess } from './worker-process.js';

/** A worker that has loaded the app, and what the host knows of the app through it. */
export interface LoadedApp {
  readonly worker: WorkerProcess;
  readonly functions: readonly FunctionDescriptor[];
  readonly router: Router<FunctionDescriptor>;
  /** Undefined: the app has not switched HTTP streaming on, and all goes as typed data. */
  readonly proxy: ProxyTarget | undefined;
  /** Name and version of the library. */
  readonly model: string;
}

/** @throws HostStartError */
export async function loadApp(
  options: Omit<WorkerOptions, 'onLog'>,
  describe: DescriptorOptions,
): Promise<LoadedApp> {
  let functions: readonly FunctionDescriptor[] = [];
  const workerOptions: WorkerOptions = {
    ...options,
    onLog({ level, category, message, functionName, invocationId }) {
      const loggers = functions.find(({ name }) => name === functionName)?.loggers;
      // What the worker and the library say for themselves is for those who look into them.
      if (category !== 'user' && level !== 'warning' && level !== 'error') options.log.debug(message);
      else if (loggers) loggers.of(invocationId ?? '').log(level, message);
      else options.log.line(message);
    },
  };
  const worker = new WorkerProcess(workerOptions);
  const started = await worker.started(workerOptions);
  try {
    functions = describeFunctions(started.functions, describe);
  } catch (error) {
    worker.kill();
    await worker.exited;
    throw error;
  }
  const { proxyPort } = started;
  return {
    worker,
    functions,
    router: new Router(
      functions.flatMap((target) =>
        target.http && !target.disabled
          ? [{ template: target.http.template, methods: new Set(target.http.methods), target }]
          : [],
      ),
    ),
    proxy:
      proxyPort === undefined
        ? undefined
        : { port: proxyPort, token: worker.token, agent: new WorkerAgent() },
    model: started.model,
  };
}
