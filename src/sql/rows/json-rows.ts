import type { RowWriter } from '../types.js';
import type { Codec } from './codec.js';
import type { Columns } from './columns.js';
import { type Framing, framingOf } from './framing.js';
import { type FixedText, JsonOutput } from './json-output.js';
import type { RowReader } from './row-reader.js';
import type { RowVisitor } from './row-scanner.js';

/** Chunks that may wait for the consumer before the server has to. */
const readyChunks = 2;

/** Rows to bytes: the values of the codecs between the texts of the writer's framing, all of them made once. */
export class JsonRows implements RowVisitor {
  readonly output = new JsonOutput();
  rows = 0;
  readonly #codecs: readonly Codec[];
  readonly #framing: Framing;
  /** Of the first row; from the second on, what separates rows comes before the first column. */
  #prefixes: readonly FixedText[];
  #nulls: readonly FixedText[];

  constructor(columns: Columns, writer: RowWriter) {
    this.#codecs = columns.decoders.map((decoder) => decoder.codec);
    this.#framing = framingOf(columns.infos, writer);
    this.#prefixes = this.#framing.first.prefixes;
    this.#nulls = this.#framing.first.nulls;
    this.output.fixed(this.#framing.open);
  }

  beginRow(): void {}

  value(column: number, reader: RowReader): void {
    const { output } = this;
    if (reader.length < 0) output.fixed(this.#nulls[column]!);
    else {
      output.fixed(this.#prefixes[column]!);
      this.#codecs[column]!.json(reader.source, reader.start, reader.length, output);
    }
  }

  endRow(): boolean {
    if (this.rows++ === 0) {
      this.#prefixes = this.#framing.next.prefixes;
      this.#nulls = this.#framing.next.nulls;
    }
    this.output.fixed(this.#framing.rowEnd);
    this.output.endRow();
    return this.output.readyCount < readyChunks;
  }

  /** The request ended well. */
  end(): void {
    this.output.fixed(this.#framing.close);
    this.output.endRow();
    this.output.flush();
  }
}
