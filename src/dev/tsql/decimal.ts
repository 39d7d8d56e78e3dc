import type { SqlType } from './contract.js';
import { fail, refuse } from './errors.js';
import { asDecimal, decimal, isMoney } from './types.js';

export const pow10 = (n: number): bigint => 10n ** BigInt(n);

/** Divides and rounds half away from zero. */
export function divideRounded(a: bigint, b: bigint): bigint {
  const [n, d] = b < 0n ? [-a, -b] : [a, b];
  return (2n * n + (n < 0n ? -d : d)) / (2n * d);
}

export const rescale = (value: bigint, from: number, to: number): bigint =>
  to >= from ? value * pow10(to - from) : divideRounded(value, pow10(from - to));

export function formatDecimal(value: bigint, scale: number): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const sign = value < 0n ? '-' : '';
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** A number's text with a decimal point and no exponent, as an integer and its scale. */
export function parseDecimal(text: string): { value: bigint; scale: number } | undefined {
  const match = /^\s*([+-]?)\s*(\d*)(?:\.(\d*))?\s*$/.exec(text);
  if (!match || (!match[2] && !match[3])) return undefined;
  const fraction = match[3] ?? '';
  const value = BigInt((match[2] ?? '') + fraction || '0');
  return { value: match[1] === '-' ? -value : value, scale: fraction.length };
}

/** The exact value of a double, as an integer and a scale. */
function exactFloat(x: number): { value: bigint; scale: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  const mantissa = (bits & 0xfffffffffffffn) | (exponent ? 1n << 52n : 0n);
  const shift = (exponent || 1) - 1075;
  const value = x < 0 ? -mantissa : mantissa;
  // value * 2^shift; a negative power of two is 5^n / 10^n.
  return shift >= 0
    ? { value: value << BigInt(shift), scale: 0 }
    : { value: value * 5n ** BigInt(-shift), scale: -shift };
}

/** A double at a scale, refused where its 17 digits and its exact value would round differently. */
export function floatToScale(x: number, scale: number): bigint {
  const exact = exactFloat(x);
  const result = rescale(exact.value, exact.scale, scale);
  const [mantissa, exponent] = x.toExponential(16).split('e') as [string, string];
  const digits = parseDecimal(mantissa)!;
  const places = digits.scale - Number(exponent);
  const printed = places >= 0 ? rescale(digits.value, places, scale) : digits.value * pow10(-places + scale);
  if (printed !== result) refuse('A conversion of a float to more digits than it holds');
  return result;
}

/** Precision and scale of a result (Transact-SQL reference, "Precision, scale, and length"). */
export function resultType(op: string, a: SqlType, b: SqlType): SqlType {
  const { precision: p1, scale: s1 } = asDecimal(a);
  const { precision: p2, scale: s2 } = asDecimal(b);
  if (op === '+' || op === '-') {
    const scale = Math.max(s1, s2);
    const whole = Math.max(p1 - s1, p2 - s2);
    const precision = whole + scale + 1;
    return precision <= 38
      ? decimal(precision, scale)
      : decimal(38, Math.min(scale, Math.max(0, 38 - whole)));
  }
  if (op === '%') return decimal(Math.min(p1 - s1, p2 - s2) + Math.max(s1, s2), Math.max(s1, s2));
  const scale = op === '*' ? s1 + s2 : Math.max(6, s1 + p2 + 1);
  const precision = op === '*' ? p1 + p2 + 1 : p1 - s1 + s2 + scale;
  if (precision <= 38) return decimal(precision, scale);
  const whole = precision - scale;
  return decimal(38, whole < 32 ? Math.min(scale, 38 - whole) : Math.min(scale, 6));
}

/** Arithmetic on exact numbers; the operands come at their own scales. */
export function decimalArithmetic(
  op: string,
  a: bigint,
  s1: number,
  b: bigint,
  s2: number,
  result: SqlType,
): bigint {
  const scale = asDecimal(result).scale;
  const wide = Math.max(s1, s2);
  let value: bigint;
  if (op === '+' || op === '-') {
    const [x, y] = [rescale(a, s1, wide), rescale(b, s2, wide)];
    value = rescale(op === '+' ? x + y : x - y, wide, scale);
  } else if (op === '*') {
    if (isMoney(result) && (a * b) % pow10(s1 + s2 - scale) !== 0n)
      refuse('A money multiplication with more than four decimals');
    value = rescale(a * b, s1 + s2, scale);
  } else {
    if (b === 0n) fail(8134);
    // Division truncates at the scale of its result: 2.0 / 3 is 0.666666.
    if (op === '/')
      value = (a * pow10(Math.max(0, scale + s2 - s1))) / b / pow10(Math.max(0, s1 - scale - s2));
    else value = rescale(rescale(a, s1, wide) % rescale(b, s2, wide), wide, scale);
  }
  return checkPrecision(value, result, 'expression');
}

export function checkPrecision(value: bigint, type: SqlType, from: string): bigint {
  const limit = pow10(asDecimal(type).precision);
  if (value >= limit || value <= -limit) fail(8115, from, 'numeric');
  return value;
}
