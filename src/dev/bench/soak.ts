/**
 * `npm run soak`: users of all kinds on the functions of a worker process, for as long as wanted, with faults at the SQL
 * server; then nothing may be wrong, hang, or be left over. The worker is the one of the benchmarks.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mssql from 'mssql';
import { AttentionRelay, attentionTimes } from './attention.js';
import type { ChildProcesses } from './child-processes.js';
import { runProgram } from './run-program.js';
import { idleViolations, memoryFigures, memoryViolations, type TimedSample } from './soak-checks.js';
import { soakFaults } from './soak-faults.js';
import { parseSoakOptions, type SoakOptions, soakHelp } from './soak-options.js';
import { soakBatches } from './soak-rows.js';
import { Tally } from './soak-tally.js';
import { requestDeadlineMs, soakRequest } from './soak-user.js';
import { connectionString, type SqlProcess, startSql } from './sql-process.js';
import { median, percentile } from './statistics.js';
import { mebibyte, numberText } from './table.js';
import { startWorker, type WorkerProcess } from './worker-process.js';

const sampleMs = 1_000;
const progressMs = 10_000;
/** For connections to come back to their pool, and sockets to close, once no client is left. */
const restMs = 20_000;
/** As many clients as users leave for the measurement of ATTENTION, and no more than these. */
const mostAttentions = 50;

/**
 * @param args see `--help`
 * @returns the exit code: 1 when anything was wrong
 */
export function main(args: readonly string[]): Promise<number> {
  return runProgram(async (children) => {
    const options = parseSoakOptions(args);
    if (options === undefined) {
      console.log(soakHelp);
      return 0;
    }
    const folder = await mkdtemp(join(tmpdir(), 'soak-'));
    try {
      const faults = join(folder, 'faults.json');
      await writeFile(faults, JSON.stringify(soakFaults(options.faultShare)));
      return await soak(children, await startSql(children, ['--faults', faults]), options);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

async function soak(children: ChildProcesses, sql: SqlProcess, options: SoakOptions): Promise<number> {
  await fill(sql);
  const relay = await AttentionRelay.start(sql.port);
  try {
    const watched = connectionString({ ...sql, port: relay.port });
    const worker = await startWorker(children, sql, {
      endpoints: 'ours',
      env: { BENCH_SQL_WATCHED: watched },
    });
    const tally = new Tally();
    const samples = await load(worker, tally, options);
    const attentions = Math.min(mostAttentions, options.users);
    const times = await attentionTimes(worker.port, relay, attentions);
    const left = await atRest(worker);
    const memory = memoryFigures(samples);
    const violations = [...tally.violations(), ...memoryViolations(memory), ...left];
    const late = times.filter((ms) => !Number.isFinite(ms)).length;
    if (late > 0) violations.push(`${late} of ${attentions} clients left without an ATTENTION within 5 s`);
    console.log(`\nRequests: ${tally.text()}`);
    console.log(
      `ATTENTION after a client left, ${attentions} times: median ${numberText(median(times), 1)} ms, p99 ${numberText(percentile(times, 99), 1)} ms`,
    );
    console.log(
      `Memory of the worker: RSS ${numberText((samples.at(-1)?.rssBytes ?? 0) / mebibyte)} MiB at the end, peak ${numberText((samples.at(-1)?.peakRssBytes ?? 0) / mebibyte)} MiB; in the second half ` +
        `${numberText(memory.growthBytes / mebibyte, 1)} MiB growth, slope ${numberText(memory.slopeBytesPerMinute / mebibyte, 2)} MiB per minute`,
    );
    for (const violation of violations) console.error(`VIOLATION: ${violation}`);
    console.log(violations.length === 0 ? 'Nothing was wrong.' : `${violations.length} violations.`);
    return violations.length === 0 ? 0 : 1;
  } finally {
    relay.stop();
  }
}

async function fill({ port, password }: SqlProcess): Promise<void> {
  const pool = await new mssql.ConnectionPool({
    server: '127.0.0.1',
    port,
    user: 'sa',
    password,
    database: 'Blogging',
    options: { encrypt: false },
  }).connect();
  try {
    for (const batch of soakBatches()) await pool.request().batch(batch);
  } finally {
    await pool.close();
  }
}

/** Until the time is over and each user has ended its last request. */
async function load(worker: WorkerProcess, tally: Tally, options: SoakOptions): Promise<TimedSample[]> {
  const { minutes, users, rows } = options;
  const began = performance.now();
  const endMs = minutes * 60_000;
  const elapsed = () => performance.now() - began;
  const samples: TimedSample[] = [];
  let gone = false;
  worker.child.exited.then(() => {
    gone = true;
  });
  const user = async (index: number) => {
    await sleep((1_000 * index) / users);
    while (!gone && elapsed() < endMs) tally.add(await soakRequest(worker.port, rows));
  };
  const all = Promise.all(Array.from({ length: users }, (_, index) => user(index)));
  let nextProgress = progressMs;
  while (elapsed() < endMs) {
    samples.push({ ...(await worker.sample()), atMs: elapsed() });
    if (elapsed() >= nextProgress) {
      nextProgress += progressMs;
      const rss = numberText((samples.at(-1)?.rssBytes ?? 0) / mebibyte);
      console.log(`${numberText(elapsed() / 1_000)} s: ${tally.text()}; RSS ${rss} MiB`);
    }
    await sleep(Math.min(sampleMs, Math.max(0, endMs - elapsed())));
  }
  await Promise.race([all, sleep(requestDeadlineMs * 2, undefined, { ref: false })]);
  return samples;
}

/** @returns what is still left over when there was time to put it away. */
async function atRest(worker: WorkerProcess): Promise<string[]> {
  const deadline = performance.now() + restMs;
  for (;;) {
    const left = idleViolations(await worker.sample());
    if (left.length === 0 || performance.now() > deadline) return left;
    await sleep(200);
  }
}
