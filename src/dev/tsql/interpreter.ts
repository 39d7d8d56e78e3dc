import type { Statement } from './ast.js';
import { insert, remove, truncate, update, write } from './change.js';
import type { SqlType } from './contract.js';
import { createProcedure, createTable, drop } from './define.js';
import { abortsBatch, Cancelled, fail, refuse, SqlError } from './errors.js';
import { evaluate, evaluateCondition, newBinder, select } from './execute.js';
import { applyOption } from './options.js';
import { execute, executeText } from './procedures.js';
import type { Flow, Scope } from './run-scope.js';
import type { Variable } from './runtime.js';
import { asSqlError } from './session.js';
import { raiserror, throwError, waitFor } from './statements.js';
import { nvarchar } from './types.js';

export async function runStatements(statements: readonly Statement[], scope: Scope): Promise<Flow> {
  for (const statement of statements) {
    const pause = scope.slice.check();
    if (pause) await pause;
    const flow = await runStatement(statement, scope);
    if (flow) return flow;
  }
  return undefined;
}

const quiet = new Set<Statement['k']>([
  'block',
  'if',
  'while',
  'try',
  'exec',
  'execText',
  'declare',
  'break',
  'continue',
  'return',
]);

/** Runs one statement; an error that ends only the statement is reported here, and the next one runs. */
async function runStatement(statement: Statement, scope: Scope): Promise<Flow> {
  const { session } = scope.runtime;
  scope.runtime.now = Date.now();
  if (session.request && !quiet.has(statement.k)) session.request.command = statement.k.toUpperCase();
  try {
    const flow = await perform(statement, scope);
    if (!quiet.has(statement.k) && statement.k !== 'option') session.lastError = 0;
    return flow;
  } catch (caught) {
    if (caught instanceof Cancelled) throw caught;
    const error = asSqlError(caught);
    if (error.line === 0) {
      error.line = statement.line;
      error.procedure ??= scope.procedure;
    }
    session.lastError = error.number;
    session.rowCount = 0;
    if (session.options.xactAbort || (abortsBatch(error) && conversion.has(error.number))) {
      if (scope.tries > 0) session.doomed = session.transactionCount > 0;
      else if (session.rollback()) scope.response.transaction('rollback');
    }
    // A THROW, and what TRY must see, leaves all the statements around.
    if (
      scope.tries > 0 ||
      abortsBatch(error) ||
      session.options.xactAbort ||
      statement.k === 'throw' ||
      fatal.has(caught as object)
    ) {
      fatal.add(error);
      throw error;
    }
    scope.response.message(error.toMessage());
    if (!quiet.has(statement.k)) scope.response.statementDone({ statement: kindOf(statement), failed: true });
    return undefined;
  }
}

/** Errors that already ended an inner scope. */
const fatal = new WeakSet<object>();
const conversion = new Set([241, 242, 245, 8114, 8169, 235]);

const kindOf = (statement: Statement): 'select' | 'insert' | 'update' | 'delete' | 'other' =>
  statement.k === 'select' || statement.k === 'insert' || statement.k === 'update' || statement.k === 'delete'
    ? statement.k
    : 'other';

async function perform(statement: Statement, scope: Scope): Promise<Flow> {
  const { runtime, response } = scope;
  const { session } = runtime;
  switch (statement.k) {
    case 'select':
      if (statement.query.body.k === 'select' && statement.query.body.into)
        return counted('insert', scope, await selectInto(statement, scope));
      return counted('select', scope, await select(statement.query, scope));
    case 'insert':
      return counted('insert', scope, await insert(statement, scope));
    case 'update':
      return counted('update', scope, await update(statement, scope));
    case 'delete':
      return counted('delete', scope, await remove(statement, scope));
    case 'truncate':
      await truncate(statement, scope);
      break;
    case 'createTable':
      await write(scope, () => void createTable(statement, session));
      break;
    case 'createProcedure':
      await write(scope, () => createProcedure(statement, session));
      break;
    case 'drop':
      await write(scope, () => drop(statement, session));
      break;
    case 'declare':
      for (const { name, type, value } of statement.variables) {
        const key = name.toLowerCase();
        // A DECLARE in a loop runs again; only its initial value counts then.
        const variable: Variable = runtime.variables.get(key) ?? { type, value: null };
        runtime.variables.set(key, variable);
        if (value) variable.value = (await evaluate(value, scope, type)).value;
      }
      return undefined;
    case 'assign':
      await assign(statement, scope);
      return undefined;
    case 'option':
      applyOption(statement.names, statement.value, session);
      return undefined;
    case 'block':
      return runStatements(statement.body, scope);
    case 'if':
      if (await evaluateCondition(statement.condition, scope)) return runStatements([statement.then], scope);
      return statement.otherwise && runStatements([statement.otherwise], scope);
    case 'while':
      return loop(statement, scope);
    case 'break':
    case 'continue':
      return statement.k;
    case 'return': {
      const status = statement.value ? (await evaluate(statement.value, scope, { name: 'int' })).value : 0;
      return { status: (status as number | null) ?? 0 };
    }
    case 'try':
      return attempt(statement, scope);
    case 'throw':
      return throwError(statement, scope);
    case 'raiserror':
      await raiserror(statement, scope);
      return undefined;
    case 'print': {
      const { value } = await evaluate(statement.value, scope, nvarchar(4000));
      response.message({
        number: 0,
        state: 1,
        class: 0,
        message: (value as string | null) ?? '',
        line: statement.line,
        ...(scope.procedure && { procedure: scope.procedure }),
      });
      return undefined;
    }
    case 'waitfor':
      await waitFor(statement, scope);
      return undefined;
    case 'exec':
      await execute(statement, scope);
      return undefined;
    case 'execText':
      await executeText(statement, scope);
      return undefined;
    case 'begin':
    case 'commit':
    case 'rollback':
      transaction(statement.k, scope);
      break;
    case 'use': {
      const database = session.catalog.find(statement.database) ?? fail(911, statement.database);
      const from = session.database;
      session.currentDatabase = database;
      if (from !== database.name) response.databaseChanged(from, database.name);
      break;
    }
  }
  response.statementDone({ statement: 'other' });
  return undefined;
}

