import type { SqlType } from '../sql-engine.js';
import { fail, refuse } from './errors.js';
import {
  arithmetic,
  type Bound,
  caseOf,
  cast,
  comparison,
  constant,
  inPageOf,
  isNullTest,
  logic,
  negate,
  not,
  type Plan,
  type Slot,
  slotValue,
  strict,
} from './expression.js';
import { bindFunction } from './functions.js';
import { isSame } from './names.js';
import { inRange } from './numbers.js';
import type { Frame } from './session.js';
import { checkOrder, collate } from './stored.js';
import type { Expr, Name } from './syntax.js';
import {
  bigint,
  decimal,
  digitsOf,
  float,
  int,
  isNumber,
  isString,
  kindOf,
  nvarchar,
  printed,
} from './types.js';

/** What the names of an expression may mean. */
export interface Scope {
  readonly frame: Frame;
  readonly plan: Plan;
  readonly sources: readonly { readonly alias: string; readonly columns: readonly Slot[] }[];
  /** Counts the aggregates; undefined where they are not allowed. */
  aggregates: number | undefined;
}

/** A value; a condition in its place is a syntax error in T-SQL. */
export function bindValue(expr: Expr, scope: Scope): Bound {
  const bound = bind(expr, scope);
  return bound.isCondition ? fail(102, signOf(expr)) : bound;
}

export function bindCondition(expr: Expr, scope: Scope): Bound {
  const bound = bind(expr, scope);
  return bound.isCondition ? bound : fail(4145, signOf(expr));
}

const signOf = (expr: Expr): string =>
  expr.k === 'call' ? expr.name : expr.k === 'column' ? expr.name.at(-1)! : ')';

/** The column of that name; 207, 209, 4104 when there is none or more than one. */
function resolve(name: Name, { sources }: Scope): Slot {
  const [column, qualifier] = [name.at(-1)!, name.at(-2)];
  const found = sources
    .filter(({ alias }) => !qualifier || isSame(alias, qualifier))
    .flatMap(({ columns }) => columns.filter((slot) => isSame(slot.name, column)));
  if (found.length > 1) fail(209, column);
  return found[0] ?? (qualifier ? fail(4104, name.join('.')) : fail(207, column));
}

function bind(expr: Expr, scope: Scope): Bound {
  switch (expr.k) {
    case 'literal':
      return constant(expr.type, expr.value);
    case 'variable': {
      const variable = scope.frame.variables.get(expr.name.toLowerCase()) ?? fail(137, expr.name);
      return { type: variable.type, nullable: true, inputs: [], run: () => variable.value };
    }
    case 'column':
      return slotValue(resolve(expr.name, scope));
    case 'cast': {
      const a = bindValue(expr.a, scope);
      const isText = isString(expr.type) && a.type.collation !== undefined;
      const type: SqlType = isText ? { ...expr.type, collation: a.type.collation! } : expr.type;
      if (a.literal === null) return constant(type, null);
      return cast(a, type);
    }
    case 'collate': {
      const a = bindValue(expr.a, scope);
      const { collation } = expr;
      if (!isString(a.type)) refuse(`COLLATE of ${a.type.name}`);
      const type = { ...a.type, collation };
      return { ...inPageOf(a, type), type };
    }
    default:
      return bindCall(expr, scope);
  }
}

function bindCall({ name, args }: Expr & { k: 'call' }, scope: Scope): Bound {
  const value = (i: number): Bound => bindValue(args[i]!, scope);
  const test = (i: number): Bound => bindCondition(args[i]!, scope);
  switch (name) {
    case 'AND':
    case 'OR':
      return logic(name, test(0), test(1));
    case 'NOT':
      return not(test(0));
    case 'IS NULL':
      return isNullTest(value(0));
    case 'IN':
      return anyOf(args.slice(1).map((_, i) => comparison('=', value(0), value(i + 1))));
    case 'CASE':
    case 'IIF':
      return caseOf(args.map((_, i) => (i % 2 === 0 && i + 1 < args.length ? test(i) : value(i))));
    case 'negate':
      return negate(value(0));
    case 'COUNT':
    case 'SUM':
    case 'MIN':
    case 'MAX':
      return aggregate(name, args, scope);
    default:
  }
  if (/^[=<>]/.test(name)) return comparison(name, value(0), value(1));
  if (/^[-+*/%]$/.test(name) && args.length === 2) return arithmetic(name, value(0), value(1));
  const [first] = args;
  const isPart = name.startsWith('DATE') && first?.k === 'column';
  const bound = args.map((_, i) => (i === 0 && isPart ? constant(nvarchar(30), first.name[0]!) : value(i)));
  return bindFunction(name, bound, scope.frame);
}

/** Balanced, so that a list of a thousand is no expression a thousand deep. */
function anyOf(tests: readonly Bound[]): Bound {
  const half = tests.length >> 1;
  return half === 0 ? tests[0]! : logic('OR', anyOf(tests.slice(0, half)), anyOf(tests.slice(half)));
}

/** What SQLite computes over a group. */
function aggregate(name: string, args: readonly Expr[], scope: Scope): Bound {
  if (scope.aggregates === undefined) return fail(147);
  if (args.length !== 1) fail(174, name.toLowerCase(), 1);
  const isStar = args[0]!.k === 'call' && args[0]!.name === '*';
  const arg = isStar ? constant(int, 1) : bindValue(args[0]!, { ...scope, aggregates: undefined });
  scope.aggregates++;
  const of = (type: SqlType, nullable: boolean): Bound => {
    const sql = `${name}(${isStar ? '*' : `${scope.plan.sqlOf(arg)}${collate(arg.type)}`})`;
    return slotValue({ sql, type, name, nullable, isAggregate: true });
  };
  if (name === 'COUNT') return of(int, false);
  const { type } = arg;
  if (name !== 'SUM') {
    checkOrder(type, 'sort');
    return type.name === 'bit' ? fail(8117, 'bit', name.toLowerCase()) : of(type, true);
  }
  if (!isNumber(type) || type.name === 'bit') fail(8117, printed(type), 'sum');
  if (kindOf(type) === 'float') return of(float, true);
  const [precision, scale] = digitsOf(type);
  if (type.name === 'decimal' && precision > 18) refuse('SUM of decimals of more than 18 digits');
  const result: SqlType =
    type.name === 'decimal'
      ? decimal(38, scale)
      : kindOf(type) === 'money'
        ? { name: 'money' }
        : type.name === 'bigint'
          ? type
          : int;
  return strict(result, [of(bigint, true)], (total) => {
    const value = inRange(total as bigint, result);
    return result.name === 'int' ? Number(value) : value;
  });
}
