import type {
  Column,
  EngineSession,
  Login,
  Parameter,
  ResponseSink,
  ServerMessage,
  SqlEngine,
  SqlType,
  SqlValue,
  StatementDone,
} from '../../../src/dev/sql-engine.js';
import { createDatabase, type DatabaseOptions } from '../../../src/dev/tsql/database.js';

/** All that one request answered, in memory. */
export interface Answer {
  readonly sets: { readonly columns: readonly Column[]; readonly rows: SqlValue[][] }[];
  readonly messages: ServerMessage[];
  readonly done: StatementDone[];
  readonly events: string[];
  readonly returned: { name: string; type: SqlType; value: SqlValue }[];
  readonly status: number[];
}

export function collector(): { answer: Answer; response: ResponseSink } {
  const answer: Answer = { sets: [], messages: [], done: [], events: [], returned: [], status: [] };
  const response: ResponseSink = {
    columns: (columns) => void answer.sets.push({ columns, rows: [] }),
    row: (values) => void answer.sets.at(-1)!.rows.push([...values]),
    statementDone: (done) => void answer.done.push(done),
    procedureBegin: () => void answer.events.push('begin procedure'),
    procedureEnd: (status) => {
      answer.events.push('end procedure');
      answer.status.push(status);
    },
    returnValue: (name, type, value) => void answer.returned.push({ name, type, value }),
    message: (message) => void answer.messages.push(message),
    transaction: (event) => void answer.events.push(event),
    drained: () => undefined,
  };
  return { answer, response };
}

export const credentials = { user: 'sa', password: 'secret' };

export const login = (database: SqlEngine, more: Partial<Login> = {}): Promise<EngineSession> =>
  database.login({
    ...credentials,
    database: '',
    applicationName: 'test',
    hostName: 'here',
    interfaceName: 'test',
    readOnlyIntent: false,
    clientAddress: '127.0.0.1',
    ...more,
  });

export const open = (options: Partial<DatabaseOptions> = {}): Promise<SqlEngine> =>
  createDatabase({ ...credentials, ...options });

export async function batch(
  session: EngineSession,
  sql: string,
  signal = new AbortController().signal,
): Promise<Answer> {
  const { answer, response } = collector();
  await session.batch(sql, { response, signal });
  return answer;
}

export async function run(
  session: EngineSession,
  sql: string,
  declarations: string,
  parameters: readonly Parameter[],
): Promise<Answer> {
  const { answer, response } = collector();
  await session.execute(sql, declarations, parameters, { response, signal: new AbortController().signal });
  return answer;
}

/** Rows of the first recordset; fails when the batch raised an error. */
export async function rows(session: EngineSession, sql: string): Promise<SqlValue[][]> {
  const answer = await batch(session, sql);
  const error = answer.messages.find((message) => message.class > 10);
  if (error) throw new Error(`${error.number}: ${error.message}`);
  return answer.sets[0]?.rows ?? [];
}

/** The number of the first error. */
export async function errorOf(session: EngineSession, sql: string): Promise<number | undefined> {
  return (await batch(session, sql)).messages.find((message) => message.class > 10)?.number;
}
