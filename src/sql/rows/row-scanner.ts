import type { Columns } from './columns.js';
import { RowReader } from './row-reader.js';

/** MS-TDS 2.2.7.19 and 2.2.7.13. */
const rowToken = 0xd1;
const nbcRowToken = 0xd2;

/** Takes the columns of one row after the other; NULL is a length of -1 in the reader. */
export interface RowVisitor {
  beginRow(): void;
  value(column: number, reader: RowReader): void;
  /** True to go on at once; false to stop after this row. */
  endRow(): boolean;
}

/** Finds rows and their values in the bytes that have arrived; remembers where it was when they end amid a row. */
export class RowScanner {
  readonly #reader: RowReader;
  readonly #columns: Columns;
  /** One bit for each column that is NULL in an NBCROW. A copy: the row may end in a later packet. */
  readonly #nulls: Uint8Array;
  #hasNulls = false;
  #column = 0;
  amidRow = false;

  constructor(columns: Columns, maxValueBytes: number) {
    this.#columns = columns;
    this.#nulls = new Uint8Array((columns.decoders.length + 7) >> 3);
    this.#reader = new RowReader(maxValueBytes);
  }

  /** A value was longer than it may be; `discard` is all that can follow. */
  get tooLong(): boolean {
    return this.#reader.tooLong;
  }

  /** From here on rows are only passed over. */
  discard(): void {
    this.#reader.discards = true;
    this.#reader.long?.pieces.splice(0);
  }

  read(
    bytes: { readonly buffer: Buffer; position: number },
    visitor: RowVisitor,
  ): 'more' | 'token' | 'pause' {
    const reader = this.#reader;
    reader.buffer = bytes.buffer;
    reader.position = bytes.position;
    reader.end = bytes.buffer.length;
    const outcome = this.#readRows(reader, visitor);
    bytes.position = reader.position;
    return outcome;
  }

  #readRows(reader: RowReader, visitor: RowVisitor): 'more' | 'token' | 'pause' {
    for (;;) {
      if (!this.amidRow) {
        const begun = this.#beginRow(reader);
        if (begun !== 'row') return begun;
        visitor.beginRow();
      }
      if (!this.#readColumns(reader, visitor)) return 'more';
      this.amidRow = false;
      if (!visitor.endRow()) return 'pause';
    }
  }

  #beginRow(reader: RowReader): 'row' | 'more' | 'token' {
    const at = reader.position;
    if (at >= reader.end) return 'token';
    const type = reader.buffer[at];
    if (type === rowToken) {
      this.#hasNulls = false;
      reader.position = at + 1;
    } else if (type === nbcRowToken) {
      const nulls = this.#nulls;
      if (at + 1 + nulls.length > reader.end) return 'more';
      for (let byte = 0; byte < nulls.length; byte++) nulls[byte] = reader.buffer[at + 1 + byte]!;
      this.#hasNulls = true;
      reader.position = at + 1 + nulls.length;
    } else return 'token';
    this.#column = 0;
    this.amidRow = true;
    return 'row';
  }

  #readColumns(reader: RowReader, visitor: RowVisitor): boolean {
    const { decoders } = this.#columns;
    const nulls = this.#hasNulls ? this.#nulls : undefined;
    let column = this.#column;
    for (; column < decoders.length; column++) {
      if (nulls !== undefined && (nulls[column >> 3]! & (1 << (column & 7))) !== 0) reader.length = -1;
      else if (!decoders[column]!.layout(reader)) {
        this.#column = column;
        return false;
      }
      visitor.value(column, reader);
    }
    return true;
  }
}
