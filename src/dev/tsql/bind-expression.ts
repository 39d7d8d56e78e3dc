import type { Expr, Query } from './ast.js';
import { aggregate, windowFunction } from './bind-aggregate.js';
import { collationOf } from './codec.js';
import type { SqlType } from './contract.js';
import { convert } from './convert.js';
import { fail, refuse, SqlError } from './errors.js';
import { bindFunction } from './functions.js';
import { coerce, constant, converted, inputsOf, isNullLiteral, type Node } from './node.js';
import {
  arithmetic,
  caseOf,
  comparable,
  comparison,
  complement,
  isNull,
  like,
  logic,
  negate,
} from './operators.js';
import type { Plan } from './plan.js';
import type { Scope } from './scope.js';
import { condition, int, isString, typeName, unify } from './types.js';

/** What an expression needs of the binder around it: the plan it adds to, variables' types, subqueries. */
export interface ExpressionContext {
  readonly plan: Plan;
  variableType(name: string): SqlType;
  /** A subquery of one column as SQLite text; `single` for a scalar one. */
  subquery(
    query: Query,
    scope: Scope,
    use: 'scalar' | 'list' | 'exists',
  ): { sql: string; type: SqlType; emit(type: SqlType): string };
}

/** A value; a condition in its place is a syntax error in T-SQL. */
export function bindValue(expr: Expr, scope: Scope, context: ExpressionContext): Node {
  const node = bind(expr, scope, context);
  return node.type === condition ? fail(102, signOf(expr)) : node;
}

export function bindCondition(expr: Expr, scope: Scope, context: ExpressionContext): Node {
  const node = bind(expr, scope, context);
  return node.type === condition ? node : fail(4145, signOf(expr));
}

const signOf = (expr: Expr): string =>
  expr.k === 'binary' ? expr.op : expr.k === 'column' ? expr.name.at(-1)! : ')';

function bind(expr: Expr, scope: Scope, context: ExpressionContext): Node {
  const value = (e: Expr): Node => bindValue(e, scope, context);
  const test = (e: Expr): Node => bindCondition(e, scope, context);
  switch (expr.k) {
    case 'literal':
      return constant(expr.type, expr.value);
    case 'variable': {
      const key = expr.name.toLowerCase();
      const type = context.variableType(expr.name);
      return {
        k: 'call',
        name: key,
        type,
        nullable: true,
        args: [],
        run: (_, runtime) => runtime.variables.get(key)!.value,
      };
    }
    case 'column':
      return scope.resolve(expr.name);
    case 'star':
      return fail(102, '*');
    case 'unary':
      if (expr.op === 'NOT') return logic('NOT', test(expr.a));
      if (expr.op === '+') return value(expr.a);
      return expr.op === '-' ? negateValue(value(expr.a)) : complement(value(expr.a));
    case 'binary':
      if (expr.op === 'AND' || expr.op === 'OR') return logic(expr.op, test(expr.a), test(expr.b));
      if (/[=<>]/.test(expr.op)) return comparison(expr.op, value(expr.a), value(expr.b));
      return arithmetic(expr.op, value(expr.a), value(expr.b));
    case 'isNull':
      return isNull(value(expr.a), expr.not);
    case 'between': {
      const [a, low, high] = [value(expr.a), value(expr.low), value(expr.high)];
      const inside = logic('AND', comparison('>=', a, low), comparison('<=', a, high));
      return expr.not ? logic('NOT', inside) : inside;
    }
    case 'like':
      return like(value(expr.a), value(expr.pattern), expr.escape && value(expr.escape), expr.not);
    case 'in':
      return bindIn(expr, scope, context);
    case 'exists': {
      const { sql } = context.subquery(expr.query, scope, 'exists');
      return { k: 'input', type: condition, nullable: false, sql: `EXISTS (${sql})` };
    }
    case 'subquery': {
      const { sql, type } = context.subquery(expr.query, scope, 'scalar');
      return { k: 'input', type, nullable: true, sql };
    }
    case 'case': {
      const on = expr.on && value(expr.on);
      const whens = expr.whens.map(
        ([when, then]) => [on ? comparison('=', on, value(when)) : test(when), value(then)] as const,
      );
      return caseOf(whens, expr.otherwise ? value(expr.otherwise) : constant(int, null));
    }
    case 'cast':
      return bindCast(expr, scope, context);
    case 'collate': {
      const a = value(expr.a);
      if (!isString(a.type)) fail(447, `Expression type ${typeName(a.type)} is invalid for COLLATE clause.`);
      const { collation } = expr;
      const type = { ...a.type, collation };
      return {
        k: 'call',
        name: `collate:${collation}`,
        type,
        nullable: a.nullable,
        args: [a],
        run: ([x]) => x!,
        native: ([sql]) => sql!,
      };
    }
    default:
      return bindCall(expr, scope, context);
  }
}

