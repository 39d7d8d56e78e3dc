import { collationOf, isNarrow, sensitivityOf } from './codec.js';
import { compareValues, likeMatches } from './compare.js';
import type { SqlType, SqlValue } from './contract.js';
import { fitFloat, scaled } from './convert.js';
import { decimalArithmetic, resultType } from './decimal.js';
import { fail, refuse, sqlError } from './errors.js';
import { coerce, converted, higher, isNullLiteral, type Node } from './node.js';
import {
  asDecimal,
  bounds,
  condition,
  decimal,
  isBinary,
  isDateTime,
  isExact,
  isFloat,
  isInteger,
  isLarge,
  isMoney,
  isNumber,
  isString,
  isUnicode,
  mergeCollation,
  nvarchar,
  rank,
  serverCollation,
  textLength,
  typeName,
  unify,
  varchar,
} from './types.js';

const names: Readonly<Record<string, string>> = {
  '+': 'add',
  '-': 'subtract',
  '*': 'multiply',
  '/': 'divide',
  '%': 'modulo',
  '&': "'&'",
  '|': "'|'",
  '^': "'^'",
  '=': 'equal to',
  '<>': 'not equal to',
  '<': 'less than',
  '>': 'greater than',
  '<=': 'less than or equal to',
  '>=': 'greater than or equal to',
};

const strict = (
  name: string,
  type: SqlType,
  args: readonly Node[],
  run: (args: readonly SqlValue[]) => SqlValue,
): Node => ({
  k: 'call',
  name,
  type,
  args,
  run,
  nullable: args.some((arg) => arg.nullable),
});

/** `+ - * / % & | ^` */
export function arithmetic(op: string, a: Node, b: Node): Node {
  const incompatible = (): never => fail(402, typeName(a.type), typeName(b.type), names[op]!);
  if (
    op === '+' &&
    (isString(a.type) || isNullLiteral(a)) &&
    (isString(b.type) || isNullLiteral(b)) &&
    !(isNullLiteral(a) && isNullLiteral(b))
  )
    return concatenate(a, b);
  if (op === '+' && isBinary(a.type) && isBinary(b.type)) return refuse('Concatenation of binary values');
  const type = higher(a, b);
  if (isDateTime(type) && type.name !== 'datetime2' && (op === '+' || op === '-'))
    return addDays(op, a, b, type);
  if (!isNumber(type)) {
    if (
      type.name === 'date' ||
      type.name === 'time' ||
      type.name === 'datetime2' ||
      type.name === 'datetimeoffset'
    )
      fail(206, typeName(a === b ? a.type : rank(a.type) < rank(b.type) ? a.type : b.type), typeName(type));
    if (isString(type) || isBinary(type)) incompatible();
    fail(8117, typeName(type), names[op]!);
  }
  if (a.type.name === 'bit' && b.type.name === 'bit') incompatible();
  if ('&|^'.includes(op)) return bitwise(op, a, b, type);
  if (isFloat(type)) {
    if (op === '%') incompatible();
    const [x, y] = [coerce(a, type), coerce(b, type)];
    return strict(op, type, [x, y], ([p, q]) => floatArithmetic(op, p as number, q as number, type));
  }
  if (type.name === 'decimal' || isMoney(type)) {
    const exact = (node: Node): Node => (isExact(node.type) ? node : coerce(node, type));
    const [x, y] = [exact(a), exact(b)];
    const result = isMoney(type) ? type : resultType(op, literalType(x), literalType(y));
    return strict(op, result, [x, y], ([p, q]) => {
      const [l, r] = [scaled(p!, x.type), scaled(q!, y.type)];
      const value = decimalArithmetic(op, l.value, l.scale, r.value, r.scale, result);
      return isMoney(result) ? inRange(value, result) : value;
    });
  }
  const [x, y] = [coerce(a, type), coerce(b, type)];
  return strict(op, type, [x, y], ([p, q]) =>
    integerArithmetic(op, BigInt(p as number), BigInt(q as number), type),
  );
}

/** An integer constant is as wide as its digits, not as an int. */
function literalType(node: Node): SqlType {
  return node.k === 'const' && isInteger(node.type) && node.value !== null
    ? decimal(String(node.value).replace('-', '').length, 0)
    : node.type;
}

function inRange(value: bigint, type: SqlType): bigint {
  const [low, high] = bounds[type.name]!;
  if (value < low || value > high) fail(8115, 'expression', type.name);
  return value;
}

