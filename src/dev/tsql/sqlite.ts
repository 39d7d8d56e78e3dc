import sqlite3Init, { type Database } from '@sqlite.org/sqlite-wasm';
import type { SqlType, SqlValue } from '../sql-engine.js';
import { compareText, sensitivities } from './collation.js';
import { fail, refuse } from './errors.js';
import { fromStored, type Raw, toStored } from './stored.js';

/** A T-SQL expression that SQLite calls back for: `js(number, inputs...)`. */
export interface Callback {
  readonly inputs: readonly SqlType[];
  readonly output: SqlType;
  run(inputs: readonly SqlValue[]): SqlValue;
}

/** Rows that a statement gives, one by one. */
export interface Cursor {
  /** True when there is a row; raises what a callback raised. */
  step(): boolean;
  value(index: number, type: SqlType): SqlValue;
  close(): void;
}

/** Raised for a broken key; the caller knows the table and makes 2627 of it. */
export class KeyViolation extends Error {}

/** A statement spent too long inside SQLite, where nothing can interrupt it but this limit. */
const stepLimitMs = 30_000;

type Library = Awaited<ReturnType<typeof sqlite3Init>>;

/** One in-memory SQLite database. */
export class Sqlite {
  readonly #capi: Library['capi'];
  readonly #db: Database;
  #callbacks: readonly Callback[] = [];
  #failure: unknown;
  #deadline = 0;

  static async open(): Promise<Sqlite> {
    return new Sqlite(await sqlite3Init({ print: () => {}, printErr: () => {} } as never));
  }

  private constructor({ capi, oo1, wasm }: Library) {
    this.#capi = capi;
    this.#db = new oo1.DB(':memory:');
    const db = this.#db.pointer!;
    const call = (_: number, index: number, ...args: Raw[]): Raw => this.#call(index, args);
    this.#db.createFunction('js', call as never, { arity: -1 });
    for (const sensitivity of sensitivities) {
      const compare = (_: number, n1: number, p1: number, n2: number, p2: number): number => {
        const bytes = Buffer.from(wasm.heap8u().buffer);
        return compareText(
          sensitivity,
          bytes.toString('utf8', p1, p1 + n1),
          bytes.toString('utf8', p2, p2 + n2),
        );
      };
      capi.sqlite3_create_collation_v2(db, sensitivity, capi.SQLITE_UTF8, 0, compare as never, 0 as never);
    }
    capi.sqlite3_progress_handler(db, 200_000, () => (performance.now() > this.#deadline ? 1 : 0), 0);
  }

  /** Runs a statement to its end; returns the number of rows that it changed. */
  exec(sql: string, parameters: readonly Raw[] = [], callbacks: readonly Callback[] = []): number {
    const cursor = this.query(sql, parameters, callbacks);
    try {
      while (cursor.step());
    } finally {
      cursor.close();
    }
    return this.#db.changes();
  }

  query(sql: string, parameters: readonly Raw[], callbacks: readonly Callback[]): Cursor {
    if (parameters.length > 32_766) refuse('A statement of more than 32,766 values');
    const statement = this.#db.prepare(sql);
    for (const [i, raw] of parameters.entries()) statement.bind(i + 1, raw as never);
    return {
      step: () => this.#step(statement.pointer!, callbacks),
      value: (i, type) => fromStored(this.#capi.sqlite3_column_js(statement.pointer!, i) as Raw, type),
      close: () => void statement.finalize(),
    };
  }

  close(): void {
    this.#db.close();
  }

  #step(statement: Parameters<Library['capi']['sqlite3_step']>[0], callbacks: readonly Callback[]): boolean {
    const { SQLITE_CONSTRAINT, SQLITE_DONE, SQLITE_INTERRUPT, SQLITE_ROW } = this.#capi;
    this.#callbacks = callbacks;
    this.#failure = undefined;
    this.#deadline = performance.now() + stepLimitMs;
    const code = this.#capi.sqlite3_step(statement) & 255;
    if (code === SQLITE_ROW || code === SQLITE_DONE) return code === SQLITE_ROW;
    if (this.#failure) throw this.#failure;
    if (code === SQLITE_CONSTRAINT) throw new KeyViolation();
    if (code === SQLITE_INTERRUPT)
      refuse(`A statement that runs longer than ${stepLimitMs / 1000} s before its next row`);
    const message = this.#capi.sqlite3_errmsg(this.#db.pointer!);
    if (message === 'integer overflow') fail(8115, 'expression', 'bigint');
    throw new Error(`SQLite: ${message} (${code})`);
  }

  #call(index: number, args: readonly Raw[]): Raw {
    try {
      const { inputs, output, run } = this.#callbacks[index]!;
      return toStored(run(inputs.map((type, i) => fromStored(args[i]!, type))), output);
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }
}
