/**
 * `npm run bench`: how fast rows get through the real `@azure/functions` to an HTTP client, by the ways that an app has,
 * and what a request costs.
 *
 * Three processes: the embedded SQL server, whose rows are encoded beforehand; the worker, which has the functions under
 * test and nothing else; and this one, which is the client. The worker is not behind the local runtime's host: it
 * takes the HTTP requests at the library's own stream proxy, as in Azure, and `functions-core.ts` gives the order to
 * invoke. So its CPU time and memory are those of library, handler and driver alone, and no path is held up
 * by a host that copies all bodies at the same speed.
 */
import { fileURLToPath } from 'node:url';
import { writeBetweenMarkers } from '../docs/markers.js';
import { type BenchOptions, benchHelp, parseBenchOptions } from './bench-options.js';
import type { ChildProcesses } from './child-processes.js';
import { machineLine, settingTitle, targetList, throughputTable } from './report.js';
import { requestSection } from './request-section.js';
import { runRequests } from './requests.js';
import { runProgram } from './run-program.js';
import { runAppScripts, type SqlProcess, startSql } from './sql-process.js';
import { mebibyte, numberText } from './table.js';
import { peakTarget, type Target, throughputTargets } from './targets.js';
import { figuresOf, type Path, type Run, runOnce, type Setting } from './throughput.js';

const readme = fileURLToPath(new URL('../../../README.md', import.meta.url));

/**
 * @param args see `--help`
 * @returns the exit code; a target that is missed is said, and is no failure: the machine may be busy
 */
export function main(args: readonly string[]): Promise<number> {
  return runProgram(async (children) => {
    const options = parseBenchOptions(args);
    if (options === undefined) {
      console.log(benchHelp);
      return 0;
    }
    const sections = [machineLine(options.rows, options.runs)];
    const sql = await startSql(children);
    if (options.parts.includes('streams')) sections.push(...(await streamSections(children, sql, options)));
    if (options.parts.includes('requests')) {
      await runAppScripts(sql);
      sections.push(
        await requestSection(options, (users, path) =>
          runRequests(children, sql, path, { ...options, users }),
        ),
      );
    }
    const text = sections.join('\n\n');
    console.log(`\n${text}`);
    if (options.write) {
      await writeBetweenMarkers(readme, 'bench', text);
      console.log('\nWritten to README.md.');
    }
    return 0;
  });
}

async function streamSections(
  children: ChildProcesses,
  sql: SqlProcess,
  { rows, runs, paths, settings }: BenchOptions,
): Promise<string[]> {
  const results = settings.map((setting) => ({ setting, runs: new Map<Path, Run[]>() }));
  // Interleaved, so that what else the machine does meets all paths alike.
  for (let round = 1; round <= runs; round++) {
    for (const result of results) {
      for (const path of paths) {
        const run = await runOnce(children, sql, path, result.setting, rows);
        result.runs.set(path, [...(result.runs.get(path) ?? []), run]);
        progress(`run ${round}/${runs}, ${settingTitle(result.setting)}, ${path}`, run);
      }
    }
  }
  const sections: string[] = [];
  for (const result of results) {
    const figures = [...result.runs].map(([path, list]) => figuresOf(path, list));
    const targets = throughputTargets(figures);
    if (paths.includes('respond')) targets.push(await longPeak(children, sql, result.setting, rows * 5));
    const title = `#### ${settingTitle(result.setting)}`;
    sections.push([title, throughputTable(figures), targetList(targets)].join('\n\n'));
  }
  return sections;
}

/** Memory must not grow with the rows. */
async function longPeak(
  children: ChildProcesses,
  sql: SqlProcess,
  setting: Setting,
  rows: number,
): Promise<Target> {
  const run = await runOnce(children, sql, 'respond', setting, rows, false);
  progress(`${settingTitle(setting)}, respond, ${numberText(rows)} rows`, run);
  return peakTarget(`respond(), peak RSS at ${numberText(rows)} rows`, run.peakRssBytes);
}

function progress(what: string, run: Run): void {
  console.log(
    `${what}: ${numberText(run.rowsPerSecond)} rows/s, ${numberText(run.cpuSecondsPerMillion, 2)} CPU s per 1M rows, ` +
      `${numberText(run.peakRssBytes / mebibyte)} MiB, ${numberText(run.bytesPerRow)} bytes a row`,
  );
}