/** A negative constant stays a constant, which has the width of its digits. */
function negateValue(a: Node): Node {
  if (a.k === 'const' && typeof a.value === 'number' && (a.type.name === 'int' || a.type.name === 'float'))
    return { ...a, value: -a.value };
  return negate(a);
}

function bindIn(expr: Expr & { k: 'in' }, scope: Scope, context: ExpressionContext): Node {
  const a = bindValue(expr.a, scope, context);
  if (expr.list) {
    const tests = expr.list.map((item) => comparison('=', a, bindValue(item, scope, context)));
    // Balanced, so that a list of a thousand is no expression a thousand deep.
    const any = balanced(tests);
    return expr.not ? logic('NOT', any) : any;
  }
  const { type: inner, emit } = context.subquery(expr.query!, scope, 'list');
  const probe: Node = { k: 'input', type: inner, nullable: true, sql: '' };
  const [x, , compared] = comparable(a, probe, 'equal to');
  const type = unify(x.type, inner);
  const collation = collationOf(compared);
  const left = context.plan.sqlOf(coerce(a, type));
  const sql = `(${left}${collation ? ` COLLATE ${collation}` : ''} ${expr.not ? 'NOT ' : ''}IN (${emit(type)}))`;
  const owner = [...inputsOf(a).values()].find((input) => input.owner)?.owner;
  return { k: 'input', type: condition, nullable: true, sql, owner, name: 'IN' };
}

function balanced(tests: readonly Node[]): Node {
  if (tests.length === 1) return tests[0]!;
  const half = tests.length >> 1;
  return logic('OR', balanced(tests.slice(0, half)), balanced(tests.slice(half)));
}

function bindCast(expr: Expr & { k: 'cast' }, scope: Scope, context: ExpressionContext): Node {
  const a = bindValue(expr.a, scope, context);
  let style = 0;
  if (expr.style) {
    const node = bindValue(expr.style, scope, context);
    if (node.k !== 'const' || typeof node.value !== 'number')
      refuse('A style of CONVERT that is not a constant');
    style = (node as { value: number }).value;
  }
  const type =
    isString(expr.type) && a.type.collation ? { ...expr.type, collation: a.type.collation } : expr.type;
  if (isNullLiteral(a)) return constant(type, null);
  if (!expr.safe) return converted(a, type, style);
  const from = a.type;
  return {
    k: 'call',
    name: `try:${JSON.stringify(type)}:${style}`,
    type,
    nullable: true,
    args: [a],
    run: ([x]) => {
      try {
        return convert(x!, from, type, style);
      } catch (error) {
        if (error instanceof SqlError && error.number !== 529 && error.number !== 40510) return null;
        throw error;
      }
    },
  };
}

function bindCall(expr: Expr & { k: 'call' }, scope: Scope, context: ExpressionContext): Node {
  const value = (e: Expr): Node => bindValue(e, scope, context);
  if (expr.over) return windowFunction(expr, scope, value, context.plan);
  const total = aggregate(expr, scope, value, context.plan);
  if (total) return total;
  if (expr.distinct || expr.star) fail(102, expr.star ? '*' : 'DISTINCT');
  const args = expr.args.map(value);
  if (expr.name === 'COALESCE') {
    if (args.length < 2) fail(102, ')');
    return caseOf(
      args.slice(0, -1).map((arg) => [isNull(arg, true), arg] as const),
      args.at(-1)!,
    );
  }
  if (expr.name === 'NULLIF') {
    if (args.length !== 2) fail(174, 'nullif', 2);
    return {
      ...caseOf([[comparison('=', args[0]!, args[1]!), constant(args[0]!.type, null)]], args[0]!),
      nullable: true,
    };
  }
  if (expr.name === 'CHOOSE') {
    const [index, ...choices] = args;
    return caseOf(
      choices.map(
        (choice, i) => [comparison('=', coerce(index!, int), constant(int, i + 1)), choice] as const,
      ),
      constant(int, null),
    );
  }
  return bindFunction(expr.name, args);
}
