import { Catalog, splitName } from './catalog.js';
import type { EngineSession, LoginRefusal, Parameter, RequestContext, SqlEngine } from './contract.js';
import { Cancelled, fail, refuse, sqlError } from './errors.js';
import { runStatements, transaction } from './interpreter.js';
import { Locks } from './locks.js';
import { parsed } from './parse-cache.js';
import { callProcedure, runText, type Value } from './procedures.js';
import { newScope, type Scope } from './run-scope.js';
import { asSqlError, type BuiltInProcedure, datetimeNow, Session, type Shared } from './session.js';
import { Sqlite } from './sqlite.js';
import { typesProcedure } from './types-procedure.js';

export type { BuiltInProcedure, BuiltInResult } from './session.js';

export interface DatabaseOptions {
  readonly user: string;
  readonly password: string;
  /** Names of the databases; default master, tempdb and Blogs. The last one is where logins without a database go. */
  readonly databases?: readonly string[];
  /** @@SERVERNAME; default EMBEDDED. */
  readonly serverName?: string;
  /** Procedures beside those of the database, by name (`dev.fault_add`). */
  readonly procedures?: Readonly<Record<string, BuiltInProcedure>>;
}

export type Database = SqlEngine;

/** An empty server in memory. Sessions share its data; nothing outlives the process. */
export async function createDatabase(options: DatabaseOptions): Promise<Database> {
  const names = options.databases ?? ['master', 'tempdb', 'Blogs'];
  const procedures = { 'dev.types': typesProcedure, ...options.procedures };
  const shared: Shared = {
    sqlite: await Sqlite.open(),
    catalog: new Catalog(names, datetimeNow()),
    locks: new Locks(),
    sessions: new Map(),
    serverName: options.serverName ?? 'EMBEDDED',
    version:
      'Embedded development server (this is not Microsoft SQL Server; it speaks TDS 7.4 and a subset of T-SQL)',
    builtIns: new Map(Object.entries(procedures).map(([name, run]) => [name.toLowerCase(), run])),
    garbage: [],
  };
  // SQL Server gives the ids up to 50 to itself.
  let nextId = 51;
  return {
    login: async (login) => {
      const user = login.user.toLowerCase() === options.user.toLowerCase();
      if (!user || login.password !== options.password) throw refusal(18456, login.user);
      const database = shared.catalog.find(login.database || names.at(-1)!);
      if (!database) throw refusal(4060, login.database);
      while (shared.sessions.has(nextId)) nextId = nextId >= 32_767 ? 51 : nextId + 1;
      const session = new Session(nextId, login, database, shared);
      nextId = nextId >= 32_767 ? 51 : nextId + 1;
      shared.sessions.set(session.id, session);
      return engineSession(session);
    },
    close: async () => {
      shared.sessions.clear();
      shared.sqlite.close();
    },
  };
}

function refusal(number: number, name: string): LoginRefusal {
  return Object.assign(sqlError(number, name).toMessage(), { loginRefusal: true as const });
}

function engineSession(session: Session): EngineSession {
  let closed = false;
  /** Runs one request; whatever goes wrong becomes a message. */
  const request = async (
    text: string,
    { response, signal }: RequestContext,
    body: (scope: Scope) => Promise<unknown>,
  ): Promise<void> => {
    const started = Date.now();
    session.lastRequestTime = datetimeNow();
    session.request = {
      text,
      startTime: session.lastRequestTime,
      startedMs: started,
      command: 'BATCH',
      waitType: undefined,
      waitSince: started,
      blockedBy: undefined,
    };
    session.nesting = 0;
    try {
      await body(newScope(session, response, signal, runStatements));
      if (session.doomed) {
        session.rollback();
        response.transaction('rollback');
        fail(3998);
      }
    } catch (error) {
      if (error instanceof Cancelled || signal.aborted) {
        // Without XACT_ABORT, ATTENTION leaves the transaction open (SET XACT_ABORT).
        if (session.options.xactAbort && session.rollback()) response.transaction('rollback');
      } else {
        const known = asSqlError(error);
        if (known.line === 0) known.line = 1;
        session.lastError = known.number;
        response.message(known.toMessage());
        response.statementDone({ statement: 'other', failed: true });
      }
    } finally {
      session.request = undefined;
      session.collect();
      if (closed) end();
    }
  };
  const end = (): void => {
    session.reset();
    session.shared.sessions.delete(session.id);
  };
  return {
    id: session.id,
    get database() {
      return session.database;
    },
    batch: (sql, context) => request(sql, context, (scope) => runStatements(parsed(sql), scope)),
    execute: (sql, declarations, parameters, context) =>
      request(sql, context, async (scope) => {
        const results: (() => void)[] = [];
        await runText(
          sql,
          declarations,
          parameters.map((p) => rpcValue(p, results, context)),
          scope,
        );
        for (const send of results) send();
      }),
    procedure: (name, parameters, context) =>
      request(name, context, async (scope) => {
        const results: (() => void)[] = [];
        await callProcedure(
          splitName(name),
          parameters.map((p) => rpcValue(p, results, context)),
          scope,
          false,
        );
        for (const send of results) send();
      }),
    transaction: (kind, _name, context) =>
      request(`${kind} transaction`, context, async (scope) =>
        kind === 'save' ? refuse('SAVE TRANSACTION') : transaction(kind, scope),
      ),
    reset: async () => session.reset(),
    close: () => {
      closed = true;
      if (!session.request) end();
    },
  };
}

function rpcValue(parameter: Parameter, results: (() => void)[], { response }: RequestContext): Value {
  const { name, type, value, output } = parameter;
  return {
    name: name || undefined,
    type,
    value,
    output,
    assign: (result, from) => results.push(() => response.returnValue(name, from, result)),
  };
}
