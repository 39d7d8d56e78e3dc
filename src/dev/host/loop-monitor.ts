import { url as inspectorUrl } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { isMainThread, parentPort, SHARE_ENV, Worker, workerData } from 'node:worker_threads';

/** What held the event loop for so long is worth a stack. */
const stallMs = 200;
// Both threads wake so often, which is all that an idle loop costs: 0.9 % of a core was measured.
const heartbeatMs = 100;
const delayResolutionMs = 50;
const windowMs = 60_000;

export interface Stall {
  /** From the last sign of life to the next, less the time between two such signs. */
  readonly ms: number;
  /** When it began, ISO 8601 UTC. */
  readonly at: string;
  /** Innermost frame first, one a line (`at name (place:line:column)`); null when it was over before it could be taken. */
  readonly stack: string | null;
}

export interface LoopSnapshot {
  /** How late timers come, of the last minute at most. */
  readonly delayMs: { readonly mean: number; readonly p99: number; readonly max: number };
  /** 0 to 1: the share of time in which the loop did not wait, of the last minute at most. */
  readonly utilization: number;
  /** What held the loop longest in the last minute, if anything did for over 200 ms. */
  readonly longest: Stall | null;
}

export interface LoopMonitor {
  snapshot(): LoopSnapshot;
  stop(): Promise<void>;
}

interface MonitorData {
  /** One Float64: the last sign of life of the main thread, in ms since the epoch. */
  readonly heartbeat: SharedArrayBuffer;
}

/**
 * Watches the event loop of the main thread, on which it has to be called. A stuck thread can't tell where it stands, so a second
 * thread looks for its signs of life, and asks the inspector for the stack only when they stay away.
 */
export function startLoopMonitor(): LoopMonitor {
  const heartbeat = new SharedArrayBuffer(8);
  const beat = new Float64Array(heartbeat);
  const live = () => {
    beat[0] = epochMs();
  };
  live();
  const timer = setInterval(live, heartbeatMs).unref();
  const delay = monitorEventLoopDelay({ resolution: delayResolutionMs });
  delay.enable();
  let baseline = performance.eventLoopUtilization();
  const renewal = setInterval(() => {
    delay.reset();
    baseline = performance.eventLoopUtilization();
  }, windowMs).unref();

  let stalls: Stall[] = [];
  const recent = () => stalls.filter(({ at }) => Date.now() - Date.parse(at) < windowMs);
  // Source files run in tests only; what they start must be compiled.
  const file = import.meta.url.endsWith('.ts')
    ? new URL('../../../.build/dev/host/loop-monitor.js', import.meta.url)
    : new URL(import.meta.url);
  const watcher = new Worker(file, {
    name: 'event loop monitor',
    workerData: { heartbeat } satisfies MonitorData,
    execArgv: [],
    env: SHARE_ENV,
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2 },
  });
  watcher.on('message', (stall: Stall) => {
    stalls = [...recent(), stall];
  });
  // Without its watcher the process goes on; only the stacks are missing.
  watcher.on('error', () => {});
  watcher.unref();

  return {
    snapshot() {
      const late = (ns: number) => (Number.isFinite(ns) ? Math.max(0, ns / 1e6 - delayResolutionMs) : 0);
      const [longest = null] = recent().sort((a, b) => b.ms - a.ms);
      return {
        delayMs: { mean: late(delay.mean), p99: late(delay.percentile(99)), max: late(delay.max) },
        utilization: performance.eventLoopUtilization(baseline).utilization,
        longest,
      };
    },
    async stop() {
      clearInterval(timer);
      clearInterval(renewal);
      delay.disable();
      await watcher.terminate();
    },
  };
}

function epochMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Runs in the second thread. */
async function watch(beat: Float64Array): Promise<void> {
  // An answer of the inspector that is awaited does not keep a thread alive.
  setInterval(() => {}, windowMs);
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, heartbeatMs));
    const began = beat[0] as number;
    if (epochMs() - began < stallMs) continue;
    const stack = await stackOfMainThread(() => beat[0] === began).catch(() => null);
    while (beat[0] === began) await new Promise((resolve) => setTimeout(resolve, heartbeatMs / 10));
    const ms = (beat[0] as number) - began - heartbeatMs;
    if (ms > stallMs)
      parentPort?.postMessage({ ms, at: new Date(began).toISOString(), stack } satisfies Stall);
  }
}

/** @param still whether it still is the same stall: the main thread is paused when this is asked for the last time */
async function stackOfMainThread(still: () => boolean): Promise<string | null> {
  // Somebody debugs the process: a pause would stop in their face.
  if (inspectorUrl() !== undefined) return null;
  const session = new Session();
  session.connectToMainThread();
  try {
    // V8 leaves the url of a frame empty: only the events that follow on enable tell a script's.
    const scripts = new Map<string, string>();
    session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params.url));
    const paused = new Promise<readonly Frame[]>((resolve) => {
      session.once('Debugger.paused', ({ params }) => resolve(params.callFrames));
    });
    // Both at once: a call outside of JavaScript lets the inspector in only when it is over, and by the answer to the first
    // the thread would be somewhere else.
    await Promise.all([
      session.post('Debugger.enable', { maxScriptsCacheSize: 0 }),
      session.post('Debugger.pause'),
    ]);
    const frames = await paused;
    const stack = still() ? frames.map((frame) => frameText(frame, scripts)).join('\n') : null;
    await session.post('Debugger.resume');
    await session.post('Debugger.disable');
    return stack;
  } finally {
    session.disconnect();
  }
}

interface Frame {
  readonly functionName: string;
  readonly location: {
    readonly scriptId: string;
    readonly lineNumber: number;
    readonly columnNumber?: number | undefined;
  };
}

function frameText({ functionName, location }: Frame, scripts: ReadonlyMap<string, string>): string {
  const url = scripts.get(location.scriptId) || '<anonymous>';
  const place = `${url}:${location.lineNumber + 1}:${(location.columnNumber ?? 0) + 1}`;
  return `at ${functionName || '<anonymous>'} (${place})`;
}

const data = workerData as Partial<MonitorData> | null;
if (!isMainThread && data?.heartbeat) void watch(new Float64Array(data.heartbeat));
