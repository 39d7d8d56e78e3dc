import type { AddressInfo } from 'node:net';
import type { BlockingPool } from '../../threads/index.js';
import { type CorsSettings, readAppSettings } from './config/app-settings.js';
import { entryFiles } from './config/entry-files.js';
import { readHostJson } from './config/host-json.js';
import { type FunctionInfo, toFunctionInfo } from './function-info.js';
import type { AdminState } from './http/admin.js';
import { Cors } from './http/cors.js';
import { FunctionServer } from './http/function-server.js';
import { RequestLimiter } from './http/limiter.js';
import { type LoadedApp, loadApp } from './loaded-app.js';
import { cachedLoggers, loggersPerInvocation } from './log/function-loggers.js';
import { LogWriter, type WriteText } from './log/log-writer.js';
import { ConsoleProvider, LoggerFactory } from './log/logger-factory.js';
import type { LoopSnapshot } from './loop-monitor.js';
import { SqlInputs } from './sql/sql-inputs.js';
import { runDirectly, runOnThreads } from './sql/sql-runner.js';
import { HostStartError } from './start-error.js';
import { workerEnvironment } from './worker-environment.js';

export interface HostOptions {
  /** An absolute path. */
  readonly appDir: string;
  /** Default 127.0.0.1. */
  readonly address?: string;
  /** 0 picks a free one. Default 7071. */
  readonly port?: number;
  /** The worker's whole environment; see `readAppSettings`. Default: what that reads. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Default: that of local.settings.json. */
  readonly cors?: CorsSettings;
  /** Also the debug lines of worker and library, and the stacks of failed invocations. */
  readonly verbose?: boolean;
  /** Takes log lines, a few at a time. Default: standard output. */
  readonly write?: WriteText;
  /** Keeps one logger for each function, as long as the app is loaded; false makes one for each invocation. Default: true. */
  readonly loggerCache?: boolean;
  /** Runs the sql input bindings on these threads, a thread standing still for each; the caller closes it. Default: none. */
  readonly sqlThreads?: BlockingPool;
  /** Further pages below /admin/, by lower-case path; what they return, or what it resolves to, is sent as JSON to this machine. */
  readonly adminPages?: Readonly<Record<string, () => unknown>>;
  /** Gives up the start. */
  readonly signal?: AbortSignal;
}

/** Why a host that had started is at its end. */
export type HostEnd =
  | { readonly reason: 'stopped' }
  | { readonly reason: 'workerDied'; readonly message: string };

export interface Host {
  /** Without a slash at its end. */
  readonly url: string;
  readonly port: number;
  readonly functions: readonly FunctionInfo[];
  /** Changes when a worker that died was replaced. */
  readonly workerPid: number;
  /**
   * The event loop of the worker, in which the functions run. Null when the worker does not answer within a second, because
   * something holds its loop just then, and when there is none.
   */
  eventLoop(): Promise<LoopSnapshot | null>;
  /** Resolves when the host has stopped, or can't go on: then it still has to be stopped. */
  readonly ended: Promise<HostEnd>;
  /**
   * Accepts no more requests, lets running ones end for `graceMs` (default 5,000) and then breaks them off; runs the app's
   * appTerminate hooks, for 5 s at most; ends the worker. The second call does nothing but wait for the first.
   */
  stop(options?: { graceMs?: number }): Promise<void>;
}

const terminateMs = 5_000;
const eventLoopMs = 1_000;
/** A worker that ran this long before it died was no part of a series of deaths. */
const healthyMs = 60_000;

/**
 * Starts the app in a worker process and serves its HTTP functions.
 *
 * @throws HostStartError when something is wrong with the app, its settings or the port
 */
export async function startHost(options: HostOptions): Promise<Host> {
  const host = new RunningHost(options);
  await host.start();
  return host;
}

class RunningHost implements Host {
  port = 0;
  url = '';
  functions: readonly FunctionInfo[] = [];
  readonly ended: Promise<HostEnd>;
  readonly #options: HostOptions;
  readonly #log: LogWriter;
  readonly #abort = new AbortController();
  readonly #startedAt = performance.now();
  #end: (end: HostEnd) => void = () => {};
  #app: LoadedApp | Promise<LoadedApp> = new Promise(() => {});
  #server: FunctionServer | undefined;
  #sql: SqlInputs | undefined;
  #load: () => Promise<LoadedApp> = () => Promise.reject(new Error('not started'));
  #worker: LoadedApp['worker'] | undefined;
  #stopped: Promise<void> | undefined;
  #state: AdminState['state'] = 'Starting';

  constructor(options: HostOptions) {
    this.#options = options;
    this.#log = new LogWriter(
      options.write ?? ((text) => process.stdout.write(text)),
      options.verbose ?? false,
    );
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get workerPid(): number {
    return this.#worker?.pid ?? 0;
  }

