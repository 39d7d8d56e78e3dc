/** tedious in promises. */
import { Connection, type ConnectionConfiguration, Request } from 'tedious';
import { credentials } from './tds-engine.js';

export interface Result {
  readonly rows: unknown[][];
  readonly columns: string[];
  readonly outputs: Record<string, unknown>;
  readonly messages: string[];
  /** What done, doneInProc and doneProc said. */
  readonly done: { kind: string; rowCount: number | undefined; more: boolean }[];
  returnStatus: number | undefined;
  rowCount: number | undefined;
}

export function connect(
  port: number,
  options: ConnectionConfiguration['options'] = {},
  login: { userName?: string; password?: string } = {},
  server = '127.0.0.1',
): Promise<Connection> {
  const connection = new Connection({
    server,
    authentication: {
      type: 'default',
      options: { userName: credentials.user, password: credentials.password, ...login },
    },
    options: { port, encrypt: false, trustServerCertificate: true, ...options },
  });
  connection.on('error', () => {});
  return new Promise((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve(connection)));
  });
}

export type Execute = 'execSql' | 'execSqlBatch' | 'callProcedure';

/** Runs a request to its end; `prepare` adds parameters and the like. */
export function run(
  connection: Connection,
  sql: string,
  execute: Execute = 'execSqlBatch',
  prepare: (request: Request) => void = () => {},
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const request = new Request(sql, (error, rowCount) => {
      result.rowCount = rowCount;
      if (error) reject(error);
      else resolve(result);
    });
    const result = collect(connection, request);
    prepare(request);
    connection[execute](request);
  });
}

export function collect(connection: Connection, request: Request): Result {
  const result: Result = {
    rows: [],
    columns: [],
    outputs: {},
    messages: [],
    done: [],
    returnStatus: undefined,
    rowCount: undefined,
  };
  const onMessage = ({ message }: { message: string }): void => {
    result.messages.push(message);
  };
  connection.on('infoMessage', onMessage);
  request.on('requestCompleted', () => connection.off('infoMessage', onMessage));
  request.on('columnMetadata', (columns) => {
    if (Array.isArray(columns)) result.columns.push(...columns.map((column) => column.colName));
  });
  request.on('row', (columns: { value: unknown }[]) => result.rows.push(columns.map(({ value }) => value)));
  request.on('returnValue', (name, value) => {
    result.outputs[name] = value;
  });
  request.on('done', (rowCount, more) => result.done.push({ kind: 'done', rowCount, more }));
  request.on('doneInProc', (rowCount, more) => result.done.push({ kind: 'doneInProc', rowCount, more }));
  request.on('doneProc', (rowCount, more, status) => {
    result.returnStatus = status;
    result.done.push({ kind: 'doneProc', rowCount, more });
  });
  return result;
}
