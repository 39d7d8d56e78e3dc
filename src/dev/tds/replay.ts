import { ByteWriter } from './byte-writer.js';
import { codecOf } from './column-codec.js';
import type {
  Column,
  EngineSession,
  Login,
  Parameter,
  RequestContext,
  SqlEngine,
  SqlType,
  SqlValue,
} from './engine.js';
import { rowWriter } from './tokens.js';
import { ticksPerDay } from './type-tokens.js';

export type Mix = 'strings' | 'numbers';

const column = (name: string, type: SqlType, nullable = false): Column => ({ name, type, nullable });
const nvarchar = (length: number): SqlType => ({ name: 'nvarchar', length });

const columns: Record<Mix, readonly Column[]> = {
  strings: [
    column('Id', { name: 'int' }),
    column('Name', nvarchar(100)),
    column('Url', nvarchar(200)),
    column('Author', nvarchar(50), true),
    column('Code', { name: 'varchar', length: 20 }),
    column('Rating', { name: 'int' }),
  ],
  numbers: [
    column('Id', { name: 'int' }),
    column('Big', { name: 'bigint' }),
    column('Price', { name: 'decimal', precision: 18, scale: 4 }),
    column('Ratio', { name: 'float' }, true),
    column('Created', { name: 'datetime2', scale: 7 }),
    column('Day', { name: 'date' }, true),
  ],
};

const firstDay = 738_000;
const values: Record<Mix, (n: number) => readonly SqlValue[]> = {
  strings: (n) => [
    n,
    `Reading rows, part ${n}`,
    `https://blogs.example.com/2026/reading-rows-part-${n}`,
    n % 5 === 0 ? null : 'Zoë Müller',
    `B-${String(n).padStart(6, '0')}`,
    n % 6,
  ],
  numbers: (n) => [
    n,
    9_007_199_254_740_993n + BigInt(n),
    BigInt(n) * 12_345n,
    n % 5 === 0 ? null : n / 7,
    BigInt(firstDay + n) * ticksPerDay + 372_301_234_567n,
    n % 7 === 0 ? null : firstDay + n,
  ],
};

/** Rows that repeat. Their blocks are about 32 KB: whole packets, and short enough to pause between. */
const distinctRows = 256;

interface Recording {
  readonly tokens: Buffer;
  /** Where each row ends. */
  readonly ends: readonly number[];
}
const recordings = new Map<Mix, Recording>();

function recordingOf(mix: Mix): Recording {
  const known = recordings.get(mix);
  if (known) return known;
  const writer = new ByteWriter(65_536);
  const codecs = columns[mix].map(({ type, nullable }) => codecOf(type, nullable));
  const write = rowWriter(columns[mix], codecs, false);
  const ends: number[] = [];
  for (let n = 1; n <= distinctRows; n++) {
    write(writer, values[mix](n));
    ends.push(writer.length);
  }
  const recording = { tokens: Buffer.from(writer.buffer.subarray(0, writer.length)), ends };
  recordings.set(mix, recording);
  return recording;
}

/** Sends `rows` rows of six columns; the 256 distinct ones repeat. Stops when aborted, waits for a slow reader. */
export async function replay(rows: number, mix: Mix, { response, signal }: RequestContext): Promise<void> {
  const { tokens, ends } = recordingOf(mix);
  response.columns(columns[mix]);
  let turn = performance.now();
  for (let left = rows; left > 0; left -= distinctRows) {
    const count = Math.min(left, distinctRows);
    response.encodedRows(tokens.subarray(0, ends[count - 1]), count);
    await response.drained();
    if (signal.aborted) return;
    // A reader that keeps up never lets the loop above leave the turn; an ATTENTION could not come in.
    if (performance.now() - turn > 8) {
      await new Promise(setImmediate);
      turn = performance.now();
    }
  }
  response.statementDone({ statement: 'select', rowCount: rows });
}

const call = /^\s*exec(?:ute)?\s+\[?dev\]?\.\[?replay\]?\s*([\s\S]*?);?\s*$/i;
const argument = /^\s*(?:@(\w+)\s*=\s*)?(?:(\d+)|N?'(\w*)'|(@\w+))\s*$/i;

interface Order {
  readonly rows: number;
  readonly mix: Mix;
}

function orderOf(named: ReadonlyMap<string, SqlValue>): Order | string {
  const rows = Number(named.get('rows') ?? 1_000_000);
  const mix = String(named.get('mix') ?? 'strings').toLowerCase();
  if (!Number.isSafeInteger(rows) || rows < 0)
    return `@rows must be a whole number; it is '${named.get('rows')}'.`;
  if (mix !== 'strings' && mix !== 'numbers') return `@mix must be 'strings' or 'numbers'; it is '${mix}'.`;
  for (const name of named.keys()) {
    if (name !== 'rows' && name !== 'mix')
      return `dev.replay has no parameter @${name}; it has @rows and @mix.`;
  }
  return { rows, mix };
}

