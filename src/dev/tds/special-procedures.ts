import type { EngineSession, Parameter, RequestContext, SqlValue } from './engine.js';
import type { Response } from './response.js';
import { type RpcCall, RpcError } from './rpc.js';

/** Procedures that have a number (MS-TDS 2.2.6.6); cursors have 1 to 9. */
const byId: Record<number, string> = {
  10: 'sp_executesql',
  11: 'sp_prepare',
  12: 'sp_execute',
  13: 'sp_prepexec',
  14: 'sp_prepexecrpc',
  15: 'sp_unprepare',
};

interface Prepared {
  readonly sql: string;
  readonly declarations: string;
}

/** Text of a statement: more would hold up everybody while it is parsed. */
export const statementLimit = 8_388_608;

function refused(what: string): RpcError {
  return new RpcError(40510, `${what} is not supported by the embedded server.`);
}

function textOf(parameter: Parameter | undefined, what: string): string {
  const value = parameter?.value ?? null;
  if (value !== null && typeof value !== 'string') {
    // SQL Server's text for sp_executesql and its like.
    throw new RpcError(214, `Procedure expects parameter '${what}' of type 'ntext/nchar/nvarchar'.`);
  }
  if ((value?.length ?? 0) > statementLimit)
    throw refused(`A statement of over ${statementLimit} characters`);
  return value ?? '';
}

/** Executes RPC calls: those about statements here, where the handles are; all others by name in the engine. */
export class Procedures {
  readonly #session: EngineSession;
  readonly #prepared = new Map<number, Prepared>();
  #lastHandle = 0;

  constructor(session: EngineSession) {
    this.#session = session;
  }

  /** RESETCONNECTION drops the handles. */
  clear(): void {
    this.#prepared.clear();
  }

  async call(call: RpcCall, context: RequestContext, response: Response): Promise<void> {
    const name = call.id === undefined ? call.name : byId[call.id];
    if (name === undefined) throw refused(call.id! < 10 ? 'A cursor' : `The procedure number ${call.id}`);
    const { parameters } = call;
    response.parameterNames = parameters.map((parameter) => parameter.name);
    response.lastError = 0;
    switch (name.toLowerCase().replace(/^(sys|dbo)\./, '')) {
      case 'sp_executesql': {
        const [statement, declarations, ...values] = parameters;
        response.parameterNames = values.map((parameter) => parameter.name);
        const prepared = {
          sql: textOf(statement, '@statement'),
          declarations: textOf(declarations, '@params'),
        };
        return this.#execute(prepared, values, context, response);
      }
      case 'sp_prepare': {
        const [handle, declarations, statement] = parameters;
        this.#prepare(handle, declarations, statement, response);
        response.procedureBegin();
        return response.procedureEnd(0);
      }
      case 'sp_prepexec': {
        const [handle, declarations, statement, ...values] = parameters;
        const prepared = this.#prepare(handle, declarations, statement, response);
        return this.#execute(prepared, values, context, response);
      }
      case 'sp_execute': {
        const [handle, ...values] = parameters;
        return this.#execute(this.#find(handle), values, context, response);
      }
      case 'sp_unprepare': {
        this.#find(parameters[0]);
        this.#prepared.delete(parameters[0]!.value as number);
        response.procedureBegin();
        return response.procedureEnd(0);
      }
      case 'sp_prepexecrpc':
        throw refused('sp_prepexecrpc');
      default:
        return this.#session.procedure(name, parameters, context);
    }
  }

  async #execute(
    { sql, declarations }: Prepared,
    values: readonly Parameter[],
    context: RequestContext,
    response: Response,
  ): Promise<void> {
    response.procedureBegin();
    await this.#session.execute(sql, declarations, values, context);
    response.procedureEnd(response.lastError);
  }

  #prepare(
    handle: Parameter | undefined,
    declarations: Parameter | undefined,
    statement: Parameter | undefined,
    response: Response,
  ): Prepared {
    const prepared = { sql: textOf(statement, '@stmt'), declarations: textOf(declarations, '@params') };
    this.#lastHandle++;
    this.#prepared.set(this.#lastHandle, prepared);
    response.returnValue(handle?.name ?? '', { name: 'int' }, this.#lastHandle);
    return prepared;
  }

  #find(handle: Parameter | undefined): Prepared {
    const value: SqlValue = handle?.value ?? null;
    const prepared = typeof value === 'number' ? this.#prepared.get(value) : undefined;
    // SQL Server's 8179.
    if (!prepared)
      throw new RpcError(8179, `Could not find prepared statement with handle ${String(value)}.`);
    return prepared;
  }
}
