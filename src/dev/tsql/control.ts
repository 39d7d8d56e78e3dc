import { setTimeout as sleep } from 'node:timers/promises';
import { parseMoment, ticksPerDay } from './dates.js';
import { Cancelled, fail, refuse, SqlError } from './errors.js';
import { inform, raise, raiseError } from './messages.js';
import { parseExpression, parseQuery, parseType } from './parse-query.js';
import type { Reader } from './reader.js';
import { assigned, bindQuery, evaluate, evaluateCondition, forEachRow } from './select.js';
import type { Flow, Frame, Statement } from './session.js';
import {
  counted,
  done,
  parseBody,
  parseStatement,
  runStatements,
  type StatementParser,
  startsStatement,
  variableOf,
} from './statements.js';
import { fixedOptions, ignoredOptions } from './support.js';
import type { Expr, Select } from './syntax.js';
import { int, nvarchar, varchar } from './types.js';

/** A SELECT answers the client, or assigns to variables, of which the last row stays. */
async function select(query: Select, frame: Frame): Promise<undefined> {
  const { response, session } = frame;
  const bound = bindQuery(query, frame);
  const { outputs } = bound;
  const targets = outputs.flatMap(({ assign }) => (assign ? [variableOf(assign, frame)] : []));
  if (targets.length > 0 && targets.length < outputs.length) fail(141);
  if (targets.length === 0) {
    response.columns(
      outputs.map(({ name, value: { type, nullable, inputs, native } }) => ({
        name,
        type,
        nullable,
        ...(native && inputs[0]?.identity && { identity: true }),
      })),
    );
  }
  let count = 0;
  await forEachRow(bound, frame, (values) => {
    count++;
    for (const [i, target] of targets.entries())
      target.value = assigned(values[i]!, outputs[i]!.value.type, target.type);
    if (targets.length > 0) return undefined;
    response.row(values);
    const full = response.drained();
    return full && session.wait('ASYNC_NETWORK_IO', full);
  });
  return counted('select', count, frame);
}

/** `IF [NOT] EXISTS (SELECT ...)` or a condition. */
function parseTest(r: Reader): (frame: Frame) => boolean | Promise<boolean> {
  const isNot = r.is('NOT', 'EXISTS', '(');
  if (!isNot && !r.is('EXISTS', '(')) {
    const condition = parseExpression(r);
    return (frame) => evaluateCondition(condition, frame);
  }
  r.take('NOT');
  r.expect('EXISTS');
  const query = r.inParentheses(() => parseQuery(r));
  return async (frame) => {
    let found = false;
    const one: Expr = { k: 'literal', type: int, value: 1 };
    await forEachRow(bindQuery({ ...query, top: query.top ?? one }, frame), frame, () => {
      found = true;
    });
    return found !== isNot;
  };
}

async function attempt(
  body: readonly Statement[],
  handler: readonly Statement[],
  frame: Frame,
): Promise<Flow> {
  try {
    return await runStatements(body, { ...frame, tries: frame.tries + 1 });
  } catch (error) {
    // Name resolution fails when a statement is compiled, which TRY on the same level does not catch.
    const isCompilation = [207, 208, 209, 4104].includes((error as SqlError).number);
    if (!(error instanceof SqlError) || (isCompilation && error.procedure === frame.procedure)) throw error;
    return runStatements(handler, { ...frame, caught: error });
  }
}

/** `name = value` and `name += value`, which follow the same rules as `@x = @x + ...`. */
function parseAssignment(r: Reader): Statement['run'] {
  const name = r.variable();
  const op = r.next().key;
  if (!/^[-+*/%&|^]?=$/.test(op)) r.fail();
  const value = parseExpression(r);
  const expr: Expr = op === '=' ? value : { k: 'call', name: op[0]!, args: [{ k: 'variable', name }, value] };
  return (frame) => {
    const variable = variableOf(name, frame);
    variable.value = evaluate(expr, frame, variable.type).value;
    return undefined;
  };
}

function parseOption(r: Reader): Statement['run'] {
  if (r.take('TRANSACTION')) {
    r.expect('ISOLATION', 'LEVEL');
    while (r.token.kind === 'word' && !startsStatement(r)) r.next();
    return () => undefined;
  }
  if (r.is('IDENTITY_INSERT')) refuse('SET IDENTITY_INSERT');
  const names = r.list(() => r.next().key || r.fail());
  const isNegative = r.take('-');
  const token = r.next();
  const value = (isNegative ? '-' : '') + token.text.toUpperCase();
  const wanted = (name: string) => (Object.hasOwn(fixedOptions, name) ? fixedOptions[name] : undefined);
  for (const name of names) if (wanted(name) && wanted(name) !== value) refuse(`SET ${name} ${value}`);
  return ({ session: { options } }) => {
    for (const name of names) {
      if (name === 'NOCOUNT') options.noCount = value === 'ON';
      else if (name === 'XACT_ABORT') options.xactAbort = value === 'ON';
      else if (name === 'LOCK_TIMEOUT') options.lockTimeout = Number(value);
      else if (!wanted(name) && !ignoredOptions.has(name)) fail(195, name);
    }
    return undefined;
  };
}

/** WAITFOR costs a timer; the signal ends it. */
const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {
    throw new Cancelled();
  });

