/** A value longer than a packet, while its pieces arrive. */
export interface LongValue {
  readonly pieces: Buffer[];
  /** Pieces that are copies; the others lie in bytes that the next packet takes the place of. */
  kept: number;
  /** Bytes of the current piece that are still to come. */
  remaining: number;
  total: number;
  /** text, ntext and image have one piece and no terminator. */
  readonly single: boolean;
}

/**
 * Where the decoders read: the bytes that have arrived, and the value that was located last.
 * One object for a whole response, its fields changed in place, because a row is not worth an allocation.
 */
export class RowReader {
  buffer: Buffer = Buffer.alloc(0);
  position = 0;
  end = 0;

  /** The value that a layout located: `length` bytes of `source` from `start`; -1 is NULL. */
  source: Buffer = this.buffer;
  start = 0;
  length = 0;
  long: LongValue | undefined = undefined;

  readonly maxValueBytes: number;
  /** Set by a layout that met a longer value; it has taken none of it. */
  tooLong = false;
  /** Rows are only passed over: no piece of a long value is kept. */
  discards = false;

  constructor(maxValueBytes: number) {
    this.maxValueBytes = maxValueBytes;
  }
}
