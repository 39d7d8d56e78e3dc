import type { SqlType } from './contract.js';
import { fitFloat, scaled } from './convert.js';
import { checkPrecision, divideRounded, pow10 } from './decimal.js';
import { fail } from './errors.js';
import { arity, type FunctionBinder, strictCall } from './function-binder.js';
import { dateFunctions } from './functions-dates.js';
import { systemFunctions } from './functions-system.js';
import { textFunctions } from './functions-text.js';
import { coerce, isNullLiteral, type Node } from './node.js';
import {
  asDecimal,
  bounds,
  decimal,
  float,
  int,
  isExact,
  isFloat,
  isInteger,
  isMoney,
  isNumber,
  typeName,
} from './types.js';

function sign(kind: 'ABS' | 'SIGN'): FunctionBinder {
  return ([arg, more], name) => {
    if (!arg || more) fail(174, name.toLowerCase(), 1);
    const a = numeric(arg!, name);
    const type: SqlType = a.type.name === 'tinyint' || a.type.name === 'smallint' ? int : a.type;
    const x = coerce(a, type);
    return strictCall(name, type, [x], ([value]) => {
      if (typeof value === 'number' && isFloat(type))
        return kind === 'ABS' ? Math.abs(value) : Math.sign(value);
      const exact = BigInt(value as bigint | number);
      const one = type.name === 'decimal' || isMoney(type) ? pow10(asDecimal(type).scale) : 1n;
      const result =
        kind === 'ABS' ? (exact < 0n ? -exact : exact) : exact > 0n ? one : exact < 0n ? -one : 0n;
      const limit = bounds[type.name];
      if (limit && result > limit[1]) fail(8115, 'expression', type.name);
      return typeof value === 'bigint' ? result : Number(result);
    });
  };
}

function numeric(node: Node, name: string): Node {
  if (!isNumber(node.type)) return coerce(node, float);
  if (node.type.name === 'bit') fail(8116, typeName(node.type), 1, name.toLowerCase());
  return node;
}

function rounding(kind: 'CEILING' | 'FLOOR'): FunctionBinder {
  return (args, name) => {
    arity(name, args, 1);
    const a = numeric(args[0]!, name);
    if (isInteger(a.type)) return a;
    if (isFloat(a.type))
      return strictCall(name, float, [a], ([x]) =>
        kind === 'FLOOR' ? Math.floor(x as number) : Math.ceil(x as number),
      );
    const { precision, scale } = asDecimal(a.type);
    const unit = pow10(scale);
    const type = isMoney(a.type) ? a.type : decimal(precision, 0);
    return strictCall(name, type, [a], ([x]) => {
      const value = x as bigint;
      const rest = ((value % unit) + unit) % unit;
      const whole = (value - rest) / unit + (kind === 'CEILING' && rest !== 0n ? 1n : 0n);
      return isMoney(type) ? whole * unit : whole;
    });
  };
}

/** ROUND(x, n [, truncate]); the type stays, so a carry beyond its precision is 8115. */
function round(args: readonly Node[], name: string): Node {
  arity(name, args, 2, 3);
  const a = numeric(args[0]!, name);
  const type: SqlType =
    a.type.name === 'tinyint' || a.type.name === 'smallint' ? int : a.type.name === 'real' ? float : a.type;
  const rest = args.slice(1).map((arg) => coerce(arg, int));
  return strictCall(name, type, [coerce(a, type), ...rest], ([x, n, truncate]) => {
    if (isFloat(type)) return roundFloat(x as number, n as number, Boolean(truncate));
    const { value, scale } = scaled(x!, type);
    if ((n as number) >= scale) return x!;
    const unit = pow10(scale - (n as number));
    const result = (truncate ? value / unit : divideRounded(value, unit)) * unit;
    const limit = bounds[type.name];
    if (limit && (result > limit[1] || result < limit[0])) fail(8115, 'expression', type.name);
    if (type.name === 'decimal') checkPrecision(result, type, 'expression');
    return typeof x === 'number' ? Number(result) : result;
  });
}

