import type { BlockingPool } from '../../../threads/index.js';
import { dataTableJson } from './data-table.js';
import type { RawRecordset } from './recordset.js';

/** One run of a sql input binding, in its two halves: rows from the server, then JSON of them. */
export interface SqlJob {
  readonly fetch: () => Promise<RawRecordset | undefined>;
  readonly functionName: string;
  readonly invocationId: string;
}

export type SqlRunner = (job: SqlJob) => Promise<string>;

/** Without threads: the event loop of the host waits for nobody. */
export const runDirectly: SqlRunner = async ({ fetch }) => dataTableJson(await fetch());

/** As in the real host: a thread stands still for the length of the query, then makes the JSON. */
export function runOnThreads(pool: BlockingPool): SqlRunner {
  return ({ fetch, functionName, invocationId }) =>
    pool.run<string>({
      start: fetch,
      module: partModule,
      exportName: 'readDataTable',
      functionName,
      invocationId,
    });
}

/** Source files run in tests only, and threads load compiled ones. */
const partModule = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../../../.build/dev/host/sql/read-data-table.js'
    : './read-data-table.js',
  import.meta.url,
);
