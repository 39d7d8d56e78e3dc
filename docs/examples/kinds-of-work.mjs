// Eight pieces of work at once, of one kind: how long they take together, and what becomes of everything else in the process.
//
//     node docs/examples/kinds-of-work.mjs io-bound | cpu-bound | fake-async | blocked-threads
//
// blocked-threads needs the build: npm run build.
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const pieces = 8;
const pieceMs = 200;

/** @type {Record<string, () => Promise<(() => Promise<unknown>)>>} */
const kinds = {
  // Waits for something outside: a database, a service, a timer. Costs nothing meanwhile.
  'io-bound': async () => () => sleep(pieceMs),

  // Computes. Nothing else runs meanwhile, however it is awaited.
  'cpu-bound': async () => async () => {
    let sum = 0;
    for (const end = performance.now() + pieceMs; performance.now() < end; ) sum += Math.sqrt(sum + 1);
    return sum;
  },

  // Waits as io-bound does, but in a call that blocks. `async` before it changes nothing.
  'fake-async': async () => async () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pieceMs);
  },

  // The same wait, synchronous too, but on one of four threads that do nothing else.
  'blocked-threads': async () => {
    const { BlockingPool } = await import('../../dist/threads/index.js');
    const pool = new BlockingPool({ min: 4, max: 4 });
    const part = { module: 'data:text/javascript,export const wait = (read) => read();', exportName: 'wait' };
    const work = () => pool.run({ ...part, start: () => sleep(pieceMs) });
    await Promise.all([work(), work(), work(), work()]);
    return work;
  },
};

const name = process.argv[2] ?? '';
const prepare = kinds[name];
if (prepare === undefined) {
  console.error(`Name a kind of work: ${Object.keys(kinds).join(', ')}.`);
  process.exit(2);
}
const work = await prepare();

let longestPingMs = 0;
let last = performance.now();
const ping = setInterval(() => {
  const now = performance.now();
  longestPingMs = Math.max(longestPingMs, now - last - 10);
  last = now;
}, 10);

const before = performance.eventLoopUtilization();
const began = performance.now();
await Promise.all(Array.from({ length: pieces }, work));
const elapsedMs = performance.now() - began;
const { utilization } = performance.eventLoopUtilization(before);
await sleep(20);
clearInterval(ping);

console.log(
  `${name}: ${pieces} pieces of ${pieceMs} ms took ${elapsedMs.toFixed(0)} ms; the event loop was ${(utilization * 100).toFixed(0)} % in use, ` +
    `and a timer due every 10 ms came up to ${longestPingMs.toFixed(0)} ms late`,
);
