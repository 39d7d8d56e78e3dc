/** A pool at one instant, as plain JSON. Times are ISO 8601, UTC. */
export interface PoolSnapshot {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly threads: readonly ThreadSnapshot[];
  /** Jobs that wait for a thread, oldest first. */
  readonly queue: readonly WaitingJob[];
  /** Jobs that ended since the pool was made, well or not. */
  readonly completed: number;
}

/**
 * - starting: not yet able to take a job
 * - idle: waits for a job
 * - blocked: stands still until the I/O of its job has ended
 * - running: loads its job's code, or does the CPU part
 */
export type ThreadState = 'starting' | 'idle' | 'blocked' | 'running';

export interface ThreadSnapshot {
  readonly id: number;
  readonly state: ThreadState;
  /** When it entered that state. */
  readonly since: string;
  /** The job's; null while there is none, and for a job that has no such name. */
  readonly functionName: string | null;
  readonly invocationId: string | null;
  /** The job's CPU part: `module#export`. */
  readonly part: string | null;
  /** Frames of a blocked thread, innermost first, one a line (`at name (place:line:column)`). Null in other states. */
  readonly stack: string | null;
  /** Where the job was handed to the pool, on the main thread, in the same form. Null without a job. */
  readonly startedBy: string | null;
}

export interface WaitingJob {
  readonly since: string;
  readonly functionName: string | null;
  readonly invocationId: string | null;
}

export interface PoolCounts {
  readonly total: number;
  readonly idle: number;
  readonly blocked: number;
  /** With those that are starting. */
  readonly running: number;
  readonly queued: number;
}
