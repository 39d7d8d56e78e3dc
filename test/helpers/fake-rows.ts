/** Row sources made of nothing but code, for what the HTTP side does with them. */

import type { ColumnInfo, Row, RowSource, RowStats, RowWriter } from '../../src/sql/index.js';
import { plainRowBytes } from '../../src/sql/index.js';

export interface FakeRows {
  /** Called for each chunk or row; what it throws is the error of the command. Undefined is the end. */
  readonly next: (index: number) => string | undefined | Promise<string | undefined>;
  readonly columns?: readonly ColumnInfo[];
}

export interface FakeSource extends RowSource {
  cancelled: boolean;
  /** Chunks or rows asked for. */
  asked: number;
}

export const intColumn: ColumnInfo = { name: 'Id', type: 'int', nullable: false };

/** Each text is a row's JSON, and a chunk of its own; `chunks` adds the framing. */
export function fakeSource({ next, columns = [intColumn] }: FakeRows): FakeSource {
  let ended: RowStats['ended'];
  let rows = 0;
  let exhausted = false;
  const source: FakeSource = {
    columns,
    cancelled: false,
    asked: 0,
    get stats() {
      return {
        rows,
        bytes: 0,
        recordsets: 1,
        attempts: 1,
        acquireMs: 1,
        firstRowMs: 2,
        endMs: ended && 3,
        ended,
      };
    },
    get exhausted() {
      return exhausted;
    },
    async *chunks(writer: RowWriter) {
      for await (const text of texts()) {
        yield Buffer.from(`${rows === 1 ? writer.open : writer.separator}${text}${writer.rowEnd.slice(1)}`);
      }
      ended = 'complete';
      exhausted = true;
      yield Buffer.from(`${rows === 0 ? writer.open : ''}${writer.close}`);
    },
    async *rows(onEnd) {
      let failure: unknown;
      try {
        for await (const text of texts()) yield JSON.parse(text) as Row;
        ended = 'complete';
      } catch (error) {
        failure = error;
        throw error;
      } finally {
        onEnd?.(failure);
      }
    },
    rowBytes: plainRowBytes,
    async cancel() {
      source.cancelled = true;
      ended ??= 'cancelled';
    },
  };
  async function* texts() {
    try {
      for (;;) {
        const text = await next(source.asked++);
        if (text === undefined) return;
        rows += 1;
        yield text;
      }
    } finally {
      if (!ended) await source.cancel();
    }
  }
  return source;
}
