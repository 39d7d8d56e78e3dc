import {
  closePool,
  type DeadlineOptions,
  defineCommand,
  type ParameterRecord,
  parseConnectionString,
  type RowValue,
} from '../../../sql/index.js';
import type { SqlParameter } from './parameters.js';
import type { RawRecordset } from './recordset.js';
import { SqlInputError } from './sql-input-error.js';

export interface SqlQuery {
  readonly commandText: string;
  readonly isProcedure: boolean;
  readonly parameters: readonly SqlParameter[];
}

/** A string parameter of SqlClient is nvarchar(4000) up to this length, else nvarchar(max). */
const longestString = 4_000;
const setting = 'Connection';

/** The connections for one connection string, at most as many as SqlClient would open. */
export class SqlConnections {
  readonly #connectionString: string;
  readonly #deadlines: DeadlineOptions;
  readonly #running = new Set<(reason?: unknown) => Promise<void>>();

  /** @throws SqlStreamError `EConnectionString` */
  constructor(connectionString: string) {
    const { connectTimeoutMs } = parseConnectionString(connectionString);
    this.#connectionString = connectionString;
    // SqlClient waits as long for a free connection as for a new one, and for the first row as `Command Timeout` says; then it reads to the end.
    this.#deadlines = { acquireMs: connectTimeoutMs, totalMs: 0, resumeMs: 0 };
  }

  /** Reads the first recordset whole; undefined when the command gives none. Rejects with a SqlInputError. */
  async read(query: SqlQuery): Promise<RawRecordset | undefined> {
    let cancel: ((reason?: unknown) => Promise<void>) | undefined;
    try {
      return await this.#read(query, (cancelIt) => {
        cancel = cancelIt;
        this.#running.add(cancelIt);
      });
    } catch (error) {
      throw new SqlInputError(error);
    } finally {
      if (cancel !== undefined) this.#running.delete(cancel);
    }
  }

  async #read(
    { commandText, isProcedure, parameters }: SqlQuery,
    onCancellable: (cancel: (reason?: unknown) => Promise<void>) => void,
  ): Promise<RawRecordset | undefined> {
    const command = defineCommand(
      {
        commandText,
        commandType: isProcedure ? 'StoredProcedure' : 'Text',
        connectionStringSetting: setting,
        deadlines: this.#deadlines,
        // The extension tries nothing twice.
        retry: { retries: 0 },
        // JSON.parse in the worker makes a double of each decimal anyway.
        formats: { rowDecimal: 'number' },
      },
      { [setting]: this.#connectionString },
    );
    const source = await command.open(command.values(recordOf(parameters)), { onCancellable });
    const names = source.columns.map(({ name }) => name);
    const rows: RowValue[][] = [];
    for await (const row of source.rows()) rows.push(names.map((name) => row[name] as RowValue));
    if (names.length === 0) return undefined;
    return { names, types: source.columns.map(({ type }) => type), rows };
  }

  /** Cancels what runs. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((cancel) => cancel()));
    await closePool(this.#connectionString);
  }
}

/** All values of a binding are strings. */
function recordOf(parameters: readonly SqlParameter[]): ParameterRecord {
  return Object.fromEntries(
    parameters.map(({ name, value }) => {
      const isLong = value !== null && value.length > longestString;
      return [name, { type: isLong ? 'nvarchar(max)' : `nvarchar(${longestString})`, value }];
    }),
  );
}