function roundFloat(x: number, n: number, truncate: boolean): number {
  // On the decimal text, which is what people see, and not on the binary fraction.
  const [mantissa, exponent = '0'] = x.toString().split('e') as [string, string?];
  const [whole, fraction = ''] = mantissa.replace('-', '').split('.') as [string, string?];
  const value = BigInt(whole + fraction) * (x < 0 ? -1n : 1n);
  const scale = fraction.length - Number(exponent);
  if (n >= scale) return x;
  const unit = pow10(scale - n);
  const rounded = (truncate ? value / unit : divideRounded(value, unit)) * unit;
  return Number(`${rounded}e${-scale}`);
}

function mathFunction(run: (...x: number[]) => number, count = 1): FunctionBinder {
  return (args, name) => {
    arity(name, args, count);
    return strictCall(
      name,
      float,
      args.map((arg) => coerce(arg, float)),
      (values) => {
        const result = run(...(values as number[]));
        // SQL Server: "An invalid floating point operation occurred."
        if (Number.isNaN(result)) fail(3623, 'An invalid floating point operation occurred.');
        return fitFloat(result, float);
      },
    );
  };
}

/** POWER keeps the type of its base. */
function power(args: readonly Node[], name: string): Node {
  arity(name, args, 2);
  const [base, exponent] = args as [Node, Node];
  if (isInteger(base.type) && isInteger(exponent.type)) {
    const type: SqlType = base.type.name === 'bigint' ? base.type : int;
    return strictCall(name, type, [base, exponent], ([x, n]) => {
      const [b, e] = [BigInt(x as number), BigInt(n as number)];
      if (e < 0n) return fail(40510, 'POWER of an integer with a negative exponent');
      if (e > 64n && b * b > 1n) fail(8115, 'expression', type.name);
      const value = b ** (e > 64n ? 2n + (e % 2n) : e);
      const [low, high] = bounds[type.name]!;
      if (value < low || value > high) fail(8115, 'expression', type.name);
      return type.name === 'bigint' ? value : Number(value);
    });
  }
  if (isExact(base.type)) return fail(40510, `POWER of ${base.type.name} with ${exponent.type.name}`);
  return mathFunction(Math.pow, 2)(args, name);
}

const math: Readonly<Record<string, FunctionBinder>> = {
  ABS: sign('ABS'),
  SIGN: sign('SIGN'),
  CEILING: rounding('CEILING'),
  FLOOR: rounding('FLOOR'),
  ROUND: round,
  POWER: power,
  SQRT: mathFunction((x) => Math.sqrt(x)),
  SQUARE: mathFunction((x) => x * x),
  EXP: mathFunction(Math.exp),
  LOG: mathFunction((x) => (x > 0 ? Math.log(x) : Number.NaN)),
  LOG10: mathFunction((x) => (x > 0 ? Math.log10(x) : Number.NaN)),
  SIN: mathFunction(Math.sin),
  COS: mathFunction(Math.cos),
  TAN: mathFunction(Math.tan),
  ATAN: mathFunction(Math.atan),
  PI: mathFunction(() => Math.PI, 0),
};

/** ISNULL has the type of its first argument; COALESCE and NULLIF are CASE, see the binder. */
function isNullFunction(args: readonly Node[], name: string): Node {
  arity(name, args, 2);
  const [a, b] = args as [Node, Node];
  const type = isNullLiteral(a) ? b.type : a.type;
  const [x, y] = [coerce(a, type), coerce(b, type)];
  return {
    k: 'call',
    name,
    type,
    nullable: y.nullable,
    args: [x, y],
    lenient: true,
    run: ([p, q]) => p ?? q!,
  };
}

const all: Readonly<Record<string, FunctionBinder>> = {
  ...math,
  ...textFunctions,
  ...dateFunctions,
  ...systemFunctions,
  ISNULL: isNullFunction,
};

export const functionNames = (): string[] =>
  [
    ...Object.keys(all),
    'CAST',
    'CONVERT',
    'TRY_CAST',
    'TRY_CONVERT',
    'CASE',
    'IIF',
    'COALESCE',
    'NULLIF',
    'CHOOSE',
  ].sort();

export function bindFunction(name: string, args: readonly Node[]): Node {
  const binder = Object.hasOwn(all, name) ? all[name] : undefined;
  if (!binder)
    return fail(name.startsWith('@@') ? 137 : 195, name.startsWith('@@') ? name : name.toLowerCase());
  return binder(args, name);
}
