/** The only door of this room. */
export { defineCommand } from './command.js';
export { type ServerErrorFields, type SqlErrorCode, type SqlPhase, SqlStreamError } from './errors.js';
export { closePools, poolStats } from './pools.js';
export type * from './types.js';
