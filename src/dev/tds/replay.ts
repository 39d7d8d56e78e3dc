import type { Column, Parameter, RequestContext, SqlEngine, SqlType, SqlValue } from '../sql-engine.js';
import { ByteWriter } from './bytes.js';
import { ticksPerDay } from './payloads.js';
import { RequestError } from './request-error.js';
import { Response } from './response.js';
import { rowWriter } from './tokens.js';
import { codecOf } from './types.js';
import { wrapSession } from './wrapped-session.js';

interface Mix {
  readonly columns: readonly Column[];
  /** The nth row, from 1. */
  readonly row: (n: number) => readonly SqlValue[];
}

const column = (name: string, type: SqlType, nullable = false): Column => ({ name, type, nullable });
const nvarchar = (length: number): SqlType => ({ name: 'nvarchar', length });
const firstDay = 738_000;

const mixes: Record<string, Mix> = {
  strings: {
    columns: [
      column('Id', { name: 'int' }),
      column('Name', nvarchar(100)),
      column('Url', nvarchar(200)),
      column('Author', nvarchar(50), true),
      column('Code', { name: 'varchar', length: 20 }),
      column('Rating', { name: 'int' }),
    ],
    row: (n) => [
      n,
      `Reading rows, part ${n}`,
      `https://blogs.example.com/2026/reading-rows-part-${n}`,
      n % 5 === 0 ? null : 'Zoë Müller',
      `B-${String(n).padStart(6, '0')}`,
      n % 6,
    ],
  },
  numbers: {
    columns: [
      column('Id', { name: 'int' }),
      column('Big', { name: 'bigint' }),
      column('Price', { name: 'decimal', precision: 18, scale: 4 }),
      column('Ratio', { name: 'float' }, true),
      column('Created', { name: 'datetime2', scale: 7 }),
      column('Day', { name: 'date' }, true),
    ],
    row: (n) => [
      n,
      9_007_199_254_740_993n + BigInt(n),
      BigInt(n) * 12_345n,
      n % 5 === 0 ? null : n / 7,
      BigInt(firstDay + n) * ticksPerDay + 372_301_234_567n,
      n % 7 === 0 ? null : firstDay + n,
    ],
  },
};

/** Rows that repeat. Their blocks are about 32 KB: whole packets, and short enough to pause between. */
const distinctRows = 256;

const recordings = new Map<Mix, Buffer>();

/** The distinct rows as ROW tokens. */
function recordingOf(mix: Mix): Buffer {
  const known = recordings.get(mix);
  if (known) return known;
  const writer = new ByteWriter(65_536);
  const codecs = mix.columns.map(({ type, nullable }) => codecOf(type, nullable));
  const write = rowWriter(mix.columns, codecs, false);
  for (let n = 1; n <= distinctRows; n++) write(writer, mix.row(n));
  const recording = Buffer.from(writer.buffer.subarray(0, writer.length));
  recordings.set(mix, recording);
  return recording;
}

/** Sends `rows` rows of six columns; the 256 distinct ones repeat. Stops when aborted, waits for a slow reader. */
async function replay({ rows, mix }: Order, { response, signal }: RequestContext): Promise<void> {
  // Encoded rows are the wire's own: the replay stands next to it, with no other engine between.
  if (!(response instanceof Response)) throw new TypeError('withReplay must be the outermost engine.');
  const recording = recordingOf(mix);
  response.columns(mix.columns);
  let turn = performance.now();
  for (let left = rows; left >= distinctRows; left -= distinctRows) {
    response.encodedRows(recording);
    await response.drained();
    if (signal.aborted) return;
    // A reader that keeps up never lets the loop above leave the turn; an ATTENTION could not come in.
    if (performance.now() - turn > 8) {
      await new Promise(setImmediate);
      turn = performance.now();
    }
  }
  for (let n = 1; n <= rows % distinctRows; n++) response.row(mix.row(n));
  response.statementDone({ statement: 'select', rowCount: rows });
}

interface Order {
  readonly rows: number;
  readonly mix: Mix;
}
type Given = Pick<Parameter, 'name' | 'value'>;

/** Throws a RequestError. */
function orderOf(given: readonly Given[]): Order {
  const values: Record<string, SqlValue> = { rows: 1_000_000, mix: 'strings' };
  for (const [index, { name, value }] of given.entries()) {
    const known = name === '' ? ['rows', 'mix'][index] : name.slice(1).toLowerCase();
    if (known === undefined || !Object.hasOwn(values, known))
      throw new RequestError(50000, `dev.replay has no parameter ${name}; it has @rows and @mix.`);
    if (value !== null) values[known] = value;
  }
  const rows = Number(values['rows']);
  const mix = mixes[String(values['mix']).toLowerCase()];
  if (!Number.isSafeInteger(rows) || rows < 0)
    throw new RequestError(50000, `@rows must be a whole number; it is '${values['rows']}'.`);
  if (!mix) throw new RequestError(50000, `@mix must be 'strings' or 'numbers'; it is '${values['mix']}'.`);
  return { rows, mix };
}

const name = /^\[?dev\]?\.\[?replay\]?$/i;
const call = /^\s*exec(?:ute)?\s+\[?dev\]?\.\[?replay\]?\s*([\s\S]*?);?\s*$/i;
const argument = /^\s*(?:(@\w+)\s*=\s*)?(?:(\d+)|N?'(\w*)'|(@\w+))\s*$/i;

/** `exec dev.replay @rows = 1000, @mix = 'numbers'`; values may be parameters of the statement. */
function orderOfText(list: string, parameters: readonly Parameter[]): Order {
  const parts = list === '' ? [] : list.split(',');
  return orderOf(
    parts.map((part) => {
      const [, name = '', number, text, variable] = argument.exec(part) ?? [];
      const found = parameters.find((parameter) => parameter.name.toLowerCase() === variable?.toLowerCase());
      const value = number ?? text ?? found?.value;
      if (value !== undefined) return { name, value };
      throw new RequestError(50000, `The argument '${part.trim()}' of dev.replay can't be read.`);
    }),
  );
}

/**
 * The engine with the procedure `dev.replay` (@rows int = 1000000, @mix varchar(7) = 'strings' | 'numbers'): rows
 * encoded beforehand, in a loop, for measurements in which the server must not be the limit. By name as an RPC, or as
 * the only statement of a batch or of sp_executesql.
 */
export function withReplay(engine: SqlEngine): SqlEngine {
  const asProcedure = async (order: Order, context: RequestContext): Promise<void> => {
    context.response.procedureBegin();
    await replay(order, context);
    context.response.procedureEnd(0);
  };
  return {
    async login(login) {
      const inner = await engine.login(login);
      return wrapSession(inner, {
        async batch(sql, context) {
          const list = call.exec(sql)?.[1];
          if (list === undefined) return inner.batch(sql, context);
          return asProcedure(orderOfText(list, []), context);
        },
        async execute(sql, declarations, parameters, context) {
          const list = call.exec(sql)?.[1];
          if (list === undefined) return inner.execute(sql, declarations, parameters, context);
          return replay(orderOfText(list, parameters), context);
        },
        async procedure(called, parameters, context) {
          if (!name.test(called)) return inner.procedure(called, parameters, context);
          return asProcedure(orderOf(parameters), context);
        },
      });
    },
    close: () => engine.close(),
  };
}
