import sql from 'mssql';
import { parseConnectionString, toTediousConfig } from '../../../sql/index.js';
import type { SqlParameter } from './parameters.js';
import type { RawRecordset, RawType, RawValue } from './recordset.js';
import { SqlInputError } from './sql-input-error.js';

/** The one file of the host that knows the driver. */

export interface SqlQuery {
  readonly commandText: string;
  readonly isProcedure: boolean;
  readonly parameters: readonly SqlParameter[];
}

/** SqlCommand.CommandTimeout, unless the connection string has `Command Timeout`. */
const commandTimeoutMs = 30_000;
/** A string parameter of SqlClient is nvarchar(4000) up to this length, else nvarchar(max). */
const longestString = 4_000;

/** The connections for one connection string, at most as many as SqlClient would open. */
export class SqlConnections {
  readonly #config: sql.config;
  #pool: Promise<sql.ConnectionPool> | undefined;

  /** @throws SqlStreamError `EConnectionString` */
  constructor(connectionString: string) {
    const options = parseConnectionString(connectionString);
    const tedious = toTediousConfig(options);
    this.#config = {
      server: options.server,
      authentication: tedious.authentication,
      options: {
        ...tedious.options,
        requestTimeout: options.commandTimeoutMs ?? commandTimeoutMs,
      },
      pool: {
        max: options.maxPoolSize,
        min: options.minPoolSize,
        acquireTimeoutMillis: options.connectTimeoutMs || commandTimeoutMs,
      },
      arrayRowMode: true,
    } as unknown as sql.config;
  }

  /** Reads the first recordset whole; undefined when the command gives none. Rejects with a SqlInputError. */
  async read(query: SqlQuery): Promise<RawRecordset | undefined> {
    try {
      return await this.#read(query);
    } catch (error) {
      throw new SqlInputError(error);
    }
  }

  async #read(query: SqlQuery): Promise<RawRecordset | undefined> {
    const request = (await this.#connect()).request();
    for (const { name, value } of query.parameters) {
      const type =
        value !== null && value.length > longestString ? sql.NVarChar(sql.MAX) : sql.NVarChar(longestString);
      request.input(name, type, value);
    }
    const result = await run(request, query);
    const [recordset] = result.recordsets as RecordsetOfArrays[];
    return recordset && toRaw(recordset);
  }

  async close(): Promise<void> {
    const pool = await this.#pool?.catch(() => undefined);
    await pool?.close();
  }

  /** Requests that come first share one attempt; one that failed is not remembered. */
  #connect(): Promise<sql.ConnectionPool> {
    this.#pool ??= this.#open();
    return this.#pool;
  }

  async #open(): Promise<sql.ConnectionPool> {
    const pool = new sql.ConnectionPool(this.#config);
    // A connection that breaks while it is idle is dropped; without a listener it would end the process.
    pool.on('error', () => {});
    try {
      return await pool.connect();
    } catch (error) {
      this.#pool = undefined;
      throw error;
    }
  }
}

/** As SqlClient does: text without parameters is a batch, with them it goes through sp_executesql. */
function run(request: sql.Request, query: SqlQuery): Promise<{ recordsets: unknown }> {
  if (query.isProcedure) return request.execute(query.commandText);
  return query.parameters.length === 0 ? request.batch(query.commandText) : request.query(query.commandText);
}

type RecordsetOfArrays = (readonly DriverValue[])[] & { readonly columns: readonly DriverColumn[] };
type DriverValue = RawValue | (Date & { readonly nanosecondsDelta?: number });
interface DriverColumn {
  readonly name: string;
  readonly type: unknown;
}

const rawTypes = new Map<unknown, RawType>([
  [sql.BigInt, 'bigint'],
  [sql.Decimal, 'decimal'],
  [sql.Numeric, 'decimal'],
  [sql.Money, 'decimal'],
  [sql.SmallMoney, 'decimal'],
  [sql.Real, 'real'],
  [sql.Time, 'time'],
  [sql.UniqueIdentifier, 'uniqueidentifier'],
]);

function toRaw(recordset: RecordsetOfArrays): RawRecordset {
  const types = recordset.columns.map(({ type }) => rawTypes.get(type) ?? 'other');
  const times = types.flatMap((type, index) => (type === 'time' ? [index] : []));
  return {
    names: recordset.columns.map(({ name }) => name),
    types,
    rows: times.length === 0 ? recordset : recordset.map((row) => withTicks(row, times)),
  };
}

/** The driver keeps what is below a millisecond in a property of the Date, which does not go to other threads. */
function withTicks(row: readonly DriverValue[], times: readonly number[]): RawValue[] {
  const copy: RawValue[] = [...row];
  for (const index of times) {
    const value = row[index];
    if (!(value instanceof Date)) continue;
    const fraction = 'nanosecondsDelta' in value ? Number(value.nanosecondsDelta) : 0;
    copy[index] = value.getTime() * 10_000 + Math.round(fraction * 10_000_000);
  }
  return copy;
}
