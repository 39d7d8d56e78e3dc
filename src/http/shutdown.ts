import { app } from '@azure/functions';
import { whenIdle } from './in-flight.js';

/**
 * What a stream gets to end in when the process is told to. The Functions host gives its worker 5 s (its constant
 * WorkerTerminateGracePeriodInSeconds), and closing needs some of them.
 */
const graceMs = 4_000;

/** After its query is cancelled, a body only has to be broken off. */
const breakMs = 500;

let installed = false;

/** Whether this process is the worker of a Functions host; a build or a unit test that loads the app is not. */
export function isInHost(environment = process.env): boolean {
  return Boolean(environment['FUNCTIONS_WORKER_RUNTIME'] || environment['AZURE_FUNCTIONS_ENVIRONMENT']);
}

/**
 * Lets bodies that are under way end within `grace` ms, has what still runs cancelled, and closes the pools.
 *
 * @param closePools refuses new requests, and cancels running ones after so many ms
 */
export async function shutDown(closePools: (graceMs: number) => Promise<void>, grace: number): Promise<void> {
  await Promise.all([closePools(grace), whenIdle(grace + breakMs)]);
}

/** Once a process: when the host ends its worker, and on SIGTERM, streams end before the process does. */
export function shutDownWithProcess(closePools: (graceMs: number) => Promise<void>): void {
  if (installed || !isInHost()) return;
  installed = true;
  let ending: Promise<void> | undefined;
  const end = () => {
    ending ??= shutDown(closePools, graceMs);
    return ending;
  };
  app.hook.appTerminate(end);
  const onSigterm = async () => {
    await end();
    process.off('SIGTERM', onSigterm);
    // A listener takes away the signal's own effect. Another's listener may need the process longer.
    if (process.listenerCount('SIGTERM') === 0) process.kill(process.pid, 'SIGTERM');
  };
  process.on('SIGTERM', onSigterm);
}
