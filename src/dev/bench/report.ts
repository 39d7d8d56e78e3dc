import { cpus } from 'node:os';
import { pingEveryMs } from './pings.js';
import type { RequestFigures } from './requests.js';
import { markdownTable, mebibyte, numberText, spreadText } from './table.js';
import { type Target, targetLine } from './targets.js';
import { type Path, type PathFigures, pingedRows, type Setting, warmUp } from './throughput.js';

const labels: Record<Path | RequestFigures['name'], string> = {
  respond: '`respond()`',
  rows: '`rows()` with `for await`',
  'mssql-query': 'mssql `query()` + JSON',
  'mssql-stream': 'mssql `toReadableStream()` + JSON',
  'mssql-batched': 'the same, many rows in a chunk',
  tedious: 'tedious `row` events + JSON, many rows in a chunk',
  'blog-ours': '`sqlStream`',
  'blog-mssql': 'mssql `query()`, by hand',
  'blog-empty': 'empty handler, waits a second',
};

const mixes = { strings: 'strings', numbers: 'numbers and dates' };

export function settingTitle({ mix, tls }: Setting): string {
  return `${mixes[mix]}, ${tls ? 'TLS' : 'plain'}`;
}

export function throughputTable(figures: readonly PathFigures[]): string {
  return markdownTable(
    [
      'path',
      'rows/s',
      'CPU s per 1M rows',
      'first byte ms',
      'peak RSS MiB',
      'event loop p99 ms',
      'ping p99 ms',
    ],
    figures.map((one) => [
      labels[one.path],
      spreadText(one.rowsPerSecond),
      spreadText(one.cpuSecondsPerMillion, 2),
      spreadText(one.firstByteMs),
      spreadText(scaled(one.peakRssBytes, mebibyte)),
      numberText(one.loopP99Ms, 1),
      numberText(one.pingP99Ms, 1),
    ]),
  );
}

function scaled<T extends { median: number; min: number; max: number }>(
  { median, min, max }: T,
  unit: number,
) {
  return { median: median / unit, min: min / unit, max: max / unit };
}

export function requestTable(figures: readonly RequestFigures[]): string {
  return markdownTable(
    ['endpoint', 'users', 'CPU ms per request', 'transactions/s', 'latency ms (median)', 'failures'],
    figures.map((one) => [
      labels[one.name],
      numberText(one.users),
      spreadText(one.cpuMsPerRequest, 2),
      spreadText(one.transactionsPerSecond),
      spreadText(one.latencyMs),
      String(one.failures),
    ]),
  );
}

export function requestTitle(users: readonly number[], keepAlive: boolean): string {
  const counts = users.map((count) => numberText(count));
  const last = counts.pop();
  const all = counts.length === 0 ? last : `${counts.join(', ')} and ${last}`;
  return `${all} users on a one-second procedure of 10 rows, HTTP connections ${keepAlive ? 'kept' : 'closed after each request'}`;
}

export function targetList(targets: readonly Target[]): string {
  return targets.map((target) => `- ${targetLine(target)}`).join('\n');
}

/** What the figures depend on. */
export function machineLine(rows: number, runs: number): string {
  const processors = cpus();
  return (
    `Node.js ${process.version}, ${processors.length} x ${processors[0]?.model.trim() ?? 'unknown processor'}, ${process.platform}. ` +
    `${numberText(rows)} rows of six columns; median (lowest-highest) of ${runs} interleaved run${runs === 1 ? '' : 's'}, each in a fresh worker process after a warm-up of at least ${warmUp.ms / 1_000} s. ` +
    'SQL server and client are processes of their own on the same machine; CPU and memory are those of the worker. ' +
    `The delays are those of ${numberText(pingedRows(rows))} rows more, beside a ping every ${pingEveryMs} ms.`
  );
}
