import type { Row } from '../types.js';
import type { Codec } from './codec.js';
import type { Columns } from './columns.js';
import type { RowReader } from './row-reader.js';
import type { RowVisitor } from './row-scanner.js';

/** Rows that may wait for the consumer before the server has to. */
const readyRows = 256;

/** Rows to objects. */
export class ObjectRows implements RowVisitor {
  rows = 0;
  readonly #codecs: readonly Codec[];
  readonly #names: readonly string[];
  readonly #template: Row = {};
  #row: Row = this.#template;
  #ready: Row[] = [];
  #next = 0;

  constructor(columns: Columns) {
    this.#codecs = columns.decoders.map((decoder) => decoder.codec);
    this.#names = columns.infos.map((info) => info.name);
    for (const name of this.#names) {
      // Defined, not assigned: a column named __proto__ would set the prototype. A copy of the template has each name as its own property, which
      // assignment then finds; and all rows share one hidden class.
      Object.defineProperty(this.#template, name, {
        value: null,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
  }

  beginRow(): void {
    this.#row = { ...this.#template };
  }

  value(column: number, reader: RowReader): void {
    if (reader.length >= 0) {
      this.#row[this.#names[column]!] = this.#codecs[column]!.value(
        reader.source,
        reader.start,
        reader.length,
      );
    }
  }

  endRow(): boolean {
    this.rows++;
    this.#ready.push(this.#row);
    return this.#ready.length - this.#next < readyRows;
  }

  get isEmpty(): boolean {
    return this.#ready.length === 0;
  }

  take(): Row | undefined {
    const row = this.#ready[this.#next];
    if (row === undefined) return undefined;
    this.#next++;
    if (this.#next === this.#ready.length) {
      this.#ready = [];
      this.#next = 0;
    }
    return row;
  }
}
