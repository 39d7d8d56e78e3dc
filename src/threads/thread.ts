// Runs in a thread of the pool: takes one job at a time, and really stands still while the job's I/O is under way.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { type FromThread, type JobFailure, movable, type ThreadData, type ToThread } from './messages.js';

type Job = Extract<ToThread, { type: 'job' }>;
type Data = Extract<ToThread, { type: 'data' }>;

if (parentPort === null) throw new Error('This file runs in a thread of a BlockingPool only.');
const port = parentPort;
const wake = new Int32Array((workerData as ThreadData).wake);
// Ten frames, the default, often end before the caller's own code.
Error.stackTraceLimit = 40;

/** Data that came while the thread's event loop ran, as it does when a module is loaded for the first time. */
let early: Data | undefined;
/** The number of the job at hand; 0 for none. */
let current = 0;

function received(id: number): Data | undefined {
  if (early?.id === id) return early;
  for (;;) {
    const next = receiveMessageOnPort(port) as { message: ToThread } | undefined;
    if (next === undefined) return undefined;
    if (next.message.type === 'data' && next.message.id === id) return next.message;
  }
}

function stackHere(above: (...args: never) => unknown): string {
  const holder = { stack: '' };
  Error.captureStackTrace(holder, above);
  const frames = holder.stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line) && !line.includes('node:internal'));
  return frames.map((line) => line.trim()).join('\n');
}

/** The sentinel: tells an I/O failure, which the pool knows already, from an error of the CPU part. */
class ReadFailed extends Error {}

/**
 * Blocks the thread until the job's I/O has ended on the main thread. The stack has to be taken before the wait,
 * since a thread that stands still runs nothing that could take it.
 */
function readSyncOverAsync(job: Job): unknown {
  let data = received(job.id);
  if (data === undefined) {
    const at = performance.timeOrigin + performance.now();
    post({ type: 'blocked', id: job.id, at, stack: stackHere(stackHere) });
    for (let last = Atomics.load(wake, 0); last !== job.id; last = Atomics.load(wake, 0)) {
      Atomics.wait(wake, 0, last);
    }
    data = received(job.id);
  }
  early = data;
  if (data === undefined || data.failed) throw new ReadFailed('The read failed; the pool has the error.');
  return data.value;
}

function post(message: FromThread, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

function fail(job: Job, why: JobFailure, error: unknown): void {
  try {
    post({ type: 'failed', id: job.id, why, error });
  } catch {
    // An error may hold what can't be cloned (a function, a socket): then its text must do.
    post({ type: 'failed', id: job.id, why, error: new Error(String(error)) });
  }
}

async function loadPart(job: Job): Promise<(read: () => unknown, ...args: readonly unknown[]) => unknown> {
  const part = (await import(job.module))[job.exportName];
  if (typeof part !== 'function')
    throw new TypeError(`${job.module} exports no function '${job.exportName}'.`);
  return part;
}

async function runJob(job: Job): Promise<void> {
  let part: Awaited<ReturnType<typeof loadPart>>;
  try {
    part = await loadPart(job);
  } catch (error) {
    fail(job, 'module', error);
    return;
  }
  let value: unknown;
  try {
    value = await part(readSyncOverAsync.bind(null, job), ...job.args);
  } catch (error) {
    fail(job, error instanceof ReadFailed ? 'io' : 'threw', error);
    return;
  }
  try {
    post({ type: 'done', id: job.id, value }, movable(value));
  } catch (error) {
    fail(job, 'data', error);
  }
}

port.on('message', (message: ToThread) => {
  if (message.type === 'exit') process.exit();
  else if (message.type === 'job') {
    current = message.id;
    runJob(message).finally(() => {
      current = 0;
      early = undefined;
    });
  } else if (message.id === current) early = message;
});
post({ type: 'ready' });
