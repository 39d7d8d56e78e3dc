/** The only door of this room. */

export { type AppSettings, type CorsSettings, readAppSettings } from './config/app-settings.js';
export { type FunctionInfo, formatFunctions } from './function-info.js';
export { type Host, type HostEnd, type HostOptions, startHost } from './host.js';
export type { LoopSnapshot } from './loop-monitor.js';
export { HostStartError, type HostStartErrorCode } from './start-error.js';