function counted(kind: 'select' | 'insert' | 'update' | 'delete', scope: Scope, rows: number): undefined {
  const { session } = scope.runtime;
  session.rowCount = rows;
  scope.response.statementDone({ statement: kind, ...(!session.options.noCount && { rowCount: rows }) });
  return undefined;
}

async function assign(statement: Extract<Statement, { k: 'assign' }>, scope: Scope): Promise<void> {
  const variable = scope.runtime.variables.get(statement.name.toLowerCase()) ?? fail(137, statement.name);
  if (!statement.op) {
    variable.value = (await evaluate(statement.value, scope, variable.type)).value;
    return;
  }
  // The same rules as for `@x = @x + ...`.
  const expr = {
    k: 'binary',
    op: statement.op,
    a: { k: 'variable', name: statement.name },
    b: statement.value,
  } as const;
  variable.value = (await evaluate(expr, scope, variable.type)).value;
}

async function loop(statement: Extract<Statement, { k: 'while' }>, scope: Scope): Promise<Flow> {
  while (await evaluateCondition(statement.condition, scope)) {
    const flow = await runStatements([statement.body], scope);
    if (flow === 'break') break;
    if (flow && flow !== 'continue') return flow;
    const pause = scope.slice.check();
    if (pause) await pause;
  }
  return undefined;
}

async function attempt(statement: Extract<Statement, { k: 'try' }>, scope: Scope): Promise<Flow> {
  const { runtime } = scope;
  try {
    return await runStatements(statement.body, { ...scope, tries: scope.tries + 1 });
  } catch (error) {
    // Errors of the scope's own compilation, and of class 20 up, are not caught on the level where they arise.
    if (
      !(error instanceof SqlError) ||
      error.class >= 20 ||
      (compilation.has(error.number) && error.procedure === scope.procedure)
    )
      throw error;
    const outer = runtime.caught;
    const { number, state, message, line, procedure } = error;
    runtime.caught = { number, class: error.class, state, message, line, procedure };
    try {
      return await runStatements(statement.handler, scope);
    } finally {
      runtime.caught = outer;
    }
  }
}

/** Name resolution fails when a statement is compiled, which TRY on the same level does not catch. */
const compilation = new Set([207, 208, 4104, 209]);

export function transaction(
  kind: 'begin' | 'commit' | 'rollback',
  scope: Pick<Scope, 'runtime' | 'response'>,
): void {
  const { session } = scope.runtime;
  if (kind === 'begin') {
    session.begin();
    if (session.transactionCount === 1) scope.response.transaction('begin');
  } else if (kind === 'commit') {
    if (session.transactionCount === 0) fail(3902);
    if (session.doomed) fail(3930);
    if (session.commit()) scope.response.transaction('commit');
  } else {
    if (session.transactionCount === 0) fail(3903);
    session.rollback();
    scope.response.transaction('rollback');
  }
}

async function selectInto(statement: Extract<Statement, { k: 'select' }>, scope: Scope): Promise<number> {
  const { session } = scope.runtime;
  const body = statement.query.body as Extract<typeof statement.query.body, { k: 'select' }>;
  const source = { ...statement.query, body: { ...body, into: undefined } };
  const bound = newBinder(scope.runtime).bindQuery(source);
  const columns = bound.outputs.map(({ name, node }, i) => {
    if (!name)
      fail(
        1038,
        `An object or column name is missing or empty. For SELECT INTO statements, verify each column has a name (column ${i + 1}).`,
      );
    if (node.k === 'input' && node.identity) refuse('SELECT ... INTO of an identity column');
    return { name, type: node.type as SqlType, nullable: node.nullable };
  });
  await write(scope, () => void createTable({ name: body.into!, columns, keys: [] } as never, session));
  return insert({ k: 'insert', table: body.into!, source, line: statement.line }, scope);
}
