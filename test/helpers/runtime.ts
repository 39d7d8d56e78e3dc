import { fileURLToPath } from 'node:url';
import { type Finished, type Running, start, within } from './run.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const cli = fileURLToPath(new URL('../../.build/dev/cli.js', import.meta.url));

/** A cold start on a busy machine. */
const readyMs = 30_000;

export interface LocalRuntime extends Running {
  /** Of the functions, without a slash at its end. */
  readonly url: string;
  /** What the ready line says of the SQL server. */
  readonly sql: string;
  /** Undefined unless the embedded server was started. */
  readonly sqlPort: number;
  /** SIGTERM, then the end of the process, with a deadline. */
  stop(): Promise<Finished>;
}

export interface RuntimeOptions {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
}

/** `npm start` without npm and without the build: on free ports, in the checkout's root. */
export function startCli(args: readonly string[], env: Record<string, string> = {}): Running {
  return start(process.execPath, [cli, ...args], { cwd: root, env: { ...process.env, ...env } });
}

export async function startRuntime({ args = [], env = {} }: RuntimeOptions = {}): Promise<LocalRuntime> {
  const running = startCli(['start', '--port', '0', '--sql-port', '0', ...args], env);
  const line = running.line(/^Ready on (\S+) \((.*)\)$/);
  const ready = await within(readyMs, 'the ready line', line).catch((error: unknown) => {
    running.process.kill('SIGKILL');
    throw new Error(`${error}\n${running.output()}`);
  });
  const sql = ready[2] ?? '';
  return {
    ...running,
    url: ready[1] ?? '',
    sql,
    sqlPort: Number(/:(\d+)$/.exec(sql)?.[1]),
    stop: () => {
      running.process.kill('SIGTERM');
      return within(15_000, 'the end of the runtime', running.finished);
    },
  };
}
