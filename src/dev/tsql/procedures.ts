import type { Argument, ParameterDefinition, Statement } from './ast.js';
import { objectName, type Procedure } from './catalog.js';
import type { SqlType, SqlValue } from './contract.js';
import { checkImplicit, convert } from './convert.js';
import { fail, SqlError } from './errors.js';
import { evaluate } from './execute.js';
import { parsed } from './parse-cache.js';
import { parseDeclarations } from './parse-statement.js';
import { newScope, type Scope } from './run-scope.js';
import type { Variable } from './runtime.js';
import { asSqlError } from './session.js';
import { nvarchar } from './types.js';

/** An argument whose value is known; `target` gets an OUTPUT value. */
export interface Value {
  readonly name: string | undefined;
  readonly type: SqlType;
  readonly value: SqlValue;
  readonly output: boolean;
  readonly useDefault?: boolean;
  readonly assign?: ((value: SqlValue, type: SqlType) => void) | undefined;
}

function assignConverted(value: SqlValue, from: SqlType, to: SqlType): SqlValue {
  if (value === null) return null;
  checkImplicit(from, to);
  return convert(value, from, to);
}

/** EXEC name arguments. */
export async function execute(statement: Extract<Statement, { k: 'exec' }>, scope: Scope): Promise<void> {
  const values: Value[] = [];
  for (const argument of statement.args) values.push(await argumentValue(argument, scope));
  const status = await callProcedure(statement.name, values, scope, true);
  if (statement.result) {
    const variable =
      scope.runtime.variables.get(statement.result.toLowerCase()) ?? fail(137, statement.result);
    variable.value = assignConverted(status, { name: 'int' }, variable.type);
  }
}

async function argumentValue(argument: Argument, scope: Scope): Promise<Value> {
  const { value, type } = await evaluate(argument.value, scope);
  const variable =
    argument.output && argument.value.k === 'variable'
      ? scope.runtime.variables.get(argument.value.name.toLowerCase())
      : undefined;
  return {
    name: argument.name,
    type,
    value,
    output: argument.output,
    useDefault: argument.useDefault ?? false,
    assign:
      variable &&
      ((result, from) => {
        variable.value = assignConverted(result, from, variable.type);
      }),
  };
}

/** Calls a procedure of the database, of the system or of the program; returns its status. */
export async function callProcedure(
  parts: readonly string[],
  values: readonly Value[],
  scope: Scope,
  nested: boolean,
): Promise<number> {
  const { session } = scope.runtime;
  const { database, schema, name } = objectName(parts);
  const key = name.toLowerCase();
  if (key === 'sp_executesql') return executeSql(values, scope, nested);
  const builtIn = session.shared.builtIns.get(parts.length === 1 ? key : `${schema}.${key}`);
  if (builtIn) return runBuiltIn(builtIn, values, scope, name);
  const owner = database ? session.catalog.find(database) : session.currentDatabase;
  const procedure = schema === 'dbo' ? owner?.procedures.get(key) : undefined;
  if (!procedure) return fail(2812, parts.join('.'));
  return runProcedure(procedure, values, scope);
}

async function runBuiltIn(
  builtIn: NonNullable<ReturnType<Scope['runtime']['session']['shared']['builtIns']['get']>>,
  values: readonly Value[],
  scope: Scope,
  name: string,
): Promise<number> {
  const { response, runtime } = scope;
  const args: Record<string, SqlValue> = {};
  for (const { name: argument, value } of values) {
    if (!argument) fail(40510, `An argument of ${name} without a name`);
    args[argument!.slice(1).toLowerCase()] = value;
  }
  response.procedureBegin();
  let ended = -6;
  try {
    const result = await builtIn(args, runtime.session);
    if (result) {
      response.columns(result.columns);
      let rowCount = 0;
      for (const row of result.rows) {
        response.row(row);
        rowCount++;
        await response.drained();
      }
      response.statementDone({ statement: 'select', rowCount });
    }
    ended = 0;
  } finally {
    response.procedureEnd(ended);
  }
  return 0;
}

async function runProcedure(procedure: Procedure, values: readonly Value[], scope: Scope): Promise<number> {
  const { variables, outputs } = await bindParameters(procedure.parameters, values, procedure.name, scope);
  return inner(scope, procedure.body, variables, outputs, procedure);
}

