/**
 * What went wrong with a job, for code to branch on; texts may change.
 *
 * | code | when |
 * |---|---|
 * | EAborted | the job's signal aborted; `cause` is the signal's reason |
 * | EClosed | the pool is closing or closed |
 * | EOptions | an option of the pool is out of its range |
 * | EThreadStart | no thread could be started for the job; `cause` says why |
 * | EThreadDied | the thread ended amid the job (`cause`: out of memory, an uncaught error) |
 * | EJobModule | the module of the CPU part can't be loaded, or has no such function |
 * | EJobFailed | the CPU part threw; `cause` is a copy of its error |
 * | EJobData | what was read, the arguments, or the result can't be passed between threads |
 *
 * A rejection of the job's own I/O is none of these: it is passed on as it is.
 */
export type BlockingPoolErrorCode =
  | 'EAborted'
  | 'EClosed'
  | 'EOptions'
  | 'EThreadStart'
  | 'EThreadDied'
  | 'EJobModule'
  | 'EJobFailed'
  | 'EJobData';

export class BlockingPoolError extends Error {
  override readonly name = 'BlockingPoolError';
  readonly code: BlockingPoolErrorCode;

  constructor(code: BlockingPoolErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
