import type { SqlType } from '../sql-engine.js';
import { fail, refuse } from './errors.js';
import { decimal, digitsOf, holds, kindOf, printed } from './types.js';

const pow10 = (n: number): bigint => 10n ** BigInt(n);

/** Divides and rounds half away from zero. */
function divideRounded(a: bigint, b: bigint): bigint {
  return (2n * a + (a < 0n ? -b : b)) / (2n * b);
}

export const rescale = (value: bigint, from: number, to: number): bigint =>
  to >= from ? value * pow10(to - from) : divideRounded(value, pow10(from - to));

export function formatDecimal(value: bigint, scale: number): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const sign = value < 0n ? '-' : '';
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** A number's text as an integer and how many of its digits are decimals. */
export function parseDecimal(text: string): { value: bigint; scale: number } | undefined {
  const match = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?\s*$/i.exec(text);
  if (!match || (!match[2] && !match[3])) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const value = BigInt(sign + whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { value: value * pow10(-scale), scale: 0 } : { value, scale };
}

/** A double at a scale; refused where its 17 digits and its exact value would round differently. */
export function floatToScale(x: number, scale: number): bigint {
  const digits = parseDecimal(x.toExponential(16))!;
  // toFixed is exact up to 1e21, and from there a double is an integer.
  const exact = Math.abs(x) < 1e21 ? parseDecimal(x.toFixed(scale))!.value : BigInt(x) * pow10(scale);
  if (rescale(digits.value, digits.scale, scale) !== exact)
    refuse('A conversion of a float to more digits than it holds');
  return exact;
}

/** Precision and scale of a result (Transact-SQL reference, "Precision, scale, and length"). */
export function resultType(op: string, a: SqlType, b: SqlType): SqlType {
  const [[p1, s1], [p2, s2]] = [digitsOf(a), digitsOf(b)];
  const wider = Math.max(s1, s2);
  if (op === '%') return decimal(Math.min(p1 - s1, p2 - s2) + wider, wider);
  if (op === '+' || op === '-') {
    const whole = Math.max(p1 - s1, p2 - s2);
    const precision = whole + wider + 1;
    return decimal(Math.min(38, precision), precision <= 38 ? wider : Math.min(wider, 38 - whole));
  }
  const scale = op === '*' ? s1 + s2 : Math.max(6, s1 + p2 + 1);
  const precision = op === '*' ? p1 + p2 + 1 : p1 - s1 + s2 + scale;
  if (precision <= 38) return decimal(precision, scale);
  const whole = precision - scale;
  return decimal(38, whole < 32 ? Math.min(scale, 38 - whole) : Math.min(scale, 6));
}

/** `+ - * / %` of integers, decimals and money; the operands come at their own scales. */
export function exactArithmetic(
  op: string,
  a: bigint,
  s1: number,
  b: bigint,
  s2: number,
  type: SqlType,
): bigint {
  const scale = digitsOf(type)[1];
  const wide = Math.max(s1, s2);
  const [x, y] = [rescale(a, s1, wide), rescale(b, s2, wide)];
  if ((op === '/' || op === '%') && b === 0n) fail(8134);
  if (op === '*') {
    const isRounded = kindOf(type) === 'money' && (a * b) % pow10(s1 + s2 - scale) !== 0n;
    if (isRounded) refuse('A money multiplication with more than four decimals');
    return inRange(rescale(a * b, s1 + s2, scale), type);
  }
  // Division truncates at the scale of its result: 2.0 / 3 is 0.666666.
  if (op === '/') return inRange((x * pow10(scale)) / y, type);
  return inRange(rescale(op === '+' ? x + y : op === '-' ? x - y : x % y, wide, scale), type);
}

/** Raises 8115 for what an exact type cannot hold. */
export const inRange = (value: bigint, type: SqlType, from = 'expression'): bigint =>
  holds(type, value) ? value : fail(8115, from, printed(type));

export function fitFloat(x: number, type: SqlType): number {
  const result = type.name === 'real' ? Math.fround(x) : x;
  return Number.isFinite(result) ? result : fail(8115, 'expression', type.name);
}

/** Style 0: C's %g with six digits, and three for the exponent. */
export function formatFloat(x: number): string {
  const exponent = Number(x.toExponential(5).split('e')[1]);
  if (x !== 0 && (exponent < -4 || exponent >= 6))
    return x
      .toExponential(5)
      .replace(/\.?0+e/, 'e')
      .replace(/e([+-])(\d+)$/, (_, sign, digits) => `e${sign}${digits.padStart(3, '0')}`);
  const fixed = x.toPrecision(6);
  return fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed;
}
