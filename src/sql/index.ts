/** The only door of this room. */

export { defineCommand } from './command.js';
export { type ConnectionOptions, parseConnectionString } from './connection-string/parse.js';
export { type ServerErrorFields, type SqlErrorCode, type SqlPhase, SqlStreamError } from './errors.js';
export { defaultTotalMs } from './options.js';
export {
  compileTemplate,
  resolveExpression,
  resolveTemplate,
  type Template,
} from './parameters/expressions.js';
export { closePool, closePools, poolStats } from './pools.js';
export { plainRowBytes } from './row-bytes.js';
/** @internal For the development tools: its types would pull the driver's into every user's compilation. */
export { toTediousConfig } from './tedious-config.js';
export type * from './types.js';
