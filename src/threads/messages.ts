/** What the pool and a thread say to each other. Jobs are numbered, so that nothing late is taken for the next job's. */

export interface ThreadData {
  /** One Int32: the number of the last job whose data was posted. The thread waits for it to be its job's. */
  readonly wake: SharedArrayBuffer;
}

export type ToThread =
  | {
      readonly type: 'job';
      readonly id: number;
      readonly module: string;
      readonly exportName: string;
      readonly args: readonly unknown[];
    }
  /** `failed`: the I/O failed, or the job was aborted; `read` throws. */
  | { readonly type: 'data'; readonly id: number; readonly failed: boolean; readonly value?: unknown }
  | { readonly type: 'exit' };

/** Why a job ended without a result. `io`: `read` threw and the CPU part let it through. */
export type JobFailure = 'io' | 'module' | 'threw' | 'data';

export type FromThread =
  | { readonly type: 'ready' }
  /** Sent just before the thread stands still. `at` is in ms since the epoch. */
  | { readonly type: 'blocked'; readonly id: number; readonly at: number; readonly stack: string }
  | { readonly type: 'done'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly why: JobFailure; readonly error: unknown };

/** Bytes that fill their whole buffer can be moved; a slice of a shared buffer must be copied. */
export function movable(value: unknown): ArrayBuffer[] {
  if (value instanceof ArrayBuffer) return [value];
  if (!ArrayBuffer.isView(value) || !(value.buffer instanceof ArrayBuffer)) return [];
  return value.byteLength === value.buffer.byteLength ? [value.buffer] : [];
}
