import type { EngineSession, Parameter } from '../sql-engine.js';
import { notSupported, RequestError } from './request-error.js';
import type { Response } from './response.js';

export interface RpcCall {
  /** Of a procedure by its number, the number. */
  readonly procedure: string | number;
  readonly parameters: readonly Parameter[];
}

/** Procedures that have a number (MS-TDS 2.2.6.6); cursors have 1 to 9. */
const byNumber: Record<number, string> = {
  10: 'sp_executesql',
  11: 'sp_prepare',
  12: 'sp_execute',
  13: 'sp_prepexec',
  14: 'sp_prepexecrpc',
  15: 'sp_unprepare',
};

/** Characters of a statement: more would hold up everybody while it is parsed. */
export const statementLimit = 8_388_608;
/** Prepared statements of a session: a client that never unprepares must not fill the memory. */
export const preparedLimit = 4_096;

interface Statement {
  readonly sql: string;
  readonly declarations: string;
}

function textOf(parameter: Parameter | undefined, name: string): string {
  const value = parameter?.value ?? '';
  if (typeof value !== 'string') {
    throw new RequestError(214, `Procedure expects parameter '${name}' of type 'ntext/nchar/nvarchar'.`);
  }
  if (value.length > statementLimit) throw notSupported(`A statement of over ${statementLimit} characters`);
  return value;
}

const statementOf = (sql: Parameter | undefined, declarations: Parameter | undefined): Statement => ({
  sql: textOf(sql, '@statement'),
  declarations: textOf(declarations, '@params'),
});

/** Executes RPC calls: those about statements here, where the handles are; all others by name in the engine. */
export class Procedures {
  readonly #session: EngineSession;
  readonly #prepared = new Map<number, Statement>();
  #lastHandle = 0;

  constructor(session: EngineSession) {
    this.#session = session;
  }

  /** RESETCONNECTION drops the handles. */
  clear(): void {
    this.#prepared.clear();
  }

  /** Throws a RequestError. */
  async call({ procedure, parameters }: RpcCall, response: Response): Promise<void> {
    const name = typeof procedure === 'string' ? procedure : byNumber[procedure];
    if (name === undefined) {
      if (Number(procedure) >= 1 && Number(procedure) <= 9) throw notSupported('A cursor');
      throw new RequestError(2812, `Could not find stored procedure number ${procedure}.`);
    }
    response.beginCall(parameters);
    const [first, second, third, ...rest] = parameters;
    switch (name.toLowerCase().replace(/^(sys|dbo)\./, '')) {
      case 'sp_executesql':
        response.beginCall(parameters.slice(2));
        return this.#execute(statementOf(first, second), parameters.slice(2), response);
      case 'sp_prepexec': {
        const statement = statementOf(third, second);
        this.#prepare(first, statement, response);
        return this.#execute(statement, rest, response);
      }
      case 'sp_execute':
        return this.#execute(this.#find(first)[1], parameters.slice(1), response);
      case 'sp_prepare':
        this.#prepare(first, statementOf(third, second), response);
        break;
      case 'sp_unprepare':
        this.#prepared.delete(this.#find(first)[0]);
        break;
      case 'sp_prepexecrpc':
        throw notSupported('sp_prepexecrpc');
      default:
        return this.#session.procedure(name, parameters, response.context);
    }
    response.procedureBegin();
    response.procedureEnd(0);
  }

  async #execute(
    { sql, declarations }: Statement,
    values: readonly Parameter[],
    response: Response,
  ): Promise<void> {
    response.procedureBegin();
    await this.#session.execute(sql, declarations, values, response.context);
    response.procedureEnd(response.lastError);
  }

  #prepare(handle: Parameter | undefined, statement: Statement, response: Response): void {
    if (this.#prepared.size >= preparedLimit) {
      throw notSupported(`A session with more than ${preparedLimit} prepared statements`);
    }
    this.#lastHandle++;
    this.#prepared.set(this.#lastHandle, statement);
    response.returnValue(handle?.name ?? '', { name: 'int' }, this.#lastHandle);
  }

  #find(parameter: Parameter | undefined): [handle: number, statement: Statement] {
    const handle = parameter?.value ?? null;
    const statement = typeof handle === 'number' ? this.#prepared.get(handle) : undefined;
    if (statement) return [handle as number, statement];
    throw new RequestError(8179, `Could not find prepared statement with handle ${String(handle)}.`);
  }
}
