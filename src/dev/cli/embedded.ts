import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../cli.js', import.meta.url));

/** How long the server may take to close its sessions before it is killed. */
const stopMs = 3_000;

export interface EmbeddedServer {
  readonly port: number;
  readonly pid: number;
  /** Settles when the process ends, by `stop` or by itself. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

export interface EmbeddedServerOptions {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly databases: readonly string[];
  /** Gives up the start. */
  readonly signal: AbortSignal;
}

/** The child's message when it serves, or what kept it from it. */
export type EmbeddedServerMessage =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** The embedded server could not start; the message names the port and the remedy. */
export class EmbeddedServerError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'EmbeddedServerError';
    this.code = code;
  }
}

/** For the child: what its parent waits for. */
export function tellParent(message: EmbeddedServerMessage): void {
  process.send?.(message);
}

/**
 * Starts the embedded SQL server in a process of its own: its memory and CPU time must not enter the figures of the
 * functions that read from it, and a crash of one must not be the other's.
 *
 * @throws EmbeddedServerError
 */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const args = ['sql', '--port', String(options.port), '--user', options.user];
  for (const name of options.databases) args.push('--database', name);
  const child = fork(cli, args, {
    // Not on the command line, where every user of the machine could read it.
    env: { ...process.env, SQL_PASSWORD: options.password },
    execArgv: [],
  });
  const exited = once(child, 'exit').then(() => {});
  const giveUp = () => child.kill('SIGKILL');
  options.signal.addEventListener('abort', giveUp);
  const message = await firstMessage(child);
  options.signal.removeEventListener('abort', giveUp);
  if (message.kind === 'failed') throw new EmbeddedServerError(message.code, message.message);
  return { port: message.port, pid: child.pid as number, exited, stop: () => stop(child, exited) };
}

async function firstMessage(child: ChildProcess): Promise<EmbeddedServerMessage> {
  const ended = once(child, 'exit').then(([code]): EmbeddedServerMessage => {
    const message = `The embedded SQL server ended with code ${code} before it was ready; its output is above.`;
    return { kind: 'failed', code: 'EEMBEDDED', message };
  });
  const said = once(child, 'message').then(([message]) => message as EmbeddedServerMessage);
  return Promise.race([said, ended]);
}

async function stop(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
  if (child.connected) child.send('stop');
  await exited;
  clearTimeout(timer);
}
