import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sql from 'mssql';
import { parseConnectionString, toTediousConfig } from '../../sql/index.js';
import { type Batch, splitBatches } from './batches.js';
import { ScriptError } from './script-error.js';

export interface RunScriptsOptions {
  /** The scripts `*.sql` of this folder run in name order. */
  readonly folder: string;
  readonly connectionString: string;
  /** Called before each script, with its name. */
  readonly onScript?: (name: string) => void;
}

/**
 * Runs T-SQL scripts with GO batches, on any server.
 *
 * @returns the names of the scripts that ran.
 * @throws ScriptError for the first batch that the server refuses; the batches before it have run.
 * @throws what the driver throws when the server can't be reached or refuses the login.
 */
export async function runScripts({
  folder,
  connectionString,
  onScript,
}: RunScriptsOptions): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.toLowerCase().endsWith('.sql')).sort();
  const pool = new sql.ConnectionPool(driverConfig(connectionString));
  await pool.connect();
  try {
    for (const name of names) {
      onScript?.(name);
      await runScript(pool, join(folder, name));
    }
    return names;
  } finally {
    await pool.close();
  }
}

async function runScript(pool: sql.ConnectionPool, file: string): Promise<void> {
  const batches = splitBatches(await readFile(file, 'utf8'));
  for (const [index, batch] of batches.entries()) {
    for (let run = 0; run < batch.count; run++) await runBatch(pool, file, index + 1, batch);
  }
}

async function runBatch(pool: sql.ConnectionPool, file: string, number: number, batch: Batch): Promise<void> {
  try {
    // Not query(): that wraps the text in sp_executesql, where CREATE PROCEDURE would not be alone in its batch.
    await pool.request().batch(batch.text);
  } catch (error) {
    throw new ScriptError(file, number, batch.firstLine, error);
  }
}

function driverConfig(connectionString: string): sql.config {
  const { server, options, authentication } = toTediousConfig(parseConnectionString(connectionString));
  return {
    server: server ?? '',
    ...(options?.database === undefined ? {} : { database: options.database }),
    ...(options?.port === undefined ? {} : { port: options.port }),
    authentication,
    options,
    // One connection, so that temp tables and SET options last from batch to batch, as in sqlcmd.
    pool: { max: 1, min: 1 },
    // Building a large index takes its time; the person who waits can press Ctrl-C.
    requestTimeout: 0,
  } as sql.config;
}
