import sqlite3Init from '@sqlite.org/sqlite-wasm';
import { type Codec, codecOf, type Raw, type Storage } from './codec.js';
import { compareBytes } from './compare.js';
import type { SqlValue } from './contract.js';
import { fail, SqlError, sqlError } from './errors.js';
import { decimal } from './types.js';

/** A T-SQL expression that SQLite calls back for: `js(index, inputs...)`. */
export interface Callback {
  readonly inputs: readonly Codec[];
  readonly output: Codec;
  run(row: readonly SqlValue[]): SqlValue;
}

export interface Prepared {
  readonly pointer: number;
  readonly sql: string;
}

// The raw exports take about a ninth of the time of the documented oo1 API. They are no promise, so they
// are used in this file only and the package is pinned.
type Exports = Record<string, (...args: (number | bigint)[]) => number> & {
  sqlite3_column_int64(statement: number, index: number): bigint;
  sqlite3_value_int64(value: number): bigint;
};

const ok = 0;
const row = 100;
const done = 101;
const transient = -1;
const utf8 = 1;
const resultCodes = { constraint: 19, interrupt: 9, error: 1 };
const extended = { notNull: 1299, primaryKey: 1555, unique: 2067, rowid: 2579 };

/** Raised for a broken key; the caller knows the table and makes 2627 or 2601 of it. */
export class KeyViolation extends Error {}

/** A statement spent too long inside SQLite, where nothing can interrupt it but this limit. */
const stepLimitMs = 30_000;

/** One in-memory SQLite database, through the exports of the WebAssembly module. */
export class Sqlite {
  readonly #exports: Exports;
  readonly #memory: { readonly buffer: ArrayBuffer };
  readonly #db: number;
  #view: Buffer;
  #scratch = 0;
  #scratchSize = 0;
  #callbacks: readonly Callback[] = [];
  #failure: unknown;
  #deadline = 0;
  /** Idle prepared statements by their text, the oldest first. */
  readonly #idle = new Map<string, number[]>();

  static async open(): Promise<Sqlite> {
    const quiet = { print: () => {}, printErr: () => {} };
    const { wasm } = await sqlite3Init(quiet as never);
    return new Sqlite(wasm as never);
  }

