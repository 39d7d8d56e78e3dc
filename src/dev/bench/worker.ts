/** The process under test: the functions of `endpoints/` on the real library, and nothing beside them. */
import { readFileSync } from 'node:fs';
import { poolStats } from '../../index.js';
import { invocations, provideFunctionsCore, serveProxy } from './functions-core.js';
import type { Sample } from './worker-process.js';

/** How often the timer is due whose lateness is the event loop's delay. */
const tickMs = 10;

let loopDelaysMs: number[] = [];
let due = performance.now() + tickMs;

function tick(): void {
  const now = performance.now();
  loopDelaysMs.push(Math.max(0, now - due));
  due = now + tickMs;
  setTimeout(tick, tickMs);
}

/** The kernel's high-water mark of this program; `maxRSS` may be that of the process that started it. */
function peakRssBytes(): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    if (kilobytes) return Number(kilobytes) * 1_024;
  } catch {
    // Only Linux has it.
  }
  return process.resourceUsage().maxRSS * 1_024;
}

/** Event-loop delays are those since the last sample. */
function sample(): Sample {
  const { user, system } = process.cpuUsage();
  const delays = loopDelaysMs;
  loopDelaysMs = [];
  return {
    cpuMs: (user + system) / 1_000,
    rssBytes: process.memoryUsage.rss(),
    peakRssBytes: peakRssBytes(),
    loopDelaysMs: delays,
    sockets: process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length,
    pools: poolStats(),
    invocations: { ...invocations },
  };
}

// When to stop is the parent's word: a terminal's Ctrl-C reaches the whole group.
process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', (message) => {
  if (message === 'stop') process.exit(0);
  if (message === 'sample') process.send?.(sample());
});

provideFunctionsCore();
const { app } = await import('@azure/functions');
app.setup({ enableHttpStream: true });
await import('./endpoints/empty.js');
// One only: the drivers of the others would be in its memory.
await import(`./endpoints/${process.argv[2]}.js`);
const port = await serveProxy();
setTimeout(tick, tickMs);
process.send?.({ port });
