import { codecOf } from './column-codec.js';
import type { Column, ResponseSink, ServerMessage, SqlType, SqlValue, StatementDone } from './engine.js';
import type { MessageWriter } from './message-writer.js';
import {
  doneStatus,
  envChange,
  type RowWriter,
  rowWriter,
  tokenType,
  writeBinaryChange,
  writeColumns,
  writeDone,
  writeMessage,
  writeReturnValue,
  writeTextChange,
} from './tokens.js';

interface PendingDone {
  readonly type: number;
  readonly status: number;
  readonly statement: StatementDone['statement'] | 'procedure';
  readonly count: number;
}
interface ReturnValue {
  readonly ordinal: number;
  readonly name: string;
  readonly type: SqlType;
  readonly value: SqlValue;
}

/** What outlives a response: the wire session's open transaction. */
export interface TransactionState {
  /** The descriptor of the open transaction; 0 for none. */
  current: bigint;
  last: bigint;
}

const nothing = new Uint8Array(0);
function descriptor(id: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(id);
  return bytes;
}

/**
 * Turns what an engine says into tokens. Each DONE is kept until it is known whether another follows, for only
 * the last one must lack the MORE bit. After `close`, nothing that the engine still says gets through.
 */
export class Response implements ResponseSink {
  readonly #out: MessageWriter;
  readonly #serverName: string;
  readonly #transaction: TransactionState;
  readonly #canCompress: boolean;
  /** Names of the request's parameters, in order: the ordinals of return values. */
  parameterNames: readonly string[] = [];
  #writeRow: RowWriter | undefined;
  #pending: PendingDone | undefined;
  #returnValues: ReturnValue[] = [];
  #depth = 0;
  #isClosed = false;
  /** Number of the last error, or 0. */
  lastError = 0;
  /** An error of class 20 or more ends the connection. */
  isFatal = false;
  readonly #reset: () => void;

  constructor(
    out: MessageWriter,
    serverName: string,
    transaction: TransactionState,
    canCompress: boolean,
    reset: () => void,
  ) {
    this.#out = out;
    this.#serverName = serverName;
    this.#transaction = transaction;
    this.#canCompress = canCompress;
    this.#reset = reset;
  }

  #token(write: () => void): void {
    if (this.#isClosed) return;
    this.#flushDone(doneStatus.more);
    const { tokens } = this.#out;
    const start = tokens.length;
    try {
      write();
    } catch (error) {
      // A value that can't be written must not leave half a token behind.
      tokens.length = start;
      throw error;
    }
    this.#out.wrote();
  }

  #flushDone(more: number): void {
    const done = this.#pending;
    if (!done) return;
    this.#pending = undefined;
    writeDone(this.#out.tokens, done.type, done.status | more, done.statement, done.count);
  }

  columns(columns: readonly Column[]): void {
    const codecs = columns.map(({ type, nullable }) => codecOf(type, nullable));
    this.#writeRow = rowWriter(columns, codecs, this.#canCompress);
    this.#token(() => writeColumns(this.#out.tokens, columns, codecs));
  }

  row(values: readonly SqlValue[]): void {
    if (this.#isClosed) return;
    if (!this.#writeRow) throw new Error('A row came before its columns.');
    const { tokens } = this.#out;
    const start = tokens.length;
    try {
      this.#writeRow(tokens, values);
    } catch (error) {
      tokens.length = start;
      throw error;
    }
    this.#out.wrote();
  }

  encodedRows(rows: Uint8Array): void {
    if (this.#isClosed) return;
    if (!this.#writeRow) throw new Error('Rows came before their columns.');
    this.#out.tokens.bytes(rows);
    this.#out.wrote();
  }

  statementDone({ rowCount, statement, failed }: StatementDone): void {
    this.#writeRow = undefined;
    const type = this.#depth > 0 ? tokenType.doneInProc : tokenType.done;
    const status = (rowCount === undefined ? 0 : doneStatus.count) | (failed ? doneStatus.error : 0);
    this.#done({ type, status, statement, count: rowCount ?? 0 });
  }

  #done(done: PendingDone): void {
    if (this.#isClosed) return;
    this.#flushDone(doneStatus.more);
    this.#pending = done;
    this.#out.wrote();
  }

  procedureBegin(): void {
    this.#depth++;
  }

  /** Only the outermost procedure tells its status: clients take one for each call (MS-TDS 2.2.7.18). */
  procedureEnd(returnStatus: number): void {
    this.#depth--;
    if (this.#depth > 0) return;
    this.#writeRow = undefined;
    this.#token(() => {
      this.#out.tokens.u8(tokenType.returnStatus);
      this.#out.tokens.u32(returnStatus);
    });
    for (const value of this.#returnValues.splice(0)) this.#writeReturnValue(value);
    this.#done({ type: tokenType.doneProc, status: 0, statement: 'procedure', count: 0 });
  }

  returnValue(name: string, type: SqlType, value: SqlValue): void {
    const lower = name.toLowerCase();
    const found = this.parameterNames.findIndex((parameter) => parameter.toLowerCase() === lower);
    const returned = { ordinal: Math.max(0, found), name, type, value };
    // Between RETURNSTATUS and DONEPROC, whichever the engine says first.
    if (this.#pending?.type === tokenType.doneProc) this.#writeReturnValue(returned);
    else this.#returnValues.push(returned);
  }

  #writeReturnValue({ ordinal, name, type, value }: ReturnValue): void {
    const done = this.#pending;
    this.#pending = undefined;
    this.#token(() => writeReturnValue(this.#out.tokens, ordinal, name, type, value));
    this.#pending = done;
  }

  message(message: ServerMessage): void {
    if (this.#isClosed) return;
    if (message.class > 10) this.lastError = message.number;
    if (message.class >= 20) this.isFatal = true;
    this.#token(() => writeMessage(this.#out.tokens, message, this.#serverName));
  }

  databaseChanged(from: string, to: string): void {
    this.#token(() => writeTextChange(this.#out.tokens, envChange.database, to, from));
  }

  transaction(event: 'begin' | 'commit' | 'rollback'): void {
    const state = this.#transaction;
    if (event === 'begin') {
      state.last++;
      state.current = state.last;
      this.#token(() =>
        writeBinaryChange(this.#out.tokens, envChange.begin, descriptor(state.last), nothing),
      );
      return;
    }
    const ended = descriptor(state.current);
    state.current = 0n;
    this.#token(() => writeBinaryChange(this.#out.tokens, envChange[event], nothing, ended));
  }

  resetDone(): void {
    this.#token(() => writeBinaryChange(this.#out.tokens, envChange.reset, nothing, nothing));
  }

  drained(): Promise<void> | undefined {
    return this.#isClosed ? undefined : this.#out.drained();
  }

  flush(): void {
    if (!this.#isClosed) this.#out.flush();
  }

  reset(): void {
    this.#reset();
  }

  /** The engine is heard no more; its last token stays whole. */
  close(): void {
    this.#isClosed = true;
  }

  /** Ends the message, with the DONE that is due. */
  end(): void {
    this.#isClosed = true;
    // Without a DONE the client would wait for ever.
    if (!this.#pending) {
      const type = this.#depth > 0 ? tokenType.doneProc : tokenType.done;
      const status = this.lastError ? doneStatus.error : 0;
      this.#pending = { type, status, statement: 'other', count: 0 };
    }
    this.#flushDone(0);
    this.#out.end();
  }
}
