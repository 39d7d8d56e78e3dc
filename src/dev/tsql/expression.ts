import type { SqlType, SqlValue } from '../sql-engine.js';
import { compareValues } from './collation.js';
import { checkImplicit, convert, type Present } from './convert.js';
import { fail, refuse } from './errors.js';
import { exactArithmetic, fitFloat, inRange, resultType } from './numbers.js';
import type { Callback } from './sqlite.js';
import { collate, type Raw, toStored } from './stored.js';
import {
  bit,
  decimal,
  digitsOf,
  isExact,
  isLarge,
  isNumber,
  isString,
  isTicks,
  isUnicode,
  kindOf,
  longer,
  printed,
  samePage,
  sameType,
  unify,
} from './types.js';

/** What SQLite gives for each row: a column or an aggregate, in the stored form of the type. */
export interface Slot {
  readonly sql: string;
  readonly type: SqlType;
  readonly name: string;
  readonly nullable: boolean;
  readonly identity?: boolean | undefined;
  readonly isAggregate?: boolean;
}

export type Row = ReadonlyMap<Slot, SqlValue>;

/** A bound expression: it knows its type before any row is read. */
export interface Bound {
  readonly type: SqlType;
  readonly nullable: boolean;
  readonly inputs: readonly Slot[];
  readonly run: (row: Row) => SqlValue;
  readonly isCondition?: boolean;
  /** SQLite text with the same meaning on stored values; without it, SQLite calls back. */
  readonly native?: (plan: Plan) => string;
  /** Set for constants, whose width and NULL count. */
  readonly literal?: SqlValue;
  /** Differs from row to row without any input. */
  readonly isVolatile?: boolean;
}

/** What the SQLite text of one statement refers to: parameters and callbacks, both by number. */
export class Plan {
  readonly parameters: Raw[] = [];
  readonly callbacks: Callback[] = [];

  parameter(raw: Raw): string {
    return `?${this.parameters.push(raw)}`;
  }

  /** SQLite text for the stored form of a value; a condition is 1, 0 or NULL. */
  sqlOf({ type, inputs, run, native, isVolatile }: Bound): string {
    if (inputs.length === 0 && !isVolatile) return this.parameter(toStored(run(new Map()), type));
    if (native) return native(this);
    const index = this.callbacks.push({
      inputs: inputs.map((slot) => slot.type),
      output: type,
      run: (values) => run(new Map(inputs.map((slot, i) => [slot, values[i]!]))),
    });
    return `js(${[index - 1, ...inputs.map((slot) => slot.sql)].join(', ')})`;
  }
}

export const constant = (type: SqlType, value: SqlValue): Bound => ({
  type,
  nullable: value === null,
  inputs: [],
  run: () => value,
  literal: value,
});

export const slotValue = (slot: Slot): Bound => ({
  type: slot.type,
  nullable: slot.nullable,
  inputs: [slot],
  run: (row) => row.get(slot)!,
  native: () => slot.sql,
});

export const inputsOf = (all: readonly Bound[]): Slot[] => [...new Set(all.flatMap(({ inputs }) => inputs))];

/** A function of values; a NULL among them is a NULL result. */
export function strict(
  type: SqlType,
  args: readonly Bound[],
  run: (...values: Present[]) => SqlValue,
): Bound {
  return lenient(type, args, (...values) => (values.includes(null) ? null : run(...(values as Present[]))));
}

export function lenient(
  type: SqlType,
  args: readonly Bound[],
  run: (...values: SqlValue[]) => SqlValue,
): Bound {
  const nullable = args.some((arg) => arg.nullable);
  return { type, nullable, inputs: inputsOf(args), run: (row) => run(...args.map((arg) => arg.run(row))) };
}

const isNull = ({ literal }: Bound): boolean => literal === null;

/** Implicit conversion; NULL takes any type. */
export const coerce = (a: Bound, type: SqlType): Bound =>
  sameType(a.type, type) ? a : isNull(a) ? constant(type, null) : cast(checkedImplicit(a, type), type);

/** Both sides of an operator; a NULL takes the type of the other. */
const sides = (a: Bound, b: Bound): [Bound, Bound] => [
  isNull(a) ? coerce(a, b.type) : a,
  isNull(b) ? coerce(b, a.type) : b,
];

