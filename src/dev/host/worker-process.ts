import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { batched } from './batch.js';
import type { LogWriter } from './log/log-writer.js';
import type { LoopSnapshot } from './loop-monitor.js';
import { type HostMessage, hostVersion, type WorkerMessage } from './protocol.js';
import type { RpcInvocationRequest } from './rpc.js';
import { HostStartError } from './start-error.js';

export type InvocationResult = Extract<WorkerMessage, { type: 'result' }>;
export type WorkerLog = Extract<WorkerMessage, { type: 'log' }>;
export type WorkerStarted = Extract<WorkerMessage, { type: 'started' }>;

/** Undefined: the worker died before it had a result. */
export type ResultCallback = (result: InvocationResult | undefined) => void;

export interface WorkerOptions {
  readonly appDir: string;
  readonly entryFiles: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Flags for Node.js, such as `--inspect`. */
  readonly execArgv: readonly string[];
  readonly log: LogWriter;
  readonly onLog: (log: WorkerLog) => void;
  readonly signal: AbortSignal;
}

/** As the real host allows a worker process; a top-level await that never settles must not hang the start. */
const startMs = 60_000;
const stillLoadingMs = 3_000;

/** Source files run in tests only; what they start must be compiled. */
const workerFile = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../../../.build/dev/host/worker/main.js' : './worker/main.js',
    import.meta.url,
  ),
);

/** The process in which the app runs, and the running invocations in it. */
export class WorkerProcess {
  /** What requests to its stream proxy must carry. */
  readonly token = randomUUID();
  /** Resolves when the process is gone, however it went. */
  readonly exited: Promise<string>;
  readonly #child: ChildProcess;
  readonly #pending = new Map<string, ResultCallback>();
  readonly #outgoing = batched<HostMessage>((messages) => {
    if (this.#child.connected) this.#child.send(messages, () => {});
  });
  readonly #loopQuestions = new Set<(snapshot: LoopSnapshot | null) => void>();
  #onStart: ((message: WorkerMessage) => void) | undefined;

  constructor(options: WorkerOptions) {
    this.#child = fork(workerFile, {
      cwd: options.appDir,
      env: options.env,
      execArgv: [...options.execArgv],
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    forwardLines(this.#child.stdout, options.log);
    forwardLines(this.#child.stderr, options.log);
    this.#child.on('message', (messages) => {
      for (const message of messages as WorkerMessage[]) this.#receive(message, options.onLog);
    });
    this.exited = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      // Not 'exit': its last words on standard error come after that.
      this.#child.once('close', (code, signal) =>
        resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
      );
    });
    // Running requests are told at once, not when the pipes are closed too.
    this.#child.once('exit', () => this.#failPending());
    this.#outgoing.push({
      type: 'start',
      appDir: options.appDir,
      entryFiles: options.entryFiles,
      hostVersion,
      token: this.token,
    });
    this.#outgoing.flush();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** @throws HostStartError `EEntry`, `EWorker` */
  async started(options: WorkerOptions): Promise<WorkerStarted> {
    const timers = [
      setTimeout(() => options.log.line('Still loading the app ...'), stillLoadingMs),
      setTimeout(() => this.#onStart?.(tooLong), startMs),
    ];
    try {
      const message = await new Promise<WorkerMessage>((resolve, reject) => {
        this.#onStart = resolve;
        options.signal.addEventListener('abort', () => reject(options.signal.reason as Error), {
          once: true,
        });
        this.exited.then((how) =>
          reject(
            new HostStartError(
              'EWorker',
              `The worker process ${how} while it loaded the app. What it wrote last is above.`,
            ),
          ),
        );
      });
      if (message.type === 'started') return message;
      throw toStartError(message);
    } catch (error) {
      this.kill();
      await this.exited;
      throw error;
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  }

  invoke(request: RpcInvocationRequest, onResult: ResultCallback): void {
    if (!this.#child.connected) {
      onResult(undefined);
      return;
    }
    this.#pending.set(request.invocationId, onResult);
    this.#outgoing.push({ type: 'invoke', request });
  }

  /** Null when there is no answer within `ms`: something holds the worker's event loop, or the worker is gone. */
  eventLoop(ms: number): Promise<LoopSnapshot | null> {
    return new Promise((resolve) => {
      const settle = (snapshot: LoopSnapshot | null) => {
        clearTimeout(timer);
        this.#loopQuestions.delete(settle);
        resolve(snapshot);
      };
      const timer = setTimeout(settle, ms, null);
      this.#loopQuestions.add(settle);
      this.#outgoing.push({ type: 'eventLoop' });
    });
  }

  /** Runs the appTerminate hooks; a worker that takes longer than `graceMs` is killed. */
  async terminate(graceMs: number): Promise<void> {
    this.#outgoing.push({ type: 'terminate' });
    this.#outgoing.flush();
    const timer = setTimeout(() => this.kill(), graceMs);
    await this.exited;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #receive(message: WorkerMessage, onLog: WorkerOptions['onLog']): void {
    switch (message.type) {
      case 'result': {
        const onResult = this.#pending.get(message.id);
        this.#pending.delete(message.id);
        onResult?.(message);
        break;
      }
      case 'log':
        onLog(message);
        break;
      case 'started':
      case 'startFailed':
        this.#onStart?.(message);
        break;
      case 'eventLoop':
        for (const settle of this.#loopQuestions) settle(message.snapshot);
        break;
      case 'terminated':
        break;
    }
  }

  #failPending(): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const onResult of pending) onResult(undefined);
    for (const settle of this.#loopQuestions) settle(null);
  }
}

const tooLong: WorkerMessage = {
  type: 'startFailed',
  reason: 'model',
  message: `it was not loaded within ${startMs / 1_000} s; is there a top-level await that does not settle?`,
  file: undefined,
  stack: undefined,
};

function toStartError(message: WorkerMessage): HostStartError {
  if (message.type !== 'startFailed') return new HostStartError('EWorker', 'The worker sent nonsense.');
  const what = {
    entry: `The app can't be loaded: ${message.file} failed with`,
    hook: 'An appStart hook failed with',
    model: "The app can't be loaded:",
    proxy: "The stream proxy of @azure/functions can't be started:",
  }[message.reason];
  return new HostStartError('EEntry', `${what} ${message.stack ?? message.message}`);
}

function forwardLines(stream: Readable | null, log: LogWriter): void {
  let rest = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) log.line(line.replace(/\r$/, ''));
  });
  stream?.on('end', () => {
    if (rest !== '') log.line(rest);
  });
}
