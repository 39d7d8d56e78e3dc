import type { RowWriter } from '../types.js';
import type { Codec } from './codec.js';
import type { Columns } from './columns.js';
import { JsonOutput } from './json-output.js';
import type { RowReader } from './row-reader.js';
import type { RowVisitor } from './row-scanner.js';

/** Chunks that may wait for the consumer before the server has to. */
const readyChunks = 2;

/** Rows to bytes: the values of the codecs between the bytes of the writer's framing, all of them made once. */
export class JsonRows implements RowVisitor {
  readonly output = new JsonOutput();
  rows = 0;
  readonly #codecs: readonly Codec[];
  readonly #prefixes: readonly Uint8Array[];
  readonly #nulls: readonly Uint8Array[];
  readonly #separator: Uint8Array;
  readonly #rowEnd: Uint8Array;
  readonly #close: Uint8Array;

  constructor(columns: Columns, writer: RowWriter) {
    this.#codecs = columns.decoders.map((decoder) => decoder.codec);
    this.#prefixes = writer.columnPrefixes(columns.infos).map((prefix) => Buffer.from(prefix));
    this.#nulls = this.#prefixes.map((prefix) => Buffer.concat([prefix, Buffer.from('null')]));
    this.#separator = Buffer.from(writer.separator);
    this.#rowEnd = Buffer.from(writer.rowEnd);
    this.#close = Buffer.from(writer.close);
    this.output.bytes(Buffer.from(writer.open));
    this.output.endRow();
  }

  beginRow(): void {
    if (this.rows > 0) this.output.bytes(this.#separator);
  }

  value(column: number, reader: RowReader): void {
    const { output } = this;
    if (reader.length < 0) output.bytes(this.#nulls[column]!);
    else {
      output.bytes(this.#prefixes[column]!);
      this.#codecs[column]!.json(reader.source, reader.start, reader.length, output);
    }
  }

  endRow(): boolean {
    this.rows++;
    this.output.bytes(this.#rowEnd);
    this.output.endRow();
    return this.output.readyCount < readyChunks;
  }

  /** The request ended well. */
  end(): void {
    this.output.bytes(this.#close);
    this.output.endRow();
    this.output.flush();
  }
}