function integerArithmetic(op: string, a: bigint, b: bigint, type: SqlType): SqlValue {
  if ((op === '/' || op === '%') && b === 0n) fail(8134);
  const value = op === '+' ? a + b : op === '-' ? a - b : op === '*' ? a * b : op === '/' ? a / b : a % b;
  const checked = inRange(value, type);
  return type.name === 'bigint' ? checked : Number(checked);
}

function floatArithmetic(op: string, a: number, b: number, type: SqlType): number {
  if (op === '/' && b === 0) fail(8134);
  return fitFloat(op === '+' ? a + b : op === '-' ? a - b : op === '*' ? a * b : a / b, type);
}

function bitwise(op: string, a: Node, b: Node, type: SqlType): Node {
  if (!isInteger(type) && type.name !== 'bit') fail(402, typeName(a.type), typeName(b.type), names[op]!);
  return strict(op, type, [coerce(a, type), coerce(b, type)], ([p, q]) => {
    const [x, y] = [BigInt(p as number), BigInt(q as number)];
    const value = op === '&' ? x & y : op === '|' ? x | y : x ^ y;
    return type.name === 'bigint' ? value : Number(value);
  });
}

function addDays(op: string, a: Node, b: Node, type: SqlType): Node {
  const [date, days] = isDateTime(a.type) ? [a, b] : [b, a];
  if (!isInteger(days.type) || (op === '-' && date !== a))
    return refuse('Arithmetic on dates other than adding whole days');
  return strict(op, type, [date, days], ([ticks, n]) => {
    const moved = (ticks as bigint) + (op === '-' ? -1n : 1n) * BigInt(n as number) * 864_000_000_000n;
    if (moved < 552_877_920_000_000_000n || moved >= 3_155_378_976_000_000_000n)
      throw sqlError(8115, 'expression', type.name);
    return moved;
  });
}

function concatenate(a: Node, b: Node): Node {
  const [x, y] = [isNullLiteral(a) ? coerce(a, b.type) : a, isNullLiteral(b) ? coerce(b, a.type) : b];
  if (isLarge(x.type) || isLarge(y.type)) fail(402, x.type.name, y.type.name, 'add');
  const unicode = isUnicode(x.type) || isUnicode(y.type);
  const limit = unicode ? 4000 : 8000;
  const [m, n] = [textLength(x.type), textLength(y.type)];
  const length = m === 'max' || n === 'max' ? 'max' : Math.min(limit, m + n);
  const { collation } = mergeCollation(x.type, y.type);
  const type = unicode ? nvarchar(length, collation) : varchar(length, collation);
  return strict('concat', type, [x, y], ([p, q]) => {
    const text = (p as string) + (q as string);
    // SQL Server cuts silently at 8,000 bytes when neither side is (max).
    return length === 'max' ? text : text.slice(0, length);
  });
}

export function negate(a: Node): Node {
  const { type } = a;
  if (!isNumber(type) || type.name === 'bit') fail(8117, typeName(type), 'minus');
  if (type.name === 'tinyint')
    return arithmetic('-', { k: 'const', type: { name: 'tinyint' }, value: 0, nullable: false }, a);
  return strict('negate', type, [a], ([x]) => {
    if (isFloat(type)) return -(x as number);
    const value = -BigInt(x as number | bigint);
    const checked = type.name === 'decimal' ? value : inRange(value, type);
    return typeof x === 'bigint' ? checked : Number(checked);
  });
}

export function complement(a: Node): Node {
  const { type } = a;
  if (type.name === 'bit') return strict('~', type, [a], ([x]) => !x);
  if (!isInteger(type)) fail(8117, typeName(type), "'~'");
  const flip = (x: bigint): bigint => (type.name === 'tinyint' ? 255n - x : ~x);
  return strict('~', type, [a], ([x]) =>
    type.name === 'bigint' ? flip(x as bigint) : Number(flip(BigInt(x as number))),
  );
}

