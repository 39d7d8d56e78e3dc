import type {
  EventLoopReport,
  PoolReport,
  ThreadReport,
  ThreadsReport,
  WaitingReport,
} from './threads-report.js';

/** A report as text: for each pool its counts, its threads with equal stacks folded, and who waits, oldest first. */
export function threadsText(report: ThreadsReport): string {
  const at = Date.parse(report.takenAt);
  const parts = [`Threads at ${report.takenAt}`, ...report.pools.map((pool) => poolText(pool, at))];
  if (report.pools.length === 0) parts.push('No pool of threads runs here.');
  if (report.eventLoop === null) parts.push(loopHeld);
  if (report.eventLoop) parts.push(loopText(report.eventLoop));
  return `${parts.join('\n\n')}\n`;
}

function poolText(pool: PoolReport, at: number): string {
  const counts = new Map<string, number>();
  for (const { state } of pool.threads) counts.set(state, (counts.get(state) ?? 0) + 1);
  const states = [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
  const threads = `${pool.threads.length} threads (${states || 'none yet'}; ${pool.min} to ${pool.max})`;
  const head = `${pool.name}: ${threads}, ${pool.queue.length} requests wait, ${pool.completed} done`;
  return [
    head,
    ...foldThreads(pool.threads).map((group) => groupText(group, at)),
    ...queueText(pool.queue, at),
  ].join('\n\n');
}

/** Threads that stand at the same place, most first; within a group, longest first. */
function foldThreads(threads: readonly ThreadReport[]): ThreadReport[][] {
  const groups = new Map<string, ThreadReport[]>();
  for (const thread of threads) {
    const key = [thread.state, thread.part, thread.stack, thread.startedBy].join('\n');
    groups.set(key, [...(groups.get(key) ?? []), thread]);
  }
  const sorted = [...groups.values()].map((group) => group.sort((a, b) => a.since.localeCompare(b.since)));
  return sorted.sort((a, b) => b.length - a.length);
}

function groupText(group: readonly ThreadReport[], at: number): string {
  const [first] = group as [ThreadReport];
  const lines = group.map((thread) => `  #${thread.id}  ${duration(at, thread.since)}${whose(thread)}`);
  const head = `${group.length} ${group.length === 1 ? 'thread' : 'threads'} ${first.state}`;
  if (first.part !== null && first.stack === null) lines.push(`    in ${shortPlace(first.part)}`);
  if (first.stack !== null) lines.push(...frames(first.stack));
  if (first.startedBy !== null) lines.push('    --- handed to the pool by', ...frames(first.startedBy));
  return [head, ...lines].join('\n');
}

function queueText(queue: readonly WaitingReport[], at: number): string[] {
  if (queue.length === 0) return [];
  const lines = queue.map((one) => `  ${duration(at, one.since)}${whose(one)}`);
  return [[`${queue.length} requests wait for a thread, oldest first`, ...lines].join('\n')];
}

const loopHeld = `Event loop of the worker: no answer within a second, so something holds it just now.
  Look again when it is free: it is then told what held it, and for how long.`;

function loopText({ delayMs, utilization, longest }: EventLoopReport): string {
  const delay = `delay mean ${delayMs.mean.toFixed(1)} ms, p99 ${delayMs.p99.toFixed(1)} ms, max ${delayMs.max.toFixed(1)} ms`;
  const head = `Event loop of the worker: ${(utilization * 100).toFixed(0)} % in use, ${delay}`;
  if (!longest) return head;
  return [
    head,
    `  held longest in the last minute: ${Math.round(longest.ms)} ms at ${longest.at}`,
    ...frames(longest.stack ?? ''),
  ].join('\n');
}

function whose({ functionName, invocationId }: WaitingReport): string {
  return [functionName, invocationId].map((text) => (text === null ? '' : `  ${text}`)).join('');
}

function duration(at: number, since: string): string {
  return `${(Math.max(0, at - Date.parse(since)) / 1_000).toFixed(1)} s`.padStart(8);
}

function frames(stack: string): string[] {
  return stack.split('\n').flatMap((line) => (line === '' ? [] : [`    ${shortPlace(line)}`]));
}

/** Places relative to the directory where the view runs are short, and a terminal makes links of them. */
function shortPlace(text: string): string {
  const here = process.cwd().replaceAll('\\', '/');
  return text.replaceAll(`file://${here.startsWith('/') ? '' : '/'}${here}/`, '').replaceAll(`${here}/`, '');
}
