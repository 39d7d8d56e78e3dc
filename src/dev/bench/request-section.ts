import type { BenchOptions } from './bench-options.js';
import { requestTable, requestTitle, targetList } from './report.js';
import { type RequestPath, type RequestRun, requestFiguresOf, requestPaths } from './requests.js';
import { numberText } from './table.js';
import { requestTargets } from './targets.js';

/**
 * Measures all endpoints with each number of users: with few of them, the procedure's second is what keeps the
 * transactions down, and only more of them show what a driver can do.
 *
 * @param measure one run of one endpoint
 */
export async function requestSection(
  { runs: rounds, users: counts, keepAlive }: Pick<BenchOptions, 'runs' | 'users' | 'keepAlive'>,
  measure: (users: number, path: RequestPath) => Promise<RequestRun>,
): Promise<string> {
  const results = counts.map((users) => ({
    users,
    runs: new Map(requestPaths.map((path) => [path, [] as RequestRun[]])),
  }));
  // Interleaved, as the streams are.
  for (let round = 1; round <= rounds; round++) {
    for (const { users, runs } of results) {
      for (const [path, list] of runs) {
        const run = await measure(users, path);
        list.push(run);
        console.log(
          `run ${round}/${rounds}, ${numberText(users)} users, ${path}: ${numberText(run.cpuMsPerRequest, 2)} CPU ms per request, ` +
            `${numberText(run.transactionsPerSecond)} transactions/s, ${run.failures} failures`,
        );
      }
    }
  }
  const figures = results.map(({ users, runs }) =>
    [...runs].map(([path, list]) => requestFiguresOf(users, path, list)),
  );
  return [
    `#### ${requestTitle(counts, keepAlive)}`,
    requestTable(figures.flat()),
    targetList(figures.flatMap((ofCount) => requestTargets(ofCount))),
  ].join('\n\n');
}