  async start(): Promise<void> {
    const { appDir, signal, sqlThreads, loggerCache = true } = this.#options;
    const files = entryFiles(appDir);
    const hostJson = readHostJson(appDir);
    const local = readAppSettings(appDir);
    const settings = this.#options.settings ?? local.values;
    for (const warning of hostJson.warnings) this.#log.line(`Warning: ${warning}`);
    const factory = new LoggerFactory({
      providers: [new ConsoleProvider(this.#log)],
      filters: hostJson.logFilters,
      verbose: this.#log.verbose,
    });
    const createLoggers = loggerCache ? cachedLoggers : loggersPerInvocation;
    const sql = new SqlInputs(
      settings,
      local.file,
      this.#log,
      sqlThreads ? runOnThreads(sqlThreads) : runDirectly,
    );
    this.#sql = sql;
    const server = new FunctionServer({
      app: () => this.#app,
      admin: () => this.#adminState(),
      cors: new Cors(this.#options.cors ?? local.cors),
      limiter: new RequestLimiter(hostJson.maxConcurrentRequests, hostJson.maxOutstandingRequests),
      customHeaders: Object.entries(hostJson.customHeaders).flat(),
      functionTimeoutMs: hostJson.functionTimeoutMs,
      hasHomePage: settings['AzureWebJobsDisableHomepage']?.toLowerCase() !== 'true',
    });
    this.#server = server;
    signal?.addEventListener('abort', () => this.#abort.abort(signal.reason), { once: true });
    try {
      await this.#listen(server);
      const env = workerEnvironment(settings, appDir, this.url);
      this.#load = () =>
        loadApp(
          {
            appDir,
            entryFiles: files,
            ...env,
            log: this.#log,
            signal: this.#abort.signal,
          },
          {
            routePrefix: hostJson.routePrefix,
            settings,
            settingsFile: local.file,
            log: this.#log,
            loggers: (functionName) => createLoggers(functionName, factory),
            sqlInput: (functionName, name, binding) => sql.define(functionName, name, binding),
          },
        );
      signal?.throwIfAborted();
      this.#serve(await this.#load());
    } catch (error) {
      this.#state = 'Error';
      await this.stop({ graceMs: 0 });
      throw error;
    }
  }

  async eventLoop(): Promise<LoopSnapshot | null> {
    return (await this.#worker?.eventLoop(eventLoopMs)) ?? null;
  }

  stop({ graceMs = 5_000 }: { graceMs?: number } = {}): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  async #stop(graceMs: number): Promise<void> {
    if (this.#state === 'Running') this.#state = 'Stopping';
    if (this.#server?.server.listening) await this.#server.stop(graceMs);
    this.#abort.abort(new Error('The host stops.'));
    await this.#worker?.terminate(terminateMs);
    await this.#sql?.close();
    this.#log.flush();
    this.#end({ reason: 'stopped' });
  }

  async #listen({ server }: FunctionServer): Promise<void> {
    const { address = '127.0.0.1', port = 7071 } = this.#options;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, address, () => {
        server.off('error', reject);
        resolve();
      });
    }).catch((error: NodeJS.ErrnoException) => {
      throw new HostStartError('EPort', portMessage(error, address, port), error);
    });
    this.port = (server.address() as AddressInfo).port;
    const name = /^(?:0\.0\.0\.0|::)$/.test(address) ? 'localhost' : address;
    this.url = `http://${name.includes(':') ? `[${name}]` : name}:${this.port}`;
  }

  #serve(app: LoadedApp): void {
    const since = performance.now();
    this.#app = app;
    this.#worker = app.worker;
    this.functions = app.functions.map((one) => toFunctionInfo(one, this.url));
    this.#state = 'Running';
    this.#log.debug(`The worker (pid ${app.worker.pid}) has loaded the app with ${app.model}.`);
    app.worker.exited.then((how) => {
      app.proxy?.agent.destroy();
      if (this.#stopped === undefined) this.#replace(how, performance.now() - since);
    });
  }

  #deaths = 0;

  /** A worker that died is replaced once; one that dies again soon would only do so for ever. */
  #replace(how: string, livedMs: number): void {
    this.#deaths = livedMs > healthyMs ? 1 : this.#deaths + 1;
    if (this.#deaths > 1) {
      this.#giveUp(`The worker process ${how}, again. It is not restarted a second time.`);
      return;
    }
    this.#log.line(`The worker process (pid ${this.workerPid}) ${how}. It is restarted, once.`);
    const loading = this.#load();
    this.#app = loading;
    loading.then(
      (app) => {
        this.#serve(app);
        this.#log.line(`The worker process runs again (pid ${app.worker.pid}).`);
      },
      (error: Error) => {
        if (this.#stopped === undefined)
          this.#giveUp(`The worker process can't be restarted: ${error.message}`);
      },
    );
  }

  #giveUp(message: string): void {
    this.#state = 'Error';
    this.#log.line(message);
    const none = Promise.reject<LoadedApp>(new Error(message));
    none.catch(() => {});
    this.#app = none;
    this.#end({ reason: 'workerDied', message });
  }

  #adminState(): AdminState {
    return {
      state: this.#state,
      functions: this.functions,
      baseUrl: this.url,
      startedAt: this.#startedAt,
      workerPid: this.workerPid,
      pages: this.#options.adminPages ?? {},
    };
  }
}

function portMessage(error: NodeJS.ErrnoException, address: string, port: number): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${address} is taken by another program. Stop that, or choose another port with --port (0 picks a free one).`;
    case 'EACCES':
      return `Port ${port} may not be used by this user. Choose one over 1023 with --port (0 picks a free one).`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${address} is no address of this machine. Choose one with --address, such as 127.0.0.1.`;
    default:
      return `Port ${port} on ${address} can't be listened on: ${error.message}. Choose others with --port and --address.`;
  }
}
