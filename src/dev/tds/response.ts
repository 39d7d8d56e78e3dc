import type {
  Column,
  Parameter,
  RequestContext,
  ResponseSink,
  ServerMessage,
  SqlType,
  SqlValue,
  StatementDone,
} from '../sql-engine.js';
import { ByteWriter } from './bytes.js';
import type { MessageWriter } from './message-writer.js';
import {
  type Done,
  doneStatus,
  type RowWriter,
  rowWriter,
  tokenType,
  writeChange,
  writeColumns,
  writeDone,
  writeMessage,
  writeReturnValue,
} from './tokens.js';
import { codecOf } from './types.js';

/** What outlives a response. */
export interface WireSession {
  readonly out: MessageWriter;
  readonly serverName: string;
  /** The client takes NBCROW (TDS 7.3.B and up). */
  canCompress: boolean;
  /** The descriptor of the open transaction, 0 for none; and the last one given. */
  transaction: bigint;
  lastTransaction: bigint;
}

function descriptor(id: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(id);
  return bytes;
}
const none = Buffer.alloc(0);

/**
 * Turns what an engine says into tokens. Each DONE is kept until it is known whether another follows, for only
 * the last one must lack the MORE bit. After `abort`, nothing that the engine still says gets through.
 */
export class Response implements ResponseSink {
  readonly #wire: WireSession;
  readonly #controller = new AbortController();
  /** What the engine gets to see. */
  readonly context: RequestContext = { response: this, signal: this.#controller.signal };
  /** Those of the call under way; undefined in a batch. */
  #parameterNames: readonly string[] | undefined;
  #writeRow: RowWriter | undefined;
  #pending: Done | undefined;
  /** They come between RETURNSTATUS and DONEPROC, whichever the engine says first. */
  #returnValues: ((writer: ByteWriter) => void)[] = [];
  #depth = 0;
  #isClosed = false;
  /** Number of the last error of the call, or 0. */
  lastError = 0;
  /** An error of class 20 or more ends the connection. */
  isFatal = false;
  /** ATTENTION came: an acknowledgement is due after the end. */
  isCancelled = false;

  constructor(wire: WireSession) {
    this.#wire = wire;
  }

  /** A call of an RPC message: its parameters' names give the ordinals of return values. */
  beginCall(parameters: readonly Parameter[]): void {
    this.#parameterNames = parameters.map(({ name }) => name.toLowerCase());
    this.lastError = 0;
  }

  #token(write: (writer: ByteWriter) => void): void {
    if (this.#isClosed) return;
    this.#flushDone(doneStatus.more);
    const { tokens } = this.#wire.out;
    const start = tokens.length;
    try {
      write(tokens);
    } catch (error) {
      // A value that can't be written must not leave half a token behind.
      tokens.length = start;
      throw error;
    }
    this.#wire.out.wrote();
  }

  #flushDone(more: number): void {
    const done = this.#pending;
    if (!done) return;
    this.#pending = undefined;
    const { tokens } = this.#wire.out;
    if (done.type === tokenType.doneProc) for (const write of this.#returnValues.splice(0)) write(tokens);
    writeDone(tokens, { ...done, status: (done.status ?? 0) | more });
  }

  columns(columns: readonly Column[]): void {
    const codecs = columns.map(({ type, nullable }) => codecOf(type, nullable));
    this.#writeRow = rowWriter(columns, codecs, this.#wire.canCompress);
    this.#token((writer) => writeColumns(writer, columns, codecs));
  }

  row(values: readonly SqlValue[]): void {
    const writeRow = this.#rowWriter();
    this.#token((writer) => writeRow(writer, values));
  }

  block(rows: readonly (readonly SqlValue[])[]): () => void {
    const writeRow = this.#rowWriter();
    const block = new ByteWriter();
    for (const values of rows) writeRow(block, values);
    const bytes = block.buffer.subarray(0, block.length);
    return () => this.#token((writer) => writer.bytes(bytes));
  }

  #rowWriter(): RowWriter {
    if (!this.#writeRow) throw new Error('A row came before its columns.');
    return this.#writeRow;
  }

  statementDone({ rowCount, statement, failed }: StatementDone): void {
    this.#writeRow = undefined;
    const type = this.#depth > 0 ? tokenType.doneInProc : tokenType.done;
    const status = (rowCount === undefined ? 0 : doneStatus.count) | (failed ? doneStatus.error : 0);
    this.#token(() => {
      this.#pending = { type, status, statement, count: rowCount ?? 0 };
    });
  }

  procedureBegin(): void {
    this.#depth++;
  }

  /** Only the outermost procedure tells its status: clients take one for each call (MS-TDS 2.2.7.18). */
  procedureEnd(returnStatus: number): void {
    if (this.#isClosed) return;
    this.#depth--;
    if (this.#depth > 0) return;
    this.#writeRow = undefined;
    this.#token((writer) => {
      writer.u8(tokenType.returnStatus);
      writer.u32(returnStatus);
      this.#pending = { type: tokenType.doneProc, statement: 'procedure' };
    });
  }

  returnValue(name: string, type: SqlType, value: SqlValue): void {
    const ordinal = Math.max(0, this.#parameterNames?.indexOf(name.toLowerCase()) ?? 0);
    this.#returnValues.push((writer) => writeReturnValue(writer, ordinal, name, type, value));
  }

  message(message: ServerMessage): void {
    if (this.#isClosed) return;
    if (message.class > 10) this.lastError = message.number;
    if (message.class >= 20) this.isFatal = true;
    this.#token((writer) => writeMessage(writer, message, this.#wire.serverName));
  }

  transaction(event: 'begin' | 'commit' | 'rollback'): void {
    const wire = this.#wire;
    const ended = wire.transaction;
    wire.transaction = event === 'begin' ? ++wire.lastTransaction : 0n;
    const [to, from] = event === 'begin' ? [descriptor(wire.transaction), none] : [none, descriptor(ended)];
    this.#token((writer) => writeChange(writer, event, to, from));
  }

  /** RESETCONNECTION is done, and may have changed the database. */
  resetDone(from: string, to: string): void {
    if (to !== from) this.#token((writer) => writeChange(writer, 'database', to, from));
    this.#token((writer) => writeChange(writer, 'reset'));
  }

  drained(): Promise<void> | undefined {
    return this.#isClosed ? undefined : this.#wire.out.drained();
  }

  flush(): void {
    if (!this.#isClosed) this.#wire.out.flush();
  }

  /** The engine is told to stop, and is heard no more; its last token stays whole. */
  abort(): void {
    this.#isClosed = true;
    this.#controller.abort();
  }

  /**
   * Ends the message with the DONE that is due, without which the client would wait for ever: that of the batch, or
   * the DONEPROC of a call that was broken off between its statements.
   */
  end(): void {
    this.#isClosed = true;
    if (!this.#pending || this.#pending.type === tokenType.doneInProc) {
      this.#flushDone(doneStatus.more);
      const isAmidCall = this.#parameterNames !== undefined && this.#depth > 0;
      const type = isAmidCall ? tokenType.doneProc : tokenType.done;
      this.#pending = { type, status: this.lastError ? doneStatus.error : 0 };
    }
    this.#flushDone(0);
    this.#wire.out.end();
  }
}
