/** The only door of this room. */
export { type HttpErrorCode, HttpStreamError } from './errors.js';
export { type HandlerResult, wrapHandler } from './handler.js';
export { invocationOf } from './invocation.js';
export type { RespondInit } from './response-init.js';
export { isInHost, shutDown, shutDownWithProcess } from './shutdown.js';
export { createSqlStream, type RowsOptions, type SqlHandler, type SqlStream } from './sql-stream.js';
