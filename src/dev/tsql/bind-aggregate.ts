import type { Expr } from './ast.js';
import { collationOf } from './codec.js';
import type { SqlType, SqlValue } from './contract.js';
import { decimalArithmetic, pow10 } from './decimal.js';
import { fail, refuse } from './errors.js';
import { coerce, isRowFree, type Node } from './node.js';
import type { Plan } from './plan.js';
import type { Scope } from './scope.js';
import {
  asDecimal,
  bigint,
  bounds,
  decimal,
  float,
  int,
  isExact,
  isFloat,
  isInteger,
  isLarge,
  isMoney,
  isNumber,
  isString,
  nvarchar,
  typeName,
} from './types.js';

type Call = Expr & { k: 'call' };

export const aggregateNames = ['COUNT', 'COUNT_BIG', 'SUM', 'AVG', 'MIN', 'MAX', 'STRING_AGG'];

const input = (sql: string, type: SqlType, nullable = true): Node & { k: 'input' } => ({
  k: 'input',
  sql,
  type,
  nullable,
});

function after(node: Node, type: SqlType, run: (value: SqlValue) => SqlValue): Node {
  return {
    k: 'call',
    name: 'aggregate',
    type,
    nullable: node.nullable,
    args: [node],
    run: ([value]) => run(value!),
  };
}

/** An aggregate function, or undefined when the name is none. */
export function aggregate(expr: Call, scope: Scope, value: (e: Expr) => Node, plan: Plan): Node | undefined {
  const { name } = expr;
  if (!aggregateNames.includes(name)) return undefined;
  if (!scope.aggregates) fail(147);
  const depth = scope.aggregates!;
  depth.count++;
  if ((name === 'COUNT' || name === 'COUNT_BIG') && expr.star)
    return counted(name, input('COUNT(*)', bigint, false));
  if (expr.args.length !== (name === 'STRING_AGG' ? 2 : 1))
    fail(174, name.toLowerCase(), name === 'STRING_AGG' ? 2 : 1);
  const inner = scope.aggregates;
  scope.aggregates = undefined;
  let arg: Node;
  try {
    arg = value(expr.args[0]!);
  } finally {
    scope.aggregates = inner;
  }
  if (isLarge(arg.type)) fail(8117, typeName(arg.type), name.toLowerCase());
  const collation = collationOf(arg.type);
  const of = (node: Node): string => `${expr.distinct ? 'DISTINCT ' : ''}${plan.sqlOf(node)}`;
  const collated = `${of(arg)}${collation ? ` COLLATE ${collation}` : ''}`;
  switch (name) {
    case 'COUNT':
    case 'COUNT_BIG':
      return counted(name, input(`COUNT(${collated})`, bigint, false));
    case 'MIN':
    case 'MAX':
      if (arg.type.name === 'bit') fail(8117, 'bit', name.toLowerCase());
      return input(`${name}(${collated})`, arg.type);
    case 'STRING_AGG': {
      if (expr.distinct) refuse('STRING_AGG(DISTINCT)');
      const text = isString(arg.type) ? arg : coerce(arg, nvarchar(4000));
      const separator = coerce(value(expr.args[1]!), nvarchar(4000));
      if (!isRowFree(separator)) refuse('A separator of STRING_AGG that is not constant');
      return input(`group_concat(${plan.sqlOf(text)}, ${plan.sqlOf(separator)})`, {
        ...text.type,
        length: text.type.length === 'max' ? 'max' : text.type.name.startsWith('n') ? 4000 : 8000,
      });
    }
    default:
      return name === 'SUM' ? sum(arg, of) : average(arg, of);
  }
}

function counted(name: string, count: Node): Node {
  if (name === 'COUNT_BIG') return count;
  return { ...after(count, int, (n) => narrowed(n as bigint, int)), nullable: false };
}

function narrowed(value: bigint, type: SqlType): SqlValue {
  const [low, high] = bounds[type.name]!;
  if (value < low || value > high) fail(8115, 'expression', type.name);
  return type.name === 'bigint' || isMoney(type) ? value : Number(value);
}

