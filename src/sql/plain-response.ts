import type { Request } from 'tedious';
import type { SqlStreamError } from './errors.js';
import { plainValue } from './plain-values.js';
import type { ResolvedFormats } from './rows/codec.js';
import { type Columns, compileColumns } from './rows/columns.js';
import type { TediousColumn } from './rows/tedious-column.js';
import { type WriteValue, writerFor } from './serialize.js';
import type { Row, RowWriter } from './types.js';

/** Rows that may wait for the consumer before the server has to. */
const readyRows = 64;

interface Writing {
  readonly writer: RowWriter;
  readonly prefixes: readonly string[];
  readonly values: readonly WriteValue[];
}

/**
 * What `Response` is, on tedious's public API alone: its `row` events and its values. Serves when the installed tedious has not got what `Response` needs; slower,
 * and exact only where a double and a Date are.
 */
export class PlainResponse {
  columns: Columns = { infos: [], decoders: [] };
  recordsets = 0;
  rows = 0;
  bytes = 0;
  readonly ready: Promise<void>;
  onFailure: (error: SqlStreamError, unreadable: boolean) => void = () => {};

  readonly #request: Request;
  readonly #formats: ResolvedFormats;
  readonly #queue: Row[] = [];
  #settleReady!: { resolve: () => void; reject: (error: unknown) => void };
  #skipping = false;
  #ended = false;
  #error: unknown;
  #wake: (() => void) | undefined;
  #writing: Writing | undefined;
  #opened = false;
  #closed = false;

  constructor(request: Request, formats: ResolvedFormats) {
    this.#request = request;
    this.#formats = formats;
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject };
    });
    request.on('row', (columns: { value: unknown }[]) => this.#take(columns));
  }

  get succeeded(): boolean {
    return this.#ended && this.#error === undefined;
  }

  beginRecordset(columns: readonly TediousColumn[]): void {
    this.recordsets++;
    if (this.recordsets === 1) this.columns = compileColumns(columns, this.#formats);
    else this.#settleReady.resolve();
  }

  endStatement(): void {
    if (this.recordsets > 0) this.#settleReady.resolve();
  }

  end(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error ?? undefined;
    if (this.#error === undefined) this.#settleReady.resolve();
    else this.#settleReady.reject(this.#error);
    this.#wake?.();
  }

  skip(): void {
    this.#skipping = true;
    this.#request.resume();
  }

  get exhausted(): boolean {
    return this.#closed;
  }

  readJson(writer: RowWriter): void {
    const { infos } = this.columns;
    const values = infos.map((info) => writerFor(info, this.#formats));
    this.#writing = { writer, prefixes: writer.columnPrefixes(infos), values };
  }

  readObjects(): void {}

  takeRow(): Row | undefined {
    const row = this.#queue.shift();
    if (row !== undefined) this.rows++;
    return row;
  }

  async nextRow(): Promise<Row | undefined> {
    while (this.#queue.length === 0) {
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return undefined;
      this.#request.resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.takeRow();
  }

  /** All rows that are there, as one chunk. */
  async nextChunk(): Promise<Uint8Array | undefined> {
    if (this.#closed) return undefined;
    const first = await this.nextRow();
    const writing = this.#writing!;
    let json = this.#opened ? '' : writing.writer.open;
    this.#opened = true;
    if (first === undefined) {
      this.#closed = true;
      json += writing.writer.close;
    } else {
      if (this.rows > 1) json += writing.writer.separator;
      json += this.#json(first, writing);
      for (let row = this.takeRow(); row !== undefined; row = this.takeRow()) {
        json += writing.writer.separator + this.#json(row, writing);
      }
    }
    const chunk = Buffer.from(json);
    this.bytes += chunk.length;
    return chunk;
  }

  #json(row: Row, { writer, prefixes, values }: Writing): string {
    const cells = this.columns.infos.map(
      ({ name }, index) => `${prefixes[index]}${values[index]!(row[name]) ?? 'null'}`,
    );
    return cells.join('') + writer.rowEnd;
  }

  #take(columns: readonly { value: unknown }[]): void {
    if (this.#skipping || this.recordsets > 1) return;
    const row: Row = {};
    this.columns.infos.forEach((info, index) => {
      const value = plainValue(info, columns[index]!.value, this.#formats);
      Object.defineProperty(row, info.name, { value, writable: true, enumerable: true, configurable: true });
    });
    this.#queue.push(row);
    if (this.#queue.length >= readyRows) this.#request.pause();
    this.#settleReady.resolve();
    this.#wake?.();
  }
}