  private constructor(wasm: {
    exports: Exports;
    memory: { readonly buffer: ArrayBuffer };
    installFunction(s: string, f: unknown): number;
  }) {
    this.#exports = wasm.exports;
    this.#memory = wasm.memory;
    this.#view = Buffer.from(this.#memory.buffer);
    const out = this.#reserve(8);
    const name = this.#cString(':memory:', out + 8);
    this.#check(this.#exports['sqlite3_open_v2']!(name, out, 2 | 4, 0));
    this.#db = this.#bytes().readInt32LE(out);
    this.#exports['sqlite3_extended_result_codes']!(this.#db, 1);
    this.#define('js', -1, wasm.installFunction('v(iii)', this.#call), 0, 0);
    const step = wasm.installFunction('v(iii)', this.#sumStep);
    this.#define('dsum', 1, 0, step, wasm.installFunction('v(i)', this.#sumFinal));
    for (const sensitivity of ['CI_AS', 'CS_AS', 'CI_AI', 'CS_AI', 'BIN', 'instant']) {
      const compare = (_: number, n1: number, p1: number, n2: number, p2: number): number => {
        const bytes = this.#bytes();
        if (sensitivity !== 'instant') {
          return compareBytes(sensitivity, bytes.subarray(p1, p1 + n1), bytes.subarray(p2, p2 + n2));
        }
        return bytes.compare(bytes, p2, p2 + 19, p1, p1 + 19);
      };
      const at = this.#cString(sensitivity);
      this.#check(
        this.#exports['sqlite3_create_collation_v2']!(
          this.#db,
          at,
          utf8,
          0,
          wasm.installFunction('i(iiiii)', compare),
          0,
        ),
      );
    }
    const progress = wasm.installFunction('i(i)', () => (performance.now() > this.#deadline ? 1 : 0));
    this.#exports['sqlite3_progress_handler']!(this.#db, 200_000, progress, 0);
    this.exec('PRAGMA temp_store = MEMORY');
  }

  exec(sql: string): void {
    const statement = this.prepare(sql);
    try {
      while (this.step(statement, []));
    } finally {
      this.release(statement);
    }
  }

  prepare(sql: string): Prepared {
    const idle = this.#idle.get(sql)?.pop();
    if (idle !== undefined) return { pointer: idle, sql };
    const text = encodeText(sql);
    const at = this.#write(text, 8);
    const rc = this.#exports['sqlite3_prepare_v2']!(this.#db, at, text.length, at - 8, 0);
    if (rc !== ok) throw new Error(`SQLite refused a statement of the embedded server: ${this.#message()}`);
    return { pointer: this.#bytes().readInt32LE(at - 8), sql };
  }

  /** Ends a statement's use and keeps it for the next one with the same text. */
  release(statement: Prepared): void {
    this.#exports['sqlite3_reset']!(statement.pointer);
    this.#exports['sqlite3_clear_bindings']!(statement.pointer);
    const idle = this.#idle.get(statement.sql) ?? [];
    this.#idle.delete(statement.sql);
    this.#idle.set(statement.sql, idle);
    if (idle.length < 4 && statement.sql.length < 20_000) idle.push(statement.pointer);
    else this.#exports['sqlite3_finalize']!(statement.pointer);
    if (this.#idle.size > 300) {
      const [oldest, pointers] = this.#idle.entries().next().value!;
      for (const pointer of pointers) this.#exports['sqlite3_finalize']!(pointer);
      this.#idle.delete(oldest);
    }
  }

  bind(statement: Prepared, index: number, value: Raw): void {
    const { pointer } = statement;
    const ex = this.#exports;
    if (value === null) ex['sqlite3_bind_null']!(pointer, index);
    else if (typeof value === 'bigint') ex['sqlite3_bind_int64']!(pointer, index, value);
    else if (typeof value === 'number') ex['sqlite3_bind_double']!(pointer, index, value);
    else {
      const bytes = typeof value === 'string' ? encodeText(value) : value;
      const bind = typeof value === 'string' ? 'sqlite3_bind_text' : 'sqlite3_bind_blob';
      this.#check(ex[bind]!(pointer, index, this.#write(bytes), bytes.length, transient));
    }
  }

  /** Binds by the type's storage: a JS number is an INTEGER or a REAL as the codec says. */
  bindValue(statement: Prepared, index: number, codec: Codec, value: SqlValue): void {
    const raw = value === null ? null : codec.encode(value);
    if (codec.storage === 'int' && raw !== null) {
      this.#exports['sqlite3_bind_int']!(statement.pointer, index, raw as number);
    } else this.bind(statement, index, raw);
  }

  /** True when there is a row; raises what a callback raised. */
  step(statement: Prepared, callbacks: readonly Callback[]): boolean {
    this.#callbacks = callbacks;
    this.#failure = undefined;
    this.#deadline = performance.now() + stepLimitMs;
    const rc = this.#exports['sqlite3_step']!(statement.pointer);
    if (rc === row) return true;
    if (rc === done) return false;
    if (this.#failure) throw this.#failure;
    if (rc === extended.primaryKey || rc === extended.unique || rc === extended.rowid)
      throw new KeyViolation();
    if ((rc & 255) === resultCodes.interrupt) {
      fail(40510, `A statement that runs longer than ${stepLimitMs / 1000} s before its next row`);
    }
    if (this.#message() === 'integer overflow') fail(8115, 'expression', 'bigint');
    throw new Error(`SQLite: ${this.#message()} (${rc})`);
  }

  column(statement: Prepared, index: number, codec: Codec): SqlValue {
    const { pointer } = statement;
    const ex = this.#exports;
    if (ex['sqlite3_column_type']!(pointer, index) === 5) return null;
    switch (codec.storage) {
      case 'int':
        return codec.decode(ex['sqlite3_column_int']!(pointer, index));
      case 'int64':
        return codec.decode(ex.sqlite3_column_int64(pointer, index));
      case 'real':
        return codec.decode(ex['sqlite3_column_double']!(pointer, index));
      case 'text': {
        const at = ex['sqlite3_column_text']!(pointer, index);
        return codec.decode(decodeText(this.#bytes(), at, at + ex['sqlite3_column_bytes']!(pointer, index)));
      }
      default: {
        const at = ex['sqlite3_column_blob']!(pointer, index);
        return codec.decode(
          Uint8Array.prototype.slice.call(
            this.#bytes(),
            at,
            at + ex['sqlite3_column_bytes']!(pointer, index),
          ),
        );
      }
    }
  }

  close(): void {
    for (const pointers of this.#idle.values())
      for (const p of pointers) this.#exports['sqlite3_finalize']!(p);
    this.#exports['sqlite3_close_v2']!(this.#db);
  }

  readonly #call = (context: number, count: number, args: number): void => {
    try {
      const values = this.#bytes();
      const callback = this.#callbacks[this.#exports['sqlite3_value_int']!(values.readInt32LE(args))]!;
      const inputs: SqlValue[] = new Array(count - 1);
      for (let i = 1; i < count; i++) {
        const codec = callback.inputs[i - 1]!;
        inputs[i - 1] = this.#argument(this.#bytes().readInt32LE(args + i * 4), codec);
      }
      const value = callback.run(inputs);
      this.#result(context, value === null ? null : callback.output.encode(value), callback.output.storage);
    } catch (error) {
      this.#raise(context, error);
    }
  };

  #argument(value: number, codec: Codec): SqlValue {
    const ex = this.#exports;
    if (ex['sqlite3_value_type']!(value) === 5) return null;
    switch (codec.storage) {
      case 'int':
        return codec.decode(ex['sqlite3_value_int']!(value));
      case 'int64':
        return codec.decode(ex.sqlite3_value_int64(value));
      case 'real':
        return codec.decode(ex['sqlite3_value_double']!(value));
      case 'text': {
        const at = ex['sqlite3_value_text']!(value);
        return codec.decode(decodeText(this.#bytes(), at, at + ex['sqlite3_value_bytes']!(value)));
      }
      default: {
        const at = ex['sqlite3_value_blob']!(value);
        return codec.decode(
          Uint8Array.prototype.slice.call(this.#bytes(), at, at + ex['sqlite3_value_bytes']!(value)),
        );
      }
    }
  }

  #result(context: number, raw: Raw, storage: Storage): void {
    const ex = this.#exports;
    if (raw === null) ex['sqlite3_result_null']!(context);
    else if (typeof raw === 'bigint') ex['sqlite3_result_int64']!(context, raw);
    else if (typeof raw === 'number')
      ex[storage === 'int' ? 'sqlite3_result_int' : 'sqlite3_result_double']!(context, raw);
    else {
      const bytes = typeof raw === 'string' ? encodeText(raw) : raw;
      ex[typeof raw === 'string' ? 'sqlite3_result_text' : 'sqlite3_result_blob']!(
        context,
        this.#write(bytes),
        bytes.length,
        transient,
      );
    }
  }

  #raise(context: number, error: unknown): void {
    this.#failure ??= error;
    this.#exports['sqlite3_result_error_code']!(context, resultCodes.error);
  }

  /** SUM of decimals and money: SQLite's own would go through a double or overflow at 64 bits. */
  readonly #sums = new Map<number, bigint>();

  readonly #sumStep = (context: number, _: number, args: number): void => {
    const value = this.#bytes().readInt32LE(args);
    const kind = this.#exports['sqlite3_value_type']!(value);
    if (kind === 5) return;
    const codec = codecOf(decimal(kind === 3 ? 38 : 18, 0));
    const key = this.#exports['sqlite3_aggregate_context']!(context, 4);
    this.#sums.set(key, (this.#sums.get(key) ?? 0n) + (this.#argument(value, codec) as bigint));
  };

  readonly #sumFinal = (context: number): void => {
    const key = this.#exports['sqlite3_aggregate_context']!(context, 0);
    const sum = this.#sums.get(key);
    this.#sums.delete(key);
    if (sum === undefined) this.#exports['sqlite3_result_null']!(context);
    else if (sum <= -(10n ** 38n) || sum >= 10n ** 38n)
      this.#raise(context, sqlError(8115, 'expression', 'numeric'));
    else this.#result(context, codecOf(decimal(38, 0)).encode(sum), 'text');
  };

  #define(name: string, args: number, call: number, step: number, final: number): void {
    const at = this.#cString(name);
    this.#check(
      this.#exports['sqlite3_create_function_v2']!(this.#db, at, args, utf8, 0, call, step, final, 0),
    );
  }

  #bytes(): Buffer {
    // The memory's buffer is replaced when it grows.
    if (this.#view.buffer !== this.#memory.buffer) this.#view = Buffer.from(this.#memory.buffer);
    return this.#view;
  }

  /** A block reused by every call; SQLite copies what it is given. */
  #reserve(size: number): number {
    if (size > this.#scratchSize) {
      if (this.#scratch) this.#exports['sqlite3_free']!(this.#scratch);
      this.#scratchSize = Math.max(4096, size);
      this.#scratch = this.#exports['sqlite3_malloc']!(this.#scratchSize);
      if (!this.#scratch)
        throw new SqlError(701, 17, 1, 'There is insufficient system memory in the embedded server.');
    }
    return this.#scratch;
  }

  #write(bytes: Uint8Array, skip = 0): number {
    const at = this.#reserve(bytes.length + skip + 1) + skip;
    const view = this.#bytes();
    view.set(bytes, at);
    view[at + bytes.length] = 0;
    // Back to a small block after a very large value.
    return at;
  }

  #cString(text: string, at = this.#reserve(256) + 16): number {
    const view = this.#bytes();
    view[at + view.write(text, at)] = 0;
    return at;
  }

  #message(): string {
    const at = this.#exports['sqlite3_errmsg']!(this.#db);
    const view = this.#bytes();
    return view.toString('utf8', at, view.indexOf(0, at));
  }

  #check(rc: number): void {
    if (rc !== ok) throw new Error(`SQLite: result code ${rc}`);
  }
}

/** UTF-8; a lone surrogate as its three bytes, which UTF-8 proper can't hold and T-SQL strings can. */
function encodeText(text: string): Uint8Array {
  if (!/\p{Surrogate}/u.test(text)) return Buffer.from(text, 'utf8');
  const parts = text.match(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]|[^\ud800-\udfff]+/g)!;
  return Buffer.concat(
    parts.map((part) => {
      const code = part.charCodeAt(0);
      if (part.length > 1 || code < 0xd800 || code > 0xdfff) return Buffer.from(part, 'utf8');
      return Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63)]);
    }),
  );
}

function decodeText(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end);
  if (!text.includes('\ufffd')) return text;
  let result = '';
  let from = start;
  for (let i = start; i + 2 < end; i++) {
    if (bytes[i] !== 0xed || bytes[i + 1]! < 0xa0) continue;
    const code = 0xd000 | ((bytes[i + 1]! & 63) << 6) | (bytes[i + 2]! & 63);
    result += bytes.toString('utf8', from, i) + String.fromCharCode(code);
    from = i + 3;
    i += 2;
  }
  return result + bytes.toString('utf8', from, end);
}
