/** A SQL engine of a few commands, to test the wire without SQL. */
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Column,
  EngineSession,
  Login,
  Parameter,
  RequestContext,
  ServerMessage,
  SqlEngine,
  SqlValue,
} from '../../src/dev/sql-engine.js';

export const credentials = { user: 'sa', password: 'Pässword{1};' };

export function message(number: number, text: string, severity = 16): ServerMessage {
  return { number, state: 1, class: severity, message: text, line: 1 };
}

/** Sends one recordset. */
export function recordset(
  { response }: RequestContext,
  columns: readonly Column[],
  rows: readonly (readonly SqlValue[])[],
): void {
  response.columns(columns);
  for (const row of rows) response.row(row);
  response.statementDone({ statement: 'select', rowCount: rows.length });
}

export type Command = (context: RequestContext, argument: string, session: TestSession) => Promise<void>;

const int: Column = { name: 'n', type: { name: 'int' }, nullable: false };
const text: Column = { name: 'text', type: { name: 'nvarchar', length: 100 }, nullable: true };

export const commands: Record<string, Command> = {
  select: async (context, argument) => recordset(context, [int], [[Number(argument) | 0]]),
  /** `rows 1000`: as many, with backpressure. */
  rows: async (context, argument, session) => {
    const { response, signal } = context;
    response.columns([int, text]);
    for (let n = 0; n < Number(argument) && !signal.aborted; n++) {
      response.row([n, n % 3 === 0 ? null : `row ${n}`]);
      session.rows = n + 1;
      await response.drained();
      if (n % 1000 === 999) await new Promise(setImmediate);
    }
    response.statementDone({ statement: 'select', rowCount: Number(argument) | 0 });
  },
  wait: async ({ response, signal }, argument) => {
    await sleep(Number(argument), undefined, { signal }).catch(() => {});
    if (!signal.aborted) response.statementDone({ statement: 'other' });
  },
  error: async ({ response }, argument) => {
    response.message(message(Number(argument), 'as asked'));
    response.statementDone({ statement: 'other', failed: true });
  },
  fatal: async ({ response }) => {
    response.message(message(596, 'The session is killed.', 21));
  },
  print: async ({ response }, argument) => {
    response.message(message(0, argument, 0));
  },
  affect: async ({ response }, argument) => {
    response.statementDone({ statement: 'update', rowCount: Number(argument) | 0 });
  },
  /** A procedure run from a batch. */
  proc: async (context) => {
    context.response.procedureBegin();
    await commands['select']!(context, '1', undefined as unknown as TestSession);
    await commands['affect']!(context, '5', undefined as unknown as TestSession);
    context.response.procedureEnd(3);
  },
  bug: async ({ response }) => {
    response.columns([int]);
    response.row([1.5]);
  },
  set: async () => {},
  use: async (_, argument, session) => {
    session.database = argument;
  },
};

export class TestSession implements EngineSession {
  readonly id = 51;
  database: string;
  rows = 0;
  /** Texts of the batches that reached the engine. */
  readonly batches: string[] = [];
  isClosed = false;
  resets: boolean[] = [];
  readonly #engine: TestEngine;
  readonly #home: string;

  constructor(engine: TestEngine, database: string) {
    this.#engine = engine;
    this.#home = database;
    this.database = database;
  }

  async batch(sql: string, context: RequestContext): Promise<void> {
    if (/^\s*set /i.test(sql)) return;
    this.batches.push(sql);
    for (const line of sql.split(';')) {
      if (context.signal.aborted || line.trim() === '') continue;
      const [, name = '', argument = ''] = /^\s*(\w+)\s*(.*?)\s*$/s.exec(line) ?? [];
      const command = this.#engine.commands[name.toLowerCase()];
      if (!command) context.response.message(message(2812, `Could not find stored procedure '${name}'.`));
      else await command(context, argument, this);
    }
  }

  /** Gives the parameters back: as a row, and those asked for as output. */
  async execute(
    sql: string,
    declarations: string,
    parameters: readonly Parameter[],
    context: RequestContext,
  ): Promise<void> {
    this.#engine.executions.push({ sql, declarations, parameters });
    if (sql !== 'echo') return this.batch(sql, context);
    const columns = parameters.map(({ name, type }) => ({ name: name.slice(1), type, nullable: true }));
    recordset(context, columns, [parameters.map(({ value }) => value)]);
    for (const { name, type, value, output } of parameters) {
      if (output) context.response.returnValue(name, type, value);
    }
  }

  async procedure(name: string, parameters: readonly Parameter[], context: RequestContext): Promise<void> {
    const { response } = context;
    if (!/^(\[?dbo\]?\.)?\[?echo\]?$/i.test(name)) {
      response.message(message(2812, `Could not find stored procedure '${name}'.`));
      return;
    }
    response.procedureBegin();
    await this.execute('echo', '', parameters, context);
    response.procedureEnd(7);
  }

  async transaction(request: string, name: string, { response }: RequestContext): Promise<void> {
    this.#engine.transactions.push(name ? `${request} ${name}` : request);
    if (request !== 'save') response.transaction(request as 'begin' | 'commit' | 'rollback');
  }

  async reset(keepTransaction = false): Promise<void> {
    this.resets.push(keepTransaction);
    this.database = this.#home;
  }

  close(): void {
    this.isClosed = true;
  }
}

export class TestEngine implements SqlEngine {
  readonly commands: Record<string, Command>;
  readonly sessions: TestSession[] = [];
  readonly logins: Login[] = [];
  readonly executions: { sql: string; declarations: string; parameters: readonly Parameter[] }[] = [];
  readonly transactions: string[] = [];

  constructor(more: Record<string, Command> = {}) {
    this.commands = { ...commands, ...more };
  }

  async login(login: Login): Promise<EngineSession> {
    this.logins.push(login);
    if (login.user !== credentials.user || login.password !== credentials.password) {
      throw { ...message(18456, `Login failed for user '${login.user}'.`, 14), loginRefusal: true };
    }
    const session = new TestSession(this, login.database || 'master');
    this.sessions.push(session);
    return session;
  }

  async close(): Promise<void> {}
}