/** `= <> < > <= >=`, in SQLite's own terms where both sides are stored alike, so that keys are used. */
export function comparison(op: string, a: Node, b: Node): Node {
  const [x, y, type] = comparable(a, b, names[op]!);
  const test: Record<string, (order: number) => boolean> = {
    '=': (n) => n === 0,
    '<>': (n) => n !== 0,
    '<': (n) => n < 0,
    '>': (n) => n > 0,
    '<=': (n) => n <= 0,
    '>=': (n) => n >= 0,
  };
  const holds = test[op]!;
  const collation = collationOf(type);
  const narrow = type.name !== 'decimal' || isNarrow(x.type) === isNarrow(y.type);
  return {
    k: 'call',
    name: op,
    type: condition,
    nullable: x.nullable || y.nullable,
    args: [x, y],
    run: ([p, q]) => holds(compareValues(type, p!, q!)),
    native: narrow ? ([l, r]) => `(${l} ${op} ${r}${collation ? ` COLLATE ${collation}` : ''})` : undefined,
  };
}

/** Both sides in one type; values whose stored forms compare already stay as they are. */
export function comparable(a: Node, b: Node, operator: string): [Node, Node, SqlType] {
  const [x, y] = [isNullLiteral(a) ? coerce(a, b.type) : a, isNullLiteral(b) ? coerce(b, a.type) : b];
  const clash = (): never => fail(402, typeName(x.type), typeName(y.type), operator);
  if (isLarge(x.type) || isLarge(y.type)) clash();
  if (x.type.name === 'sql_variant' || y.type.name === 'sql_variant') refuse('A comparison of sql_variant');
  const type = unify(x.type, y.type);
  const whole = (t: SqlType): boolean => isInteger(t) || t.name === 'bit';
  const alike =
    (whole(x.type) && whole(y.type)) ||
    (isDateTime(x.type) && isDateTime(y.type)) ||
    (isString(x.type) && isString(y.type)) ||
    (isBinary(x.type) && isBinary(y.type)) ||
    (x.type.name === 'decimal' &&
      y.type.name === 'decimal' &&
      asDecimal(x.type).scale === asDecimal(y.type).scale) ||
    (x.type.name === y.type.name && x.type.name !== 'decimal');
  if (alike) return [x, y, isString(type) ? { ...type, ...mergeCollation(x.type, y.type) } : type];
  // Digits that the common type would round away must not make two values equal.
  if (type.name === 'decimal') return [exactly(x), exactly(y), type];
  return [coerce(x, type), coerce(y, type), type];

  function exactly(node: Node): Node {
    const scale = Math.max(
      ...[x, y].map((n) => (isExact(n.type) ? asDecimal(n.type).scale : asDecimal(type).scale)),
    );
    const target = decimal(38, scale);
    return converted(node, target, 0);
  }
}

export function like(a: Node, pattern: Node, escapeWith: Node | undefined, not: boolean): Node {
  const text = (node: Node): Node => (isString(node.type) ? node : coerce(node, nvarchar(4000)));
  const [x, y] = [text(a), text(pattern)];
  const sensitivity = sensitivityOf(mergeCollation(x.type, y.type).collation ?? serverCollation);
  if (sensitivity.endsWith('AI')) refuse('LIKE under an accent-insensitive collation');
  const unicode = isUnicode(x.type) || isUnicode(y.type);
  const args = escapeWith ? [x, y, coerce(escapeWith, nvarchar(1))] : [x, y];
  return strict(
    `like${not}`,
    condition,
    args,
    ([p, q, e]) => likeMatches(sensitivity, p as string, q as string, (e as string) ?? '', unicode) !== not,
  );
}

export function isNull(a: Node, not: boolean): Node {
  return {
    k: 'call',
    name: `isnull${not}`,
    type: condition,
    nullable: false,
    args: [a],
    lenient: true,
    run: ([value]) => (value === null) !== not,
    native: ([sql]) => `(${sql} IS ${not ? 'NOT ' : ''}NULL)`,
  };
}

export const logic = (op: 'AND' | 'OR' | 'NOT', ...args: Node[]): Node => ({
  k: 'logic',
  op,
  args,
  type: condition,
  nullable: args.some((arg) => arg.nullable),
});

/** CASE and the functions that are short for it. */
export function caseOf(whens: readonly (readonly [Node, Node])[], otherwise: Node): Node {
  const results = [...whens.map(([, then]) => then), otherwise];
  const typed = results.filter((node) => !isNullLiteral(node));
  if (typed.length === 0)
    fail(
      8133,
      'At least one of the result expressions in a CASE specification must be an expression other than the NULL constant.',
    );
  const type = typed.map((node) => node.type).reduce(unify);
  return {
    k: 'case',
    type,
    nullable: results.some((node) => node.nullable),
    whens: whens.map(([when, then]) => [when, coerce(then, type)] as const),
    otherwise: coerce(otherwise, type),
  };
}
