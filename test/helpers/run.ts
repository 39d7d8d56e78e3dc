import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

export interface Finished {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
  /** The first line of standard output that matches; rejects when the program ends without one. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** All that it has written so far, both streams in the order of arrival. */
  output(): string;
}

/** Starts a program with its output captured. Who starts it ends it. */
export function start(command: string, args: readonly string[], options: SpawnOptions = {}): Running {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let stdout = '';
  let stderr = '';
  let both = '';
  const watchers = new Set<() => void>();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    both += text;
    for (const look of watchers) look();
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    both += text;
  });
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  const line = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const complete = stdout.slice(0, stdout.lastIndexOf('\n') + 1).split('\n');
        const match = complete.map((text) => pattern.exec(text)).find((found) => found !== null);
        if (!match) return;
        watchers.delete(look);
        resolve(match);
      };
      watchers.add(look);
      look();
      finished.then(
        ({ code }) => reject(new Error(`ended with ${code} before a line matched ${pattern}:\n${both}`)),
        reject,
      );
    });
  return { process: child, finished, line, output: () => both };
}

/** Runs a program to its end. */
export function run(command: string, args: readonly string[], options: SpawnOptions = {}): Promise<Finished> {
  return start(command, args, options).finished;
}

/** Rejects with the name of what was awaited when it takes longer, so that a hang fails as an assertion. */
export async function within<T>(ms: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
