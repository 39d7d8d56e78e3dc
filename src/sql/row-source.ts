import { SqlStreamError } from './errors.js';
import type { PlainResponse } from './plain-response.js';
import type { Response } from './response.js';
import type { Row, RowBytes, RowSource, RowStats, RowWriter } from './types.js';

/** What a row source needs of the command that it is the result of. */
export interface Running {
  readonly response: Response | PlainResponse;
  readonly stats: RowStats;
  readonly rowBytes: (writer: RowWriter) => RowBytes;
  cancel(reason?: unknown): Promise<void>;
}

async function* unused(): AsyncGenerator<never> {}
/** Has `Symbol.asyncDispose` where Node has it. */
const asyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(unused.prototype)) as object;

function iterator<T>(
  next: () => Promise<IteratorResult<T>>,
  close: () => Promise<void>,
): AsyncIterableIterator<T> {
  let closed = false;
  const finish = async (): Promise<IteratorResult<T>> => {
    closed = true;
    await close();
    return { done: true, value: undefined };
  };
  return Object.assign(Object.create(asyncIteratorPrototype) as object, {
    next: () => (closed ? finish() : next()),
    return: finish,
    async throw(error: unknown): Promise<IteratorResult<T>> {
      await finish();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  }) as AsyncIterableIterator<T>;
}

export function rowSourceOf(running: Running): RowSource {
  const { response } = running;
  let taken = false;

  function take(): void {
    if (taken)
      throw new SqlStreamError('EOptions', 'The rows of a source can be read once.', { phase: 'rows' });
    taken = true;
  }

  return {
    columns: response.columns.infos,
    get stats() {
      return running.stats;
    },
    get exhausted() {
      return response.exhausted;
    },
    rowBytes: running.rowBytes,
    cancel: (reason) => running.cancel(reason),
    chunks(writer: RowWriter) {
      take();
      response.readJson(writer);
      return iterator<Uint8Array>(
        async () => {
          const value = await response.nextChunk();
          return value === undefined ? { done: true, value } : { done: false, value };
        },
        () => running.cancel(),
      );
    },
    rows(onEnd = () => {}) {
      take();
      response.readObjects();
      const next = async (): Promise<IteratorResult<Row>> => {
        try {
          const value = await response.nextRow();
          if (value !== undefined) return { done: false, value };
        } catch (error) {
          onEnd(error);
          throw error;
        }
        onEnd(undefined);
        return { done: true, value: undefined };
      };
      const close = async () => {
        await running.cancel();
        onEnd(undefined);
      };
      return iterator<Row>(() => {
        // Most rows are here when they are asked for; an async function for each would cost as much as the row.
        const value = response.takeRow();
        return value === undefined ? next() : Promise.resolve({ done: false, value });
      }, close);
    },
  };
}