function sum(arg: Node, of: (node: Node) => string): Node {
  const { type } = arg;
  if (!isNumber(type) || type.name === 'bit') fail(8117, typeName(type), 'sum');
  if (isFloat(type)) return input(`SUM(${of(arg)})`, float);
  if (isInteger(type)) {
    const result = type.name === 'bigint' ? bigint : int;
    return after(input(`SUM(${of(arg)})`, bigint), result, (value) => narrowed(value as bigint, result));
  }
  const scale = asDecimal(type).scale;
  const total = input(`dsum(${of(arg)})`, decimal(38, scale));
  return isMoney(type)
    ? after(total, { name: 'money' }, (value) => narrowed(value as bigint, { name: 'money' }))
    : total;
}

function average(arg: Node, of: (node: Node) => string): Node {
  const { type } = arg;
  if (!isNumber(type) || type.name === 'bit') fail(8117, typeName(type), 'avg');
  const count = input(`COUNT(${of(arg)})`, bigint, false);
  const divide = (total: Node, result: SqlType, run: (sum: SqlValue, count: bigint) => SqlValue): Node => ({
    k: 'call',
    name: 'avg',
    type: result,
    nullable: true,
    args: [total, count],
    run: ([s, n]) => run(s!, n as bigint),
  });
  if (isFloat(type))
    return divide(input(`SUM(${of(arg)})`, float), float, (s, n) => (s as number) / Number(n));
  if (isInteger(type)) {
    const result = type.name === 'bigint' ? bigint : int;
    return divide(input(`SUM(${of(arg)})`, bigint), result, (s, n) => narrowed((s as bigint) / n, result));
  }
  if (!isExact(type)) refuse(`AVG of ${type.name}`);
  const scale = asDecimal(type).scale;
  const total = input(`dsum(${of(arg)})`, decimal(38, scale));
  if (isMoney(type)) {
    return divide(total, { name: 'money' }, (s, n) =>
      (s as bigint) % n === 0n
        ? narrowed((s as bigint) / n, { name: 'money' })
        : refuse('An average of money with more than four decimals'),
    );
  }
  // AVG of decimal(p, s) is decimal(38, max(s, 6)).
  const result = decimal(38, Math.max(scale, 6));
  return divide(total, result, (s, n) =>
    decimalArithmetic('/', (s as bigint) * pow10(0), scale, n, 0, result),
  );
}

export const windowNames = ['ROW_NUMBER', 'RANK', 'DENSE_RANK'];

/** The ranking functions, which SQLite computes. */
export function windowFunction(expr: Call, scope: Scope, value: (e: Expr) => Node, plan: Plan): Node {
  scope.windows = true;
  const { name, over } = expr;
  if (!windowNames.includes(name)) refuse(`${name} ... OVER`);
  if (over!.order.length === 0) fail(4112, `The function '${name}' must have an OVER clause with ORDER BY.`);
  const order = over!.order
    .map(({ expr: e, descending }) => ({ node: e.k === 'subquery' ? undefined : value(e), descending }))
    .filter(({ node }) => node && !isRowFree(node))
    .map(({ node, descending }) => sorted(node!, plan) + (descending ? ' DESC' : ''));
  const partition = over!.partition.map((e) => sorted(value(e), plan));
  const clauses = [
    ...(partition.length > 0 ? [`PARTITION BY ${partition.join(', ')}`] : []),
    ...(order.length > 0 ? [`ORDER BY ${order.join(', ')}`] : []),
  ];
  return input(`${name}() OVER (${clauses.join(' ')})`, bigint, false);
}

/** SQLite text that sorts and groups as the type does. */
export function sorted(node: Node, plan: Plan): string {
  if (isLarge(node.type)) fail(306);
  if (node.type.name === 'sql_variant') refuse('Sorting or grouping sql_variant');
  const collation = collationOf(node.type);
  return plan.sqlOf(node) + (collation ? ` COLLATE ${collation}` : '');
}
