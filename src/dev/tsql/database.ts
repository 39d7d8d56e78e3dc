import type { EngineSession, LoginRefusal, Parameter, RequestContext, SqlEngine } from '../sql-engine.js';
import { changeStatements } from './changes.js';
import { controlStatements, transaction } from './control.js';
import { definitionStatements } from './definitions.js';
import { asSqlError, Cancelled, fail, refuse, sqlError } from './errors.js';
import { isSame, splitName } from './names.js';
import { type Argument, callProcedure, procedureStatements, runText } from './procedures.js';
import { type BuiltInProcedure, datetimeNow, type Frame, Session, type Shared, slices } from './session.js';
import { Sqlite } from './sqlite.js';
import { addStatements, parseBatch, runStatements } from './statements.js';
import { typesProcedure } from './types-procedure.js';

export type { BuiltInProcedure } from './session.js';

export interface DatabaseOptions {
  readonly user: string;
  readonly password: string;
  /** Names of the databases; default master, tempdb and Blogs. The last one is where logins without a database go. */
  readonly databases?: readonly string[];
  /** Procedures beside those of the database, by name (`dev.fault_add`). */
  readonly procedures?: Readonly<Record<string, BuiltInProcedure>>;
}

addStatements({ ...controlStatements, ...changeStatements, ...definitionStatements, ...procedureStatements });

/** An empty server in memory. Sessions share its data; nothing outlives the process. */
export async function createDatabase(options: DatabaseOptions): Promise<SqlEngine> {
  const { user, password, databases = ['master', 'tempdb', 'Blogs'], procedures } = options;
  const shared: Shared = {
    sqlite: await Sqlite.open(),
    databases: databases.map((name) => ({ name, tables: new Map(), procedures: new Map() })),
    sessions: new Map(),
    builtIns: new Map(Object.entries({ 'dev.types': typesProcedure, ...procedures })),
    garbage: [],
    readers: [],
    waiting: new Set(),
    owner: undefined,
    lastId: 1_013_578_649,
  };
  // SQL Server gives the ids up to 50 to itself.
  let lastId = 50;
  return {
    login: async (login) => {
      const isUser = isSame(login.user, user) && login.password === password;
      if (!isUser) throw refusal(18456, login.user);
      const name = login.database || databases.at(-1)!;
      const home = shared.databases.find((database) => isSame(database.name, name));
      if (!home) throw refusal(4060, name);
      do lastId = lastId >= 32_767 ? 51 : lastId + 1;
      while (shared.sessions.has(lastId));
      const session = new Session(lastId, login, home, shared);
      shared.sessions.set(session.id, session);
      return engineSession(session);
    },
    close: async () => {
      shared.sessions.clear();
      shared.sqlite.close();
    },
  };
}

const refusal = (number: number, name: string): LoginRefusal => ({
  ...sqlError(number, name).toMessage(),
  loginRefusal: true,
});

/** Runs one request; whatever goes wrong becomes a message. */
async function request(
  session: Session,
  text: string,
  { response, signal }: RequestContext,
  body: (frame: Frame) => unknown,
): Promise<void> {
  session.request = { text, startTime: datetimeNow(), command: 'BATCH', waitType: null };
  session.nesting = 0;
  const start = { variables: new Map(), procedure: undefined, tries: 0, caught: undefined };
  try {
    await body({ session, response, signal, pause: slices(signal), ...start });
    if (!session.isDoomed) return;
    session.end('ROLLBACK');
    response.transaction('rollback');
    fail(3998);
  } catch (error) {
    if (error instanceof Cancelled || signal.aborted) {
      // Without XACT_ABORT, ATTENTION leaves the transaction open (SET XACT_ABORT).
      if (session.options.xactAbort && session.end('ROLLBACK')) response.transaction('rollback');
      return;
    }
    const known = asSqlError(error);
    known.line ||= 1;
    session.lastError = known.number;
    response.message(known.toMessage());
    response.statementDone({ statement: 'other', failed: true });
  } finally {
    session.request = undefined;
  }
}

function engineSession(session: Session): EngineSession {
  let isClosed = false;
  const end = (): void => {
    session.reset();
    session.shared.sessions.delete(session.id);
  };
  const run = async (
    text: string,
    context: RequestContext,
    body: (frame: Frame) => unknown,
  ): Promise<void> => {
    await request(session, text, context, body);
    if (isClosed) end();
  };
  /** Runs a body with a client's parameters and then sends the OUTPUT values. */
  const call = (
    text: string,
    parameters: readonly Parameter[],
    context: RequestContext,
    body: (args: Argument[], frame: Frame) => Promise<number>,
  ): Promise<void> =>
    run(text, context, async (frame) => {
      const results: (() => void)[] = [];
      const args = parameters.map(({ output, ...parameter }): Argument => {
        const assign: Argument['assign'] = (value, type) =>
          results.push(() => context.response.returnValue(parameter.name, type, value));
        return output ? { ...parameter, assign } : parameter;
      });
      await body(args, frame);
      for (const send of results) send();
    });
  return {
    id: session.id,
    database: session.home.name,
    batch: (sql, context) => run(sql, context, (frame) => runStatements(parseBatch(sql), frame)),
    execute: (sql, declarations, parameters, context) =>
      call(sql, parameters, context, (args, frame) => runText(sql, declarations, args, frame)),
    procedure: (name, parameters, context) =>
      call(name, parameters, context, (args, frame) => callProcedure(splitName(name), args, frame)),
    transaction: (kind, _name, context) =>
      run(`${kind} transaction`, context, (frame) =>
        kind === 'save' ? refuse('SAVE TRANSACTION') : transaction(kind, frame),
      ),
    reset: async (keepTransaction) => session.reset(keepTransaction),
    close: () => {
      isClosed = true;
      if (!session.request) end();
    },
  };
}