const positions = ['rows', 'mix'];

function orderOfParameters(parameters: readonly Parameter[]): Order | string {
  const named = parameters.map(
    ({ name, value }, index) =>
      [name.slice(1).toLowerCase() || (positions[index] ?? String(index)), value] as const,
  );
  return orderOf(new Map(named.filter(([, value]) => value !== null)));
}

/** `exec dev.replay @rows = 1000, @mix = 'numbers'`; values may be parameters of the statement. */
function orderOfText(list: string, parameters: readonly Parameter[]): Order | string {
  const named = new Map<string, SqlValue>();
  if (list === '') return orderOf(named);
  for (const [index, part] of list.split(',').entries()) {
    const [, name, number, text, variable] = argument.exec(part) ?? [];
    const value =
      variable === undefined
        ? (number ?? text)
        : parameters.find((parameter) => parameter.name.toLowerCase() === variable.toLowerCase())?.value;
    if (value === undefined) return `The argument '${part.trim()}' of dev.replay can't be read.`;
    if (value !== null) named.set(name?.toLowerCase() ?? positions[index] ?? String(index), value);
  }
  return orderOf(named);
}

async function serve(order: Order | string, context: RequestContext): Promise<void> {
  if (typeof order !== 'string') return replay(order.rows, order.mix, context);
  context.response.message({ number: 50000, state: 1, class: 16, message: order, line: 1 });
  context.response.statementDone({ statement: 'other', failed: true });
}

/**
 * Serves the procedure `dev.replay` (@rows int = 1000000, @mix varchar(7) = 'strings' | 'numbers'): rows encoded
 * beforehand, in a loop, for measurements in which the server must not be the limit. By name as an RPC, or as the
 * only statement of a batch or of sp_executesql. All else goes to `inner`.
 */
export class ReplayEngine implements SqlEngine {
  readonly #inner: SqlEngine;

  constructor(inner: SqlEngine = new QuietEngine()) {
    this.#inner = inner;
  }

  async login(login: Login): Promise<EngineSession> {
    return new ReplaySession(await this.#inner.login(login));
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

class ReplaySession implements EngineSession {
  readonly #inner: EngineSession;
  readonly transaction: EngineSession['transaction'];
  readonly reset: EngineSession['reset'];
  readonly close: EngineSession['close'];

  constructor(inner: EngineSession) {
    this.#inner = inner;
    this.transaction = inner.transaction.bind(inner);
    this.reset = inner.reset.bind(inner);
    this.close = inner.close.bind(inner);
  }

  get id(): number {
    return this.#inner.id;
  }

  get database(): string {
    return this.#inner.database;
  }

  async batch(sql: string, context: RequestContext): Promise<void> {
    const list = call.exec(sql)?.[1];
    if (list === undefined) return this.#inner.batch(sql, context);
    context.response.procedureBegin();
    await serve(orderOfText(list, []), context);
    context.response.procedureEnd(0);
  }

  async execute(
    sql: string,
    declarations: string,
    parameters: readonly Parameter[],
    context: RequestContext,
  ): Promise<void> {
    const list = call.exec(sql)?.[1];
    if (list === undefined) return this.#inner.execute(sql, declarations, parameters, context);
    await serve(orderOfText(list, parameters), context);
  }

  async procedure(name: string, parameters: readonly Parameter[], context: RequestContext): Promise<void> {
    if (!/^\[?dev\]?\.\[?replay\]?$/i.test(name)) return this.#inner.procedure(name, parameters, context);
    context.response.procedureBegin();
    await serve(orderOfParameters(parameters), context);
    context.response.procedureEnd(0);
  }
}

/** Lets everybody in and takes the SET statements of drivers; it has nothing else. */
class QuietEngine implements SqlEngine {
  async login(login: Login): Promise<EngineSession> {
    return new QuietSession(login.database || 'master');
  }

  async close(): Promise<void> {}
}

class QuietSession implements EngineSession {
  readonly id = 51;
  readonly database: string;

  constructor(database: string) {
    this.database = database;
  }

  async batch(sql: string, context: RequestContext): Promise<void> {
    if (!/^\s*set\b/i.test(sql)) refuse(context);
  }

  async execute(
    _sql: string,
    _declarations: string,
    _parameters: readonly Parameter[],
    context: RequestContext,
  ) {
    refuse(context);
  }

  async procedure(_name: string, _parameters: readonly Parameter[], context: RequestContext): Promise<void> {
    refuse(context);
  }

  async transaction(
    request: 'begin' | 'commit' | 'rollback' | 'save',
    _name: string,
    context: RequestContext,
  ): Promise<void> {
    if (request === 'save') refuse(context);
    else context.response.transaction(request);
  }

  async reset(): Promise<void> {}

  close(): void {}
}

function refuse({ response }: RequestContext): void {
  const message = 'This server has nothing but the procedure dev.replay.';
  response.message({ number: 40510, state: 1, class: 16, message, line: 1 });
}