/** Runs a body in its own scope between procedureBegin and procedureEnd. */
async function inner(
  scope: Scope,
  body: readonly Statement[],
  variables: Map<string, Variable>,
  outputs: readonly (() => void)[],
  procedure?: Procedure,
): Promise<number> {
  const { session } = scope.runtime;
  if (session.nesting >= 32) fail(217);
  const before = session.transactionCount;
  const { noCount, xactAbort, lockTimeout } = session.options;
  const own = newScope(session, scope.response, scope.signal, scope.run, {
    variables,
    slice: scope.slice,
    runtime: scope.runtime,
    tries: scope.tries,
    procedure: procedure?.name ?? scope.procedure,
    procedureId: procedure?.id ?? 0,
  });
  session.nesting++;
  const identity = session.scopeIdentity;
  session.scopeIdentity = undefined;
  scope.response.procedureBegin();
  let status = 0;
  const temporary = new Set(session.tempTables.keys());
  try {
    const flow = await scope.run(body, own);
    if (typeof flow === 'object') status = flow.status;
    for (const output of outputs) output();
    if (session.transactionCount !== before) throw transactionMismatch(before, session.transactionCount);
  } catch (error) {
    const e = asSqlError(error);
    status = -6;
    // Names that don't resolve end the procedure, and its caller goes on.
    if (scope.tries > 0 || !(e instanceof SqlError) || !endsScopeOnly.has(e.number)) throw error;
    scope.response.message(e.toMessage());
    session.lastError = e.number;
  } finally {
    session.nesting--;
    session.scopeIdentity = identity;
    // SET options and temp tables of a procedure end with it.
    Object.assign(session.options, { noCount, xactAbort, lockTimeout });
    if (procedure) {
      for (const [key, table] of [...session.tempTables]) {
        if (temporary.has(key)) continue;
        session.tempTables.delete(key);
        session.shared.garbage.push(table.storage);
      }
    }
    scope.response.procedureEnd(status);
  }
  return status;
}

const endsScopeOnly = new Set([207, 208, 209, 266, 4104]);

const transactionMismatch = (before: number, after: number): SqlError =>
  new SqlError(
    266,
    16,
    2,
    `Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = ${before}, current count = ${after}.`,
  );

async function bindParameters(
  parameters: readonly ParameterDefinition[],
  values: readonly Value[],
  name: string,
  scope: Scope,
): Promise<{ variables: Map<string, Variable>; outputs: (() => void)[] }> {
  const variables = new Map<string, Variable>();
  const outputs: (() => void)[] = [];
  if (parameters.length === 0 && values.length > 0) fail(8146, name);
  if (values.length > parameters.length) fail(8144, name);
  const given = new Map<string, Value>();
  values.forEach((value, i) => {
    const key = (value.name || parameters[i]!.name).toLowerCase();
    if (!parameters.some((p) => p.name.toLowerCase() === key)) fail(8145, value.name!, name);
    if (given.has(key)) fail(8143, value.name || key);
    given.set(key, value);
  });
  for (const parameter of parameters) {
    const key = parameter.name.toLowerCase();
    const argument = given.get(key);
    let value: SqlValue;
    if (argument && !argument.useDefault)
      value = assignConverted(argument.value, argument.type, parameter.type);
    else if (parameter.fallback) value = (await evaluate(parameter.fallback, scope, parameter.type)).value;
    else return fail(201, name, parameter.name);
    const variable: Variable = { type: parameter.type, value };
    variables.set(key, variable);
    if (argument?.output) {
      if (!parameter.output) fail(8162, parameter.name);
      outputs.push(() => argument.assign?.(variable.value, parameter.type));
    }
  }
  return { variables, outputs };
}

/** sp_executesql: text, declarations, values. */
async function executeSql(values: readonly Value[], scope: Scope, _nested: boolean): Promise<number> {
  const [text, declarations, ...rest] = values;
  if (!text || text.value === null)
    fail(214, "Procedure expects parameter '@statement' of type 'ntext/nchar/nvarchar'.");
  if (typeof text!.value !== 'string' || text!.type.name === 'varchar' || text!.type.name === 'char')
    fail(214, "Procedure expects parameter '@statement' of type 'ntext/nchar/nvarchar'.");
  return runText(text!.value as string, (declarations?.value as string | null) ?? '', rest, scope);
}

export async function runText(
  sql: string,
  declarations: string,
  values: readonly Value[],
  scope: Scope,
): Promise<number> {
  const parameters = parseDeclarations(declarations);
  const body = parsed(sql);
  const missing = parameters.find(
    (p, i) =>
      !p.fallback &&
      !values.some((v, j) => (v.name ? v.name.toLowerCase() === p.name.toLowerCase() : i === j)),
  );
  if (missing) fail(8178, `(${declarations})${sql}`.slice(0, 1000), missing.name);
  const { variables, outputs } = await bindParameters(parameters, values, 'sp_executesql', scope);
  return inner(scope, body, variables, outputs);
}

/** EXEC ('text'): a batch of its own, without the variables around it. */
export async function executeText(
  statement: Extract<Statement, { k: 'execText' }>,
  scope: Scope,
): Promise<void> {
  const { value } = await evaluate(statement.text, scope, nvarchar('max'));
  const { session } = scope.runtime;
  if (session.nesting >= 32) fail(217);
  session.nesting++;
  try {
    const own = newScope(session, scope.response, scope.signal, scope.run, {
      slice: scope.slice,
      runtime: scope.runtime,
      tries: scope.tries,
      procedure: scope.procedure,
    });
    await scope.run(parsed((value as string | null) ?? ''), own);
  } finally {
    session.nesting--;
  }
}
