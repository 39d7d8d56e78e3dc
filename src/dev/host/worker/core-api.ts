import Module from 'node:module';
import type { RpcLogCategory, RpcLogLevel } from '../rpc.js';
import type { FunctionCallback, FunctionMetadata, ProgrammingModel } from './core-model.js';
import { registerHook } from './hooks.js';
import { workerLog } from './worker-log.js';

export interface Registration {
  readonly metadata: FunctionMetadata;
  readonly callback: FunctionCallback;
  readonly file: string;
}

/** What the app told the worker while it loaded. */
export const app: {
  model: ProgrammingModel | undefined;
  /** All of them, equal names included. */
  readonly registrations: Registration[];
  currentFile: string;
  startupFinished: boolean;
} = { model: undefined, registrations: [], currentFile: '', startupFinished: false };

class Disposable {
  readonly #dispose: () => void;

  constructor(dispose: () => void) {
    this.#dispose = dispose;
  }

  static from(...disposables: { dispose: () => void }[]): Disposable {
    return new Disposable(() => {
      for (const one of disposables) one.dispose();
    });
  }

  dispose(): void {
    this.#dispose();
  }
}

function systemError(message: string): Error {
  return Object.assign(new Error(message), { isAzureFunctionsSystemError: true });
}

function registerFunction(metadata: FunctionMetadata, callback: FunctionCallback): Disposable {
  if (app.startupFinished) {
    throw systemError('A function can only be registered during app startup.');
  }
  const registration = { metadata, callback, file: app.currentFile };
  app.registrations.push(registration);
  return new Disposable(() => {
    if (app.startupFinished) throw systemError('A function can only be disposed during app startup.');
    app.registrations.splice(app.registrations.indexOf(registration), 1);
  });
}

/**
 * Gives the app's `@azure/functions` its `require('@azure/functions-core')`: a module that exists in workers only, and
 * which the library looks for each time by that name.
 */
export function provideCoreModule(hostVersion: string): void {
  const coreApi = {
    version: '3.12.0',
    hostVersion,
    registerFunction,
    registerHook: (name: string, callback: (context: Record<string, unknown>) => unknown) =>
      new Disposable(registerHook(name, callback)),
    setProgrammingModel(model: ProgrammingModel) {
      app.model = model;
    },
    getProgrammingModel: () => app.model,
    log: (level: RpcLogLevel, category: RpcLogCategory, message: string) =>
      workerLog(level, category, message),
    Disposable,
  };
  const prototype = Module.prototype as unknown as { require(id: string): unknown };
  const original = prototype.require;
  prototype.require = function require(this: unknown, id: string) {
    return id === '@azure/functions-core' ? coreApi : original.call(this, id);
  };
}
