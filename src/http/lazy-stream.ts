import {
  ReadableStream,
  type ReadableStreamAsyncIterator,
  type ReadableStreamBYOBReader,
  type ReadableStreamDefaultReader,
  type ReadableStreamGetReaderOptions,
  type ReadableStreamReader,
  type ReadableWritablePair,
  type StreamPipeOptions,
  type WritableStream,
} from 'node:stream/web';

/**
 * A ReadableStream that is iterated without being one: an iterator of chunks costs a fraction of a stream, and the
 * Functions library does no more than iterate. Whoever asks for a reader, a pipe or a branch gets a real stream.
 */
export class LazyStream implements ReadableStream<Uint8Array> {
  readonly #chunks: AsyncIterableIterator<Uint8Array>;
  #stream: ReadableStream<Uint8Array> | undefined;

  constructor(chunks: AsyncIterableIterator<Uint8Array>) {
    this.#chunks = chunks;
  }

  /** The real stream, made by the first call. */
  real(): ReadableStream<Uint8Array> {
    const chunks = this.#chunks;
    this.#stream ??= new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await chunks.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        async cancel() {
          await chunks.return?.();
        },
      },
      // Nothing is taken from the source before somebody reads.
      { highWaterMark: 0 },
    );
    return this.#stream;
  }

  get locked(): boolean {
    return this.#stream?.locked ?? false;
  }

  values(options?: { preventCancel?: boolean }): ReadableStreamAsyncIterator<Uint8Array> {
    if (this.#stream) return this.#stream.values(options);
    return this.#chunks as ReadableStreamAsyncIterator<Uint8Array>;
  }

  [Symbol.asyncIterator](): ReadableStreamAsyncIterator<Uint8Array> {
    return this.values();
  }

  cancel(reason?: unknown): Promise<void> {
    return this.real().cancel(reason);
  }

  getReader(options: { mode: 'byob' }): ReadableStreamBYOBReader;
  getReader(): ReadableStreamDefaultReader<Uint8Array>;
  getReader(options?: ReadableStreamGetReaderOptions): ReadableStreamReader<Uint8Array> {
    return this.real().getReader(options);
  }

  pipeThrough<T>(
    transform: ReadableWritablePair<T, Uint8Array>,
    options?: StreamPipeOptions,
  ): ReadableStream<T> {
    return this.real().pipeThrough(transform, options);
  }

  pipeTo(destination: WritableStream<Uint8Array>, options?: StreamPipeOptions): Promise<void> {
    return this.real().pipeTo(destination, options);
  }

  tee(): [ReadableStream<Uint8Array>, ReadableStream<Uint8Array>] {
    return this.real().tee();
  }
}
