import { SqlStreamError } from './errors.js';
import type { ResolvedFormats } from './rows/codec.js';
import { type Columns, compileColumns } from './rows/columns.js';
import { JsonRows } from './rows/json-rows.js';
import { ObjectRows } from './rows/object-rows.js';
import { RowScanner, type RowVisitor } from './rows/row-scanner.js';
import type { TediousColumn } from './rows/tedious-column.js';
import type { TappedParser, TappedSink } from './tedious/row-tokens.js';
import { nextTurn } from './turn.js';
import type { Row, RowWriter } from './types.js';

const passOver: RowVisitor = { beginRow() {}, value() {}, endRow: () => true };
const noColumns: Columns = { infos: [], decoders: [] };

/**
 * What comes back for one request: the rows of its first recordset go to whoever reads them, at the reader's pace; all others are passed over.
 */
export class Response implements TappedSink {
  parser: TappedParser | undefined;
  columns: Columns = noColumns;
  recordsets = 0;
  /** Resolves at the first row, at the end of an empty first recordset, or at the end of the response; rejects when it fails before. */
  readonly ready: Promise<void>;
  /** Told when rows can't be read any further, or a value is too long: the request is to be cancelled. */
  onFailure: (error: SqlStreamError, unreadable: boolean) => void = () => {};

  readonly #formats: ResolvedFormats;
  readonly #maxValueBytes: number;
  readonly #isConnected: () => boolean;
  #scanner: RowScanner | undefined;
  #visitor: RowVisitor | undefined;
  #json: JsonRows | undefined;
  #objects: ObjectRows | undefined;
  #skipping = false;
  #ended = false;
  #error: unknown;
  #settleReady!: { resolve: () => void; reject: (error: unknown) => void };
  #isReady = false;
  #wake: (() => void) | undefined;
  #flushScheduled = false;

