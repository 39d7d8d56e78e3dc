import { type ConnectionOptions, parseConnectionString } from './connection-string/parse.js';
import { SqlStreamError } from './errors.js';
import type { ResolvedFormats } from './rows/codec.js';
import type { CommandType, DeadlineOptions, RetryOptions, SqlCommandOptions } from './types.js';

/** All options with their defaults in. Times in ms; 0 is no limit. */
export interface ResolvedCommand {
  readonly commandText: string;
  readonly commandType: CommandType;
  readonly connectionString: string;
  readonly connection: ConnectionOptions;
  readonly pool: { readonly max: number; readonly min: number; readonly idleTimeoutMs: number };
  readonly deadlines: Required<DeadlineOptions>;
  readonly retry: Required<RetryOptions>;
  readonly formats: ResolvedFormats;
  readonly idempotent: boolean;
  readonly maxValueBytes: number;
}

/** Of `deadlines.totalMs`: before the front end of Azure gives up on a response, after 230 s (learn.microsoft.com, "Function app timeout duration"). */
export const defaultTotalMs = 230_000;

const longestMs = 2_147_483_647;

function fail(message: string, subject: string): never {
  throw new SqlStreamError('EOptions', message, { phase: 'setup', subject });
}

function count(
  name: string,
  value: number | undefined,
  byDefault: number,
  min: number,
  max = longestMs,
): number {
  if (value === undefined) return byDefault;
  if (!Number.isInteger(value) || value < min || value > max) {
    fail(`${name} is ${String(value)}: use a whole number from ${min} to ${max}.`, name);
  }
  return value;
}

function format(name: string, value: string | undefined, byDefault: 'number' | 'string') {
  if (value === undefined || value === 'number' || value === 'string') return value ?? byDefault;
  return fail(`${name} is '${String(value)}': use 'number' or 'string'.`, name);
}

function text(name: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') return fail(`${name} is missing or empty.`, name);
  return value;
}

function settingOf(name: string, environment: NodeJS.ProcessEnv): string {
  // The Functions host also takes the prefixes of App Service's connection strings.
  const names = [name, `SQLAZURECONNSTR_${name}`, `SQLCONNSTR_${name}`, `CUSTOMCONNSTR_${name}`];
  const value = names.map((candidate) => environment[candidate]).find((candidate) => candidate?.trim());
  if (value !== undefined) return value;
  throw new SqlStreamError(
    'ESetting',
    `The app setting '${name}' is missing or empty: it must hold the connection string (locally, in local.settings.json under Values).`,
    { phase: 'setup', subject: name },
  );
}

/** @throws SqlStreamError `EOptions`, `ESetting`, `EConnectionString`, each naming what is wrong */
export function resolveOptions(options: SqlCommandOptions, environment: NodeJS.ProcessEnv): ResolvedCommand {
  const commandText = text('commandText', options.commandText);
  const { commandType = 'Text', pool = {}, deadlines = {}, retry = {}, formats = {} } = options;
  if (commandType !== 'Text' && commandType !== 'StoredProcedure') {
    fail(`commandType is '${String(commandType)}': use 'Text' or 'StoredProcedure'.`, 'commandType');
  }
  const connectionString = settingOf(
    text('connectionStringSetting', options.connectionStringSetting),
    environment,
  );
  const connection = parseConnectionString(connectionString, environment);
  const max = count('pool.max', pool.max, connection.maxPoolSize, 1, 32_767);
  return {
    commandText,
    commandType,
    connectionString,
    connection,
    pool: {
      max,
      min: count('pool.min', pool.min, Math.min(max, connection.minPoolSize), 0, max),
      idleTimeoutMs: count('pool.idleTimeoutMs', pool.idleTimeoutMs, 240_000, 1),
    },
    deadlines: {
      acquireMs: count('deadlines.acquireMs', deadlines.acquireMs, 5_000, 0),
      connectMs: count('deadlines.connectMs', deadlines.connectMs, connection.connectTimeoutMs, 0),
      firstRowMs: count(
        'deadlines.firstRowMs',
        deadlines.firstRowMs,
        connection.commandTimeoutMs ?? 30_000,
        0,
      ),
      totalMs: count('deadlines.totalMs', deadlines.totalMs, defaultTotalMs, 0),
      resumeMs: count('deadlines.resumeMs', deadlines.resumeMs, 60_000, 0),
    },
    retry: {
      retries: count('retry.retries', retry.retries, 3, 0, 100),
      minDelayMs: count('retry.minDelayMs', retry.minDelayMs, 200, 0),
      maxDelayMs: count('retry.maxDelayMs', retry.maxDelayMs, 5_000, 0),
    },
    formats: {
      bigint: format('formats.bigint', formats.bigint, 'number'),
      decimal: format('formats.decimal', formats.decimal, 'number'),
      rowDecimal: format('formats.rowDecimal', formats.rowDecimal, 'string'),
    },
    idempotent: options.idempotent === true,
    maxValueBytes: count('maxValueBytes', options.maxValueBytes, 64 * 1_048_576, 1),
  };
}
