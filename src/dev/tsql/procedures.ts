import type { SqlType, SqlValue } from '../sql-engine.js';
import { runBuiltIn } from './built-ins.js';
import { asSqlError, fail, refuse } from './errors.js';
import { objectName } from './names.js';
import { parseExpression, parseType } from './parse-query.js';
import { Reader } from './reader.js';
import { assigned, evaluate } from './select.js';
import type { Frame, ParameterDefinition, Procedure, Statement } from './session.js';
import {
  parseBatch,
  runStatements,
  type StatementParser,
  startsStatement,
  variableOf,
} from './statements.js';
import type { Name } from './syntax.js';
import { int } from './types.js';

/** An argument whose value is known; `assign` gets an OUTPUT value. */
export interface Argument {
  readonly name: string;
  readonly type: SqlType;
  readonly value: SqlValue;
  readonly useDefault?: boolean;
  readonly assign?: ((value: SqlValue, type: SqlType) => void) | undefined;
}

/** `@name type [= constant] [OUTPUT]`. */
export function parseParameter(r: Reader): ParameterDefinition {
  const name = r.variable();
  r.take('AS');
  const type = parseType(r);
  const fallback = r.take('=') ? parseExpression(r) : undefined;
  if (fallback && fallback.k !== 'literal') refuse('A parameter default that is not a constant');
  const isOutput = r.take('OUTPUT') || r.take('OUT');
  return { name, type, fallback, isOutput };
}

/** `[@name =] value [OUTPUT]` or `DEFAULT`. */
function parseArgument(r: Reader): (frame: Frame) => Argument {
  const isNamed = r.token.kind === 'variable' && r.peek().key === '=';
  const name = isNamed ? r.variable() : '';
  if (isNamed) r.expect('=');
  if (r.take('DEFAULT')) return () => ({ name, type: int, value: null, useDefault: true });
  const value = parseExpression(r);
  if (!r.take('OUTPUT') && !r.take('OUT')) return (frame) => ({ name, ...evaluate(value, frame) });
  if (value.k !== 'variable') return r.fail();
  return (frame) => ({ name, ...evaluate(value, frame), assign: assigner(value.name, frame) });
}

/** Puts values, converted, into a variable. */
function assigner(name: string, frame: Frame): NonNullable<Argument['assign']> {
  const variable = variableOf(name, frame);
  return (value, type) => {
    variable.value = assigned(value, type, variable.type);
  };
}

function parseExec(r: Reader): Statement['run'] {
  if (r.is('(')) refuse('EXECUTE of a string');
  const result = r.token.kind === 'variable' ? r.variable() : undefined;
  if (result) r.expect('=');
  const name = r.qualifiedName();
  const args = startsStatement(r) ? [] : r.list(() => parseArgument(r));
  return async (frame) => {
    const values = args.map((argument) => argument(frame));
    const status = await callProcedure(name, values, frame);
    if (result) assigner(result, frame)(status, int);
    return undefined;
  };
}

/** Calls a procedure of the database, of the system or of the program; returns its status. */
export async function callProcedure(parts: Name, values: readonly Argument[], frame: Frame): Promise<number> {
  const { session } = frame;
  const { name, schema, database } = objectName(parts, session);
  const key = name.toLowerCase();
  if (key === 'sp_executesql') refuse('sp_executesql within T-SQL');
  const builtIn = session.shared.builtIns.get(`${schema}.${key}`);
  if (builtIn) return runBuiltIn(builtIn, values, frame);
  const procedure = database?.procedures.get(key) ?? fail(2812, parts.join('.'));
  return runBody(procedure.body, bindParameters(procedure.parameters, values, name, frame), frame, procedure);
}

interface Bound {
  readonly variables: Frame['variables'];
  /** Give the OUTPUT values. */
  readonly outputs: readonly (() => void)[];
}

function bindParameters(
  parameters: readonly ParameterDefinition[],
  values: readonly Argument[],
  name: string,
  frame: Frame,
): Bound {
  if (values.length > parameters.length) fail(8144, name);
  const given = new Map<string, Argument>();
  for (const [i, value] of values.entries()) {
    const key = (value.name || parameters[i]!.name).toLowerCase();
    if (!parameters.some((parameter) => parameter.name.toLowerCase() === key)) fail(8145, value.name, name);
    given.set(key, value);
  }
  const variables: Frame['variables'] = new Map();
  const outputs = parameters.flatMap(({ name: parameter, type, fallback, isOutput }) => {
    const argument = given.get(parameter.toLowerCase());
    const isGiven = argument && !argument.useDefault;
    if (!isGiven && !fallback) fail(name ? 201 : 8178, name || 'of sp_executesql', parameter);
    const value = isGiven
      ? assigned(argument.value, argument.type, type)
      : evaluate(fallback!, frame, type).value;
    const variable = { type, value };
    variables.set(parameter.toLowerCase(), variable);
    if (argument?.assign && !isOutput) fail(8162, parameter);
    return argument?.assign ? [() => argument.assign!(variable.value, type)] : [];
  });
  return { variables, outputs };
}

/** Names that don't resolve, and 266, end the procedure, and its caller goes on. */
const endsBodyOnly = new Set([207, 208, 209, 266, 4104]);

/** Runs a body in its own frame between procedureBegin and procedureEnd. */
async function runBody(
  body: readonly Statement[],
  bound: Bound,
  frame: Frame,
  procedure?: Procedure,
): Promise<number> {
  const { session, response } = frame;
  if (session.nesting >= 32) fail(217);
  const { transactionCount: before, options, lastIdentity } = session;
  const temporary = new Set(session.tempTables.keys());
  // SET options and temp tables of a procedure end with it.
  session.options = { ...options };
  session.nesting++;
  response.procedureBegin();
  let status = 0;
  try {
    const own: Frame = {
      ...frame,
      variables: bound.variables,
      procedure: procedure?.name ?? frame.procedure,
    };
    const flow = await runStatements(body, own);
    if (typeof flow === 'object') status = flow.status;
    for (const output of bound.outputs) output();
    if (session.transactionCount !== before) fail(266, before, session.transactionCount);
  } catch (error) {
    status = -6;
    if (frame.tries > 0 || !endsBodyOnly.has((error as { number?: number }).number ?? 0)) throw error;
    const known = asSqlError(error);
    response.message(known.toMessage());
    session.lastError = known.number;
  } finally {
    session.nesting--;
    session.options = options;
    if (procedure) {
      session.lastIdentity = lastIdentity;
      for (const [name, { storage }] of [...session.tempTables]) {
        if (temporary.has(name) || !session.tempTables.delete(name)) continue;
        session.shared.garbage.push(storage);
      }
    }
    response.procedureEnd(status);
  }
  return status;
}

/** sp_executesql: a text with parameters, declared as `@a int, @b nvarchar(10) OUTPUT`. */
export async function runText(
  sql: string,
  declarations: string,
  values: readonly Argument[],
  frame: Frame,
): Promise<number> {
  const r = new Reader(declarations);
  const parameters = r.token.kind === 'end' ? [] : r.list(() => parseParameter(r));
  if (r.token.kind !== 'end') r.fail();
  const body = parseBatch(sql);
  return runBody(body, bindParameters(parameters, values, '', frame), frame);
}

export const procedureStatements: Readonly<Record<string, StatementParser>> = {
  EXEC: parseExec,
  EXECUTE: parseExec,
};