function delayMs(expr: Expr, frame: Frame): number {
  const value = String(evaluate(expr, frame, nvarchar(4000)).value);
  try {
    return Number(
      (parseMoment(value, varchar(8000), { name: 'time', scale: 7 }).ticks % ticksPerDay) / 10_000n,
    );
  } catch {
    return fail(148, value);
  }
}

/** Begins or ends a transaction, for T-SQL and for the transaction manager's requests. */
export function transaction(kind: 'begin' | 'commit' | 'rollback', { session, response }: Frame): void {
  if (kind !== 'begin' && session.transactionCount === 0) fail(kind === 'commit' ? 3902 : 3903);
  if (kind === 'commit' && session.isDoomed) fail(3930);
  if (kind === 'rollback' || (kind === 'commit' && session.transactionCount === 1)) {
    session.end(kind === 'commit' ? 'COMMIT' : 'ROLLBACK');
    response.transaction(kind);
    return;
  }
  session.transactionCount += kind === 'begin' ? 1 : -1;
  if (kind === 'begin' && session.transactionCount === 1) response.transaction(kind);
}

function parseTransaction(r: Reader, kind: 'begin' | 'commit' | 'rollback'): Statement['run'] {
  if (!r.take('TRAN') && !r.take('TRANSACTION')) r.take('WORK');
  if (r.isName() && !startsStatement(r)) r.name();
  return (frame) => {
    transaction(kind, frame);
    return done(frame);
  };
}

function parseBegin(r: Reader): Statement['run'] {
  if (r.isAny('TRAN', 'TRANSACTION')) return parseTransaction(r, 'begin');
  const isTry = r.take('TRY');
  const body = parseBody(r);
  r.expect('END');
  if (!isTry) return (frame) => runStatements(body, frame);
  r.expect('TRY');
  while (r.take(';'));
  r.expect('BEGIN', 'CATCH');
  const handler = parseBody(r);
  r.expect('END', 'CATCH');
  return (frame) => attempt(body, handler, frame);
}

/** Statements of queries, control flow, messages and transactions. */
export const controlStatements: Readonly<Record<string, StatementParser>> = {
  BEGIN: parseBegin,
  BREAK: () => () => 'break',
  COMMIT: (r) => parseTransaction(r, 'commit'),
  CONTINUE: () => () => 'continue',
  DECLARE: (r) => {
    const variables = r.list(() => {
      if (r.isName()) refuse('A cursor');
      const name = r.variable();
      r.take('AS');
      return { name, type: parseType(r), value: r.take('=') ? parseExpression(r) : undefined };
    });
    return (frame) => {
      for (const { name, type, value } of variables) {
        const key = name.toLowerCase();
        // A DECLARE in a loop runs again; only its initial value counts then.
        const variable = frame.variables.get(key) ?? { type, value: null };
        frame.variables.set(key, variable);
        if (value) variable.value = evaluate(value, frame, type).value;
      }
      return undefined;
    };
  },
  IF: (r) => {
    const test = parseTest(r);
    const then = parseStatement(r);
    while (r.is(';') && r.peek().key === 'ELSE') r.next();
    const otherwise = r.take('ELSE') ? parseStatement(r) : undefined;
    return async (frame) => {
      const chosen = (await test(frame)) ? then : otherwise;
      return chosen && runStatements([chosen], frame);
    };
  },
  PRINT: (r) => {
    const value = parseExpression(r);
    return (frame) => {
      const message = evaluate(value, frame, nvarchar(4000)).value as string | null;
      inform(message ?? '', frame, { number: 0, class: 0, state: 1 });
      return undefined;
    };
  },
  RAISERROR: (r) => {
    const args = r.inParentheses(() => r.list(() => parseExpression(r)));
    if (args.length < 3) r.fail();
    const options = r.take('WITH') ? r.list(() => r.next().key) : [];
    return (frame) => raiseError(args, frame, options.includes('NOWAIT'));
  },
  RETURN: (r) => {
    const value = startsStatement(r) ? undefined : parseExpression(r);
    return (frame) => ({ status: value ? ((evaluate(value, frame, int).value as number | null) ?? 0) : 0 });
  },
  ROLLBACK: (r) => parseTransaction(r, 'rollback'),
  SELECT: (r) => {
    const query = parseQuery(r, true);
    return (frame) => select(query, frame);
  },
  SET: (r) => (r.token.kind === 'variable' ? parseAssignment(r) : parseOption(r)),
  THROW: (r) => {
    const args = startsStatement(r) ? [] : r.list(() => parseExpression(r));
    if (args.length !== 0 && args.length !== 3) r.fail();
    return (frame) => raise(args, frame);
  },
  WAITFOR: (r) => {
    r.expect('DELAY');
    const value = parseExpression(r);
    return async (frame) => {
      await frame.session.wait('WAITFOR', delay(delayMs(value, frame), frame.signal));
      return undefined;
    };
  },
  WHILE: (r) => {
    const condition = parseExpression(r);
    const body = parseStatement(r);
    return async (frame) => {
      while (evaluateCondition(condition, frame)) {
        const flow = await runStatements([body], frame);
        if (flow === 'break') break;
        if (flow && flow !== 'continue') return flow;
      }
      return undefined;
    };
  },
};
