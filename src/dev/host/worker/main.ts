import { type LoopMonitor, startLoopMonitor } from '../loop-monitor.js';
import type { HostMessage, WorkerMessage } from '../protocol.js';
import { post, postLast } from './channel.js';
import { app, provideCoreModule, type Registration } from './core-api.js';
import { toFailure } from './failure.js';
import { appHookContext, executeHooks } from './hooks.js';
import { invoke } from './invoke.js';
import { LoadError, loadApp, stackOf } from './load-app.js';
import { type StreamProxy, startStreamProxy } from './stream-proxy.js';
import { workerLog } from './worker-log.js';

/** The worker: loads the app and runs its functions, at the host's word. Started by `../worker-process.ts`. */

const functions = new Map<string, Registration>();
let proxy: StreamProxy | undefined;
let loopMonitor: LoopMonitor | undefined;

async function start(message: Extract<HostMessage, { type: 'start' }>): Promise<void> {
  provideCoreModule(message.hostVersion);
  await loadApp(message.entryFiles, message.appDir);
  const { model } = app;
  if (model) {
    proxy = await startStreamProxy(model, message.token).catch((error: unknown) => {
      throw new LoadError('proxy', error);
    });
  }
  app.startupFinished = true;
  for (const registration of app.registrations) functions.set(registration.metadata.name, registration);
  // Only now: loading holds the event loop too, and would hide for a minute what the functions do to it.
  loopMonitor = startLoopMonitor();
  post({
    type: 'started',
    functions: app.registrations.map(({ metadata, file }) => ({
      name: metadata.name,
      // Bindings hold what the app put there; only data can be sent.
      bindings: JSON.parse(JSON.stringify(metadata.bindings)),
      file,
    })),
    proxyPort: proxy?.port,
    model: model ? `${model.name} ${model.version}` : '',
  });
}

function toStartFailed(error: unknown): WorkerMessage {
  const failure = error instanceof LoadError ? error : new LoadError('model', error);
  return {
    type: 'startFailed',
    reason: failure.reason,
    message: failure.message,
    file: failure.file,
    stack: stackOf(failure),
  };
}

async function terminate(): Promise<void> {
  try {
    await executeHooks('appTerminate', appHookContext());
  } catch (error) {
    workerLog('error', 'system', `An appTerminate hook failed: ${String(error)}`);
  }
  await postLast({ type: 'terminated' });
  process.exit(0);
}

process.on('message', (messages: HostMessage[]) => {
  for (const message of messages) {
    switch (message.type) {
      case 'invoke': {
        const registration = functions.get(message.request.functionId);
        if (registration) invoke(registration, message.request, proxy);
        else {
          const failure = toFailure(`The worker knows no function ${message.request.functionId}.`);
          post({ type: 'result', id: message.request.invocationId, failure, http: undefined });
        }
        break;
      }
      case 'start':
        start(message).catch((error) => post(toStartFailed(error)));
        break;
      case 'eventLoop':
        post({ type: 'eventLoop', snapshot: loopMonitor?.snapshot() ?? null });
        break;
      case 'terminate':
        terminate();
        break;
    }
  }
});

// A terminal sends its signals to the whole group, but when to stop is the host's word, so that requests can end. The
// channel closes when the host dies, however it dies.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.once('disconnect', () => process.exit(0));