  constructor(formats: ResolvedFormats, maxValueBytes: number, isConnected: () => boolean) {
    this.#isConnected = isConnected;
    this.#formats = formats;
    this.#maxValueBytes = maxValueBytes;
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject };
    });
  }

  get rows(): number {
    return this.#json?.rows ?? this.#objects?.rows ?? 0;
  }

  get bytes(): number {
    return this.#json?.output.total ?? 0;
  }

  get succeeded(): boolean {
    return this.#ended && this.#error === undefined;
  }

  /** The request ended well, and no bytes of its rows wait for the reader. */
  get exhausted(): boolean {
    return this.succeeded && this.#json?.output.readyCount === 0;
  }

  get isWanted(): boolean {
    return this.#isConnected();
  }

  get amidRow(): boolean {
    return this.#scanner?.amidRow ?? false;
  }

  // What the request tells.

  beginRecordset(columns: readonly TediousColumn[]): void {
    this.recordsets++;
    const compiled = compileColumns(columns, this.#formats);
    this.#scanner = new RowScanner(compiled, this.#maxValueBytes);
    if (this.recordsets === 1) this.columns = compiled;
    else {
      this.#markReady();
      this.#scanner.discard();
    }
    if (this.#skipping) this.#scanner.discard();
  }

  /** A statement ended; when it had the first recordset, that is over. */
  endStatement(): void {
    if (this.recordsets > 0) this.#markReady();
  }

  /** The request is over. */
  end(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error ??= error ?? undefined;
    if (this.#error === undefined) {
      this.#json?.end();
      this.#markReady();
    } else if (!this.#isReady) {
      this.#isReady = true;
      this.#settleReady.reject(this.#error);
    }
    this.#wake?.();
  }

  /** Rows that still come are passed over, so that the response can end. */
  skip(): void {
    this.#skipping = true;
    this.#scanner?.discard();
    this.parser?.resume();
  }

  // What the parser asks.

  read(bytes: { readonly buffer: Buffer; position: number }): 'more' | 'token' | 'pause' {
    const scanner = this.#scanner;
    if (scanner === undefined)
      throw new SqlStreamError('EProtocol', 'A row came before its columns.', { phase: 'rows' });
    if (this.recordsets === 1 && !this.#skipping) {
      this.#markReady();
      if (this.#visitor === undefined) return 'pause';
      const outcome = scanner.read(bytes, this.#visitor);
      if (!scanner.tooLong) {
        if (this.#wake !== undefined) this.#wakeReader();
        return outcome;
      }
      this.#failTooLong();
    }
    const outcome = scanner.read(bytes, passOver);
    const turn = nextTurn();
    if (turn === undefined) return outcome;
    // Nobody sets the pace of rows that nobody wants, and a server may have sent many before it saw the ATTENTION.
    void turn.then(() => this.parser?.resume());
    return 'pause';
  }

  fail(error: unknown): void {
    const failure =
      error instanceof SqlStreamError
        ? error
        : new SqlStreamError('EProtocol', `The response can't be read: ${String(error)}`, {
            phase: 'rows',
            cause: error,
          });
    this.onFailure(failure, true);
  }

  #failTooLong(): void {
    this.#skipping = true;
    this.#scanner?.discard();
    const error = new SqlStreamError(
      'EValueTooLarge',
      `A value is longer than ${this.#maxValueBytes} bytes: raise maxValueBytes, or select less of it.`,
      { phase: 'rows' },
    );
    // At once, since the response may end well before the cancel; which is not sent from within the parser, because it reads on.
    this.#error ??= error;
    this.#wake?.();
    setImmediate(() => this.onFailure(error, false));
  }

  #markReady(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    this.#settleReady.resolve();
  }

  // What the reader asks.

  readJson(writer: RowWriter): void {
    this.#json = new JsonRows(this.columns, writer);
    this.#begin(this.#json);
  }

  readObjects(): void {
    this.#objects = new ObjectRows(this.columns);
    this.#begin(this.#objects);
  }

  #begin(visitor: RowVisitor): void {
    this.#visitor = visitor;
    if (this.#ended && this.#error === undefined) this.#json?.end();
    this.parser?.resume();
  }

  /** Undefined at the end. Throws what ended the request, after the rows that came before. */
  async nextChunk(): Promise<Uint8Array | undefined> {
    const output = this.#json!.output;
    for (;;) {
      const chunk = output.takeReady();
      if (chunk !== undefined) {
        const turn = nextTurn();
        if (turn !== undefined) await turn;
        if (!this.#ended) this.parser?.resume();
        return chunk;
      }
      if (this.#error !== undefined && output.hasFinishedRows) output.flush();
      else if (this.#error !== undefined) throw this.#error;
      else if (this.#ended) return undefined;
      else await this.#wait();
    }
  }

  /** A row that is here already. */
  takeRow(): Row | undefined {
    return this.#objects!.take();
  }

  /** As `nextChunk`. */
  async nextRow(): Promise<Row | undefined> {
    const objects = this.#objects!;
    for (;;) {
      const row = objects.take();
      if (row !== undefined) return row;
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return undefined;
      const turn = nextTurn();
      if (turn !== undefined) await turn;
      // Which may read rows, or the end, right away.
      this.parser?.resume();
      if (objects.isEmpty && !this.#ended) await this.#wait();
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
      if (this.#json !== undefined) this.#wakeReader();
    });
  }

  /** A full chunk goes at once. Less of it only when nothing more has arrived by the next turn of the event loop: many rows make few chunks, a lone row is not held back. */
  #wakeReader(): void {
    const json = this.#json;
    if (json === undefined) {
      this.#wake?.();
      return;
    }
    if (json.output.readyCount > 0) {
      this.#wake?.();
      return;
    }
    if (this.#flushScheduled || !json.output.hasFinishedRows) return;
    this.#flushScheduled = true;
    setImmediate(() => {
      this.#flushScheduled = false;
      if (this.#wake === undefined) return;
      json.output.flush();
      if (json.output.readyCount > 0) this.#wake();
    });
  }
}
