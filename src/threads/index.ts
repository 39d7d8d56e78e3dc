export { BlockingPoolError, type BlockingPoolErrorCode } from './errors.js';
export type { BlockingJob, CpuPart } from './job.js';
export type { BlockingPoolOptions } from './options.js';
export { BlockingPool } from './pool.js';
export { findPool, sharedPool, threadsSetting } from './shared.js';
export type { PoolCounts, PoolSnapshot, ThreadSnapshot, ThreadState, WaitingJob } from './snapshot.js';

import { compiled } from './compiled.js';
import type { CpuPart } from './job.js';

/** A CPU part for jobs whose I/O brings UTF-8 bytes: resolves to their text. */
export const textPart: CpuPart = { module: compiled('parts.js'), exportName: 'textOf' };
