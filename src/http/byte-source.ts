/** Chunks of a body that are asked for one by one. */
export interface ByteSource {
  /** Whether the chunk handed out last was the last one, as far as is known without asking. */
  readonly complete: boolean;
  next(): Promise<IteratorResult<Uint8Array, unknown>>;
  /** No more is wanted: what makes the chunks is to be stopped. Never throws. */
  stop(): void;
}