/** The value itself, unless it needs CAST to become one of the type: 206, 257. */
export function checkedImplicit(a: Bound, type: SqlType): Bound {
  if (!isNull(a)) checkImplicit(a.type, type);
  return a;
}

export const cast = (a: Bound, type: SqlType): Bound =>
  strict(type, [a], (value) => convert(value, a.type, type));

/** Text as it is, or converted to the code page of a type that is no Unicode; its length stays. */
export const inPageOf = (a: Bound, { collation }: SqlType): Bound => {
  const type = { ...a.type, ...(collation && { collation }) };
  return samePage(a.type, type) ? a : cast(a, type);
};

const verbs: Readonly<Record<string, string>> = {
  '+': 'add',
  '-': 'subtract',
  '*': 'multiply',
  '/': 'divide',
  '%': 'modulo',
};

/** `+ - * / %` */
export function arithmetic(op: string, left: Bound, right: Bound): Bound {
  const [a, b] = sides(left, right);
  if (op === '+' && isString(a.type) && isString(b.type)) return concatenate(a, b);
  const type = unify(a.type, b.type);
  const kind = kindOf(type);
  if (kind === 'temporal') refuse('Arithmetic on dates');
  if (!isNumber(type) || kind === 'bit' || (op === '%' && kind === 'float'))
    fail(402, printed(a.type), printed(b.type), verbs[op] ?? `'${op}'`);
  if (kind === 'float') {
    return strict(type, [coerce(a, type), coerce(b, type)], (p, q) => {
      const [x, y] = [p as number, q as number];
      if (op === '/' && y === 0) fail(8134);
      return fitFloat(op === '+' ? x + y : op === '-' ? x - y : op === '*' ? x * y : x / y, type);
    });
  }
  const [x, y] = [a, b].map((side) => (isExact(side.type) ? side : coerce(side, type))) as [Bound, Bound];
  const result = kind === 'decimal' ? resultType(op, widthOf(x), widthOf(y)) : type;
  const [s1, s2] = [digitsOf(x.type)[1], digitsOf(y.type)[1]];
  return strict(result, [x, y], (p, q) =>
    whole(exactArithmetic(op, BigInt(p as bigint), s1, BigInt(q as bigint), s2, result), result),
  );
}

/** A bigint as the value of an exact type. */
const whole = (value: bigint, type: SqlType): SqlValue =>
  kindOf(type) === 'integer' && type.name !== 'bigint' ? Number(value) : value;

/** An integer constant is as wide as its digits, not as an int. */
const widthOf = ({ type, literal }: Bound): SqlType =>
  typeof literal === 'number' ? decimal(String(Math.abs(literal)).length, 0) : type;

function concatenate(a: Bound, b: Bound): Bound {
  if (isLarge(a.type) || isLarge(b.type)) fail(402, a.type.name, b.type.name, 'add');
  const { collation } = unify(a.type, b.type, 'add');
  const name = isUnicode(a.type) || isUnicode(b.type) ? 'nvarchar' : 'varchar';
  // SQL Server cuts silently at 8,000 bytes when neither side is (max).
  const isMax = longer(a.type, b.type) === 'max';
  const length = isMax
    ? 'max'
    : Math.min(name === 'nvarchar' ? 4000 : 8000, Number(a.type.length) + Number(b.type.length));
  const type: SqlType = { name, length, ...(collation && { collation }) };
  const sides = isUnicode(type) ? [a, b] : [inPageOf(a, type), inPageOf(b, type)];
  return strict(type, sides, (p, q) => `${p}${q}`.slice(0, isMax ? undefined : (length as number)));
}

export function negate(a: Bound): Bound {
  if (!isNumber(a.type) || a.type.name === 'bit') fail(8117, printed(a.type), 'minus');
  return strict(a.type, [a], (x) =>
    kindOf(a.type) === 'float' ? -(x as number) : whole(inRange(-BigInt(x as bigint), a.type), a.type),
  );
}

export const condition = (
  args: readonly Bound[],
  run: (...values: SqlValue[]) => SqlValue,
  native?: Bound['native'],
): Bound => ({
  ...lenient(bit, args, run),
  isCondition: true,
  ...(native && { native }),
});

