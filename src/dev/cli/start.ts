import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BlockingPool } from '../../threads/index.js';
import { type AppSettings, formatFunctions, type Host, readAppSettings, startHost } from '../host/index.js';
import { runScripts } from '../scripts/run-scripts.js';
import type { Command } from './command.js';
import { type EmbeddedServer, startEmbeddedServer } from './embedded.js';
import { stopSignal } from './signals.js';
import { embeddedPort, planSql, type SqlPlan, withEmbeddedPort } from './sql-plan.js';
import { parseStartOptions, type StartOptions, startHelp } from './start-options.js';

/** How long running requests get to end after the first signal, their queries with them. */
const graceMs = 5_000;

export const start: Command = {
  summary: 'starts the functions, with the embedded SQL server where the app means it',

  async run(args) {
    const options = parseStartOptions(args);
    if (options === undefined) {
      console.log(startHelp);
      return 0;
    }
    const stopping = stopSignal(() => {
      console.log(
        `Stopping; running requests get ${graceMs / 1000} s to end. A second signal ends them at once.`,
      );
    });
    const runtime = new Runtime(options, stopping);
    try {
      return await runtime.serve();
    } catch (error) {
      // What was under way when the signal came has failed for that reason, and says so nowhere.
      if (stopping.aborted) return 0;
      throw error;
    } finally {
      await runtime.stop();
    }
  },
};

/** What runs, in the order in which it is started; it is stopped in the other. */
class Runtime {
  readonly #options: StartOptions;
  readonly #stopping: AbortSignal;
  readonly #appDir: string;
  /** Where sql input bindings block, as they do in the real host. */
  readonly #threads: BlockingPool;
  #sql: EmbeddedServer | undefined;
  #host: Host | undefined;

  constructor(options: StartOptions, stopping: AbortSignal) {
    this.#options = options;
    this.#stopping = stopping;
    this.#appDir = resolve(options.app);
    this.#threads = new BlockingPool({ name: 'sql input bindings', ...options.threads });
  }

  /** @returns the exit code when it is over. */
  async serve(): Promise<number> {
    const settings = readAppSettings(this.#appDir);
    const plan = planSql(settings.values);
    const { values, sqlName } = await this.#startSql(plan, settings);
    this.#stopping.throwIfAborted();
    const { port, address, verbose, loggerCache } = this.#options;
    this.#host = await startHost({
      appDir: this.#appDir,
      address,
      port,
      settings: values,
      cors: settings.cors,
      verbose,
      loggerCache,
      sqlThreads: this.#threads,
      adminPages: { '/admin/threads': () => this.#threadsReport() },
      signal: this.#stopping,
    });
    console.log(`\n${formatFunctions(this.#host.functions)}\n`);
    console.log(`Ready on ${this.#host.url} (${sqlName})`);
    return this.#untilOver(this.#host);
  }

  async stop(): Promise<void> {
    // The queries of running requests need their server until the host has let them end.
    await this.#host?.stop({ graceMs });
    await this.#threads.close();
    await this.#sql?.stop();
  }

  /** The page /admin/threads; its shape is the lab's `ThreadsReport`. */
  async #threadsReport() {
    // Before the pool is looked at, which should be as it is at `takenAt`.
    const eventLoop = (await this.#host?.eventLoop()) ?? null;
    return { takenAt: new Date().toISOString(), pools: [this.#threads.snapshot()], eventLoop };
  }

  async #startSql(
    plan: SqlPlan,
    settings: AppSettings,
  ): Promise<{ values: Record<string, string>; sqlName: string }> {
    if (plan.kind !== 'embedded' || !this.#options.sql)
      return { values: settings.values, sqlName: nameOf(plan) };
    console.log('Starting the embedded SQL server ...');
    this.#sql = await startEmbeddedServer({
      port: this.#options.sqlPort ?? embeddedPort,
      user: plan.user,
      password: plan.password,
      databases: plan.databases,
      signal: this.#stopping,
    });
    const values = withEmbeddedPort(settings.values, this.#sql.port);
    const folder = join(this.#appDir, 'sql');
    const connectionString = values[plan.setting];
    if (existsSync(folder) && connectionString !== undefined) {
      await runScripts({ folder, connectionString, onScript: (name) => console.log(`Running sql/${name}`) });
    }
    return { values, sqlName: `SQL on 127.0.0.1:${this.#sql.port}` };
  }

  async #untilOver(host: Host): Promise<number> {
    const stopped = new Promise<number>((settle) => {
      if (this.#stopping.aborted) settle(0);
      this.#stopping.addEventListener('abort', () => settle(0), { once: true });
    });
    const hostEnded = host.ended.then((end) => {
      if (end.reason === 'stopped') return 0;
      console.error(`The functions have stopped: ${end.message}`);
      return 1;
    });
    const sqlEnded = this.#sql?.exited.then(() => {
      if (this.#stopping.aborted) return 0;
      console.error('The embedded SQL server has ended by itself; its output is above.');
      return 1;
    });
    return Promise.race([stopped, hostEnded, ...(sqlEnded ? [sqlEnded] : [])]);
  }
}

/** For the ready line, when the embedded server is not started. */
function nameOf(plan: SqlPlan): string {
  if (plan.kind === 'embedded') return `SQL on 127.0.0.1:${embeddedPort}, not started here`;
  return plan.kind === 'other' ? `SQL on ${plan.server}` : 'no SQL server in the settings';
}
