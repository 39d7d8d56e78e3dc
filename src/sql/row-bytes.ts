import type { ResolvedFormats } from './rows/codec.js';
import { type Framing, framingOf } from './rows/framing.js';
import { JsonOutput } from './rows/json-output.js';
import { writeText } from './rows/json-text.js';
import { writeSafeInteger } from './rows/numbers.js';
import { decimalText, exactNumbers, isRecord, rowSerializer } from './serialize.js';
import type { ColumnInfo, RowBytes, RowWriter } from './types.js';

type Scalar = null | boolean | number | bigint | string;

/**
 * Rows from `rows()`, which may have been changed, as chunks of bytes: what still has the type of its column is written as `RowSource.chunks` writes
 * it. Keys that are no columns, and values of other types, are written as JSON.stringify does; a bigint as its digits, bytes as base64.
 */
export class JsonRowBytes implements RowBytes {
  readonly #output = new JsonOutput();
  readonly #columns: readonly ColumnInfo[];
  readonly #formats: ResolvedFormats;
  readonly #framing: Framing;
  readonly #names: readonly string[];
  /** Columns whose text is digits, to be written as a number. */
  readonly #isDigits: readonly boolean[];
  readonly #isQuotedBigint: readonly boolean[];
  #rows = 0;
  #serialize: ((row: unknown) => string) | undefined;

  constructor(columns: readonly ColumnInfo[], formats: ResolvedFormats, writer: RowWriter) {
    this.#columns = columns;
    this.#formats = formats;
    this.#framing = framingOf(columns, writer);
    this.#names = columns.map(({ name }) => name);
    this.#isDigits = columns.map(({ type }) => exactNumbers.has(type) && formats.decimal === 'number');
    this.#isQuotedBigint = columns.map(({ type }) => type === 'bigint' && formats.bigint === 'string');
    this.#output.fixed(this.#framing.open);
    this.#output.endRow();
  }

  add(row: unknown): void {
    if (isRecord(row) && this.#isWhole(row)) this.#addWhole(row);
    else this.#addOther(row);
    this.#rows++;
    this.#output.endRow();
  }

  /** After the last row. */
  close(): void {
    this.#output.fixed(this.#framing.close);
    this.#output.endRow();
    this.#output.flush();
  }

  /** A chunk's worth is there. */
  get isFull(): boolean {
    return this.#output.readyCount > 0;
  }

  /** What is there, a chunk of it at a time; undefined when there is none. */
  take(): Uint8Array | undefined {
    if (this.#output.readyCount === 0) this.#output.flush();
    return this.#output.takeReady();
  }

  /** All columns, in their order, each with a value that is written in place: most rows are sent so, and no name needs to be looked up. */
  #isWhole(row: Record<string, unknown>): row is Record<string, Scalar> {
    const names = this.#names;
    const keys = Object.keys(row);
    if (keys.length !== names.length || names.length === 0) return false;
    for (let index = 0; index < names.length; index++) {
      const name = names[index]!;
      if (keys[index] !== name) return false;
      const value = row[name];
      const kind = typeof value;
      if (kind !== 'string' && kind !== 'number' && kind !== 'boolean' && kind !== 'bigint' && value !== null)
        return false;
    }
    return true;
  }

  #addWhole(row: Record<string, Scalar>): void {
    const output = this.#output;
    const { prefixes, nulls } = this.#rows === 0 ? this.#framing.first : this.#framing.next;
    for (let index = 0; index < prefixes.length; index++) {
      const value = row[this.#names[index]!]!;
      if (value === null) output.fixed(nulls[index]!);
      else {
        output.fixed(prefixes[index]!);
        this.#write(value, index);
      }
    }
    output.fixed(this.#framing.rowEnd);
  }

  #write(value: Exclude<Scalar, null>, index: number): void {
    const output = this.#output;
    if (typeof value === 'string') {
      if (this.#isDigits[index] && decimalText.test(value)) output.ascii(value);
      else writeText(output, value);
    } else if (typeof value === 'number') {
      if (Number.isSafeInteger(value)) writeSafeInteger(output, value);
      else output.ascii(JSON.stringify(value));
    } else if (typeof value === 'bigint') {
      output.ascii(this.#isQuotedBigint[index] ? `"${value}"` : value.toString());
    } else output.ascii(value ? 'true' : 'false');
  }

  #addOther(row: unknown): void {
    this.#serialize ??= rowSerializer(this.#columns, this.#formats);
    const text = this.#serialize(row);
    if (this.#rows > 0) this.#output.fixed(this.#framing.separator);
    this.#output.utf8(text);
    this.#output.fixed(this.#framing.afterRow);
  }
}

/** For rows that came from no command. */
export function plainRowBytes(writer: RowWriter): RowBytes {
  return new JsonRowBytes([], { bigint: 'number', decimal: 'number', rowDecimal: 'string' }, writer);
}
