import { SqlStreamError } from './errors.js';
import type { SqlCommand, SqlCommandOptions } from './types.js';

/**
 * Checks the options, reads the app setting and parses its connection string; connects to nothing.
 *
 * @param environment where app settings are; default `process.env`
 * @throws SqlStreamError `EOptions`, `ESetting`, `EConnectionString`, each naming what is wrong
 */
export function defineCommand(options: SqlCommandOptions, environment = process.env): SqlCommand {
  throw new SqlStreamError('EOptions', `Not built yet: ${options.commandText.length} ${environment['PATH']}`);
}