/** As messages name them, and what they say of an order. */
const comparisons: Readonly<Record<string, readonly [name: string, holds: (order: number) => boolean]>> = {
  '=': ['equal to', (n) => n === 0],
  '<>': ['not equal to', (n) => n !== 0],
  '<': ['less than', (n) => n < 0],
  '>': ['greater than', (n) => n > 0],
  '<=': ['less than or equal to', (n) => n <= 0],
  '>=': ['greater than or equal to', (n) => n >= 0],
};

/** `= <> < > <= >=`, in SQLite's own terms where both sides are stored alike, so that keys are used. */
export function comparison(op: string, a: Bound, b: Bound): Bound {
  const [name, holds] = comparisons[op]!;
  const [x, y, type] = comparable(name, a, b);
  const isEquality = op === '=' || op === '<>';
  if (type.name === 'uniqueidentifier' && !isEquality) refuse('The order of uniqueidentifier');
  const run = (p: SqlValue, q: SqlValue): SqlValue =>
    p === null || q === null ? null : holds(compareValues(type, p, q));
  if (type.name === 'datetimeoffset') return condition([x, y], run);
  return condition([x, y], run, (plan) => `(${plan.sqlOf(x)} ${op} ${plan.sqlOf(y)}${collate(type)})`);
}

/** Both sides in one type; values whose stored forms compare already stay as they are. */
function comparable(name: string, left: Bound, right: Bound): [Bound, Bound, SqlType] {
  const [a, b] = sides(left, right);
  if (isLarge(a.type) || isLarge(b.type)) fail(402, printed(a.type), printed(b.type), name);
  if ([a, b].some(({ type }) => type.name === 'sql_variant')) refuse('A comparison of sql_variant');
  const type = unify(a.type, b.type, name);
  const kinds = [a, b].map((side) => kindOf(side.type).replace('bit', 'integer'));
  const isAlike = kinds[0] === kinds[1] && !['decimal', 'money', 'temporal'].includes(kinds[0]!);
  if (isAlike && isString(type) && !isUnicode(type)) return [inPageOf(a, type), inPageOf(b, type), type];
  if (isAlike || (isTicks(a.type) && isTicks(b.type))) return [a, b, type];
  if (type.name !== 'decimal') return [coerce(a, type), coerce(b, type), type];
  // Digits that the common type would round away must not make two values equal.
  const exact = decimal(
    38,
    Math.max(...[a, b].map((side) => (isExact(side.type) ? digitsOf(side.type)[1] : 0))),
  );
  return [coerce(a, exact), coerce(b, exact), exact];
}

/** AND and OR, of three values. */
export function logic(op: 'AND' | 'OR', a: Bound, b: Bound): Bound {
  const decisive = op === 'OR';
  const run = (row: Row): SqlValue => {
    const x = a.run(row);
    if (x === decisive) return x;
    const y = b.run(row);
    return y === decisive ? y : x === null || y === null ? null : !decisive;
  };
  return {
    ...condition(
      [a, b],
      () => null,
      (plan) => `(${plan.sqlOf(a)} ${op} ${plan.sqlOf(b)})`,
    ),
    run,
  };
}

export const not = (a: Bound): Bound =>
  condition(
    [a],
    (x) => (x === null ? null : !x),
    (plan) => `(NOT ${plan.sqlOf(a)})`,
  );

export const isNullTest = (a: Bound): Bound =>
  condition(
    [a],
    (x) => x === null,
    (plan) => `(${plan.sqlOf(a)} IS NULL)`,
  );

/** CASE and the functions that are short for it: conditions and results by turns, and the last result. */
export function caseOf(parts: readonly Bound[]): Bound {
  const isResult = (_: Bound, i: number): boolean => i % 2 === 1 || i === parts.length - 1;
  const results = parts.filter(isResult);
  const typed = results.filter((result) => !isNull(result));
  if (typed.length === 0) return refuse('CASE with nothing but NULL');
  const type = typed.map((result) => result.type).reduce((a, b) => unify(a, b));
  const all = parts.map((part, i) => (isResult(part, i) ? coerce(part, type) : part));
  const run = (row: Row): SqlValue => {
    let i = 0;
    while (i + 1 < all.length && all[i]!.run(row) !== true) i += 2;
    return all[Math.min(i + 1, all.length - 1)]!.run(row);
  };
  return { type, nullable: results.some((result) => result.nullable), inputs: inputsOf(all), run };
}
