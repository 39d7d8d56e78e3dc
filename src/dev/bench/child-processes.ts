import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** How long a child may take to start on a busy machine, and to end when it is told to. */
const readyMs = 60_000;
const stopMs = 6_000;
/** The end of what a child wrote is kept for the message when it fails. */
const keptOutput = 4_000;

/** A child process ended, or did not start; the message has the end of its output. */
export class ChildProcessError extends Error {
  readonly code = 'ECHILD';
  override readonly name = 'ChildProcessError';
}

/** A Node program that was started over an IPC channel: it says when it is ready, and ends when the channel does. */
export class Child {
  readonly exited: Promise<void>;
  readonly name: string;
  readonly #process: ChildProcess;
  #stderr = '';
  #stopping = false;

  constructor(name: string, file: string, args: readonly string[], env: Record<string, string>) {
    this.name = name;
    this.#process = fork(file, args, {
      env: { ...process.env, ...env },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-keptOutput);
    });
    this.#process.on('error', () => {});
    this.exited = once(this.#process, 'close').then(
      () => {},
      () => {},
    );
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Sends nothing, and gives the next message. @throws ChildProcessError when the child ends, or is silent too long. */
  async message<T>(): Promise<T> {
    const over = new AbortController();
    const ended = this.exited.then(() => {
      throw new ChildProcessError(`${this.name} has ended.\n${this.#stderr}`.trimEnd());
    });
    const timer = setTimeout(() => over.abort(), readyMs);
    const said = once(this.#process, 'message', { signal: over.signal }).catch(() => {
      throw new ChildProcessError(`${this.name} said nothing for ${readyMs / 1000} s.\n${this.#stderr}`);
    });
    try {
      const [message] = await Promise.race([said, ended]);
      return message as T;
    } finally {
      clearTimeout(timer);
      said.catch(() => {});
      over.abort();
    }
  }

  /** One question at a time. @throws ChildProcessError */
  ask<T>(question: string): Promise<T> {
    const answer = this.message<T>();
    if (this.#process.connected) this.#process.send(question, () => {});
    return answer;
  }

  /** @returns when the process is gone. */
  async stop(): Promise<void> {
    if (!this.#stopping) {
      this.#stopping = true;
      if (this.#process.connected) this.#process.send('stop', () => {});
    }
    const timer = setTimeout(() => this.kill(), stopMs);
    await this.exited;
    clearTimeout(timer);
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }
}

/** All children of a program, so that none outlives it. */
export class ChildProcesses {
  readonly #children = new Set<Child>();
  #killed = false;

  /** @throws ChildProcessError once `kill` was called: a signal may come between two starts. */
  start(name: string, file: string, args: readonly string[], env: Record<string, string>): Child {
    if (this.#killed) throw new ChildProcessError(`${name} is not started: the program stops.`);
    const child = new Child(name, file, args, env);
    this.#children.add(child);
    child.exited.then(() => this.#children.delete(child));
    return child;
  }

  /** Ends all at once, and lets none start any more. */
  kill(): void {
    this.#killed = true;
    for (const child of this.#children) child.kill();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#children].map((child) => child.stop()));
  }
}
