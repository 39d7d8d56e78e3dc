import type { SqlType, SqlValue, VariantValue } from './contract.js';
import { toBinary, toUniqueidentifier } from './convert-binary.js';
import { toDateTime } from './convert-dates.js';
import { toText } from './convert-text.js';
import {
  checkPrecision,
  divideRounded,
  floatToScale,
  formatDecimal,
  parseDecimal,
  rescale,
} from './decimal.js';
import { fail, refuse, sqlError } from './errors.js';
import {
  asDecimal,
  bounds,
  isBinary,
  isDateTime,
  isExact,
  isFloat,
  isInteger,
  isLarge,
  isMoney,
  isNumber,
  isString,
  isTemporal,
  typeName,
} from './types.js';

export type Present = NonNullable<SqlValue>;

/** Converts a value that is not NULL as CAST does (style 0) or as CONVERT with a style. */
export function convert(value: Present, from: SqlType, to: SqlType, style = 0): SqlValue {
  if (from.name === 'sql_variant') {
    const inner = value as VariantValue;
    if (to.name === 'sql_variant') return value;
    return inner.value === null ? null : convert(inner.value, inner.type, to, style);
  }
  if (to.name === 'sql_variant') {
    if (isLarge(from) || from.length === 'max' || from.name === 'rowversion') fail(206, from.name, to.name);
    return { type: from, value };
  }
  if (to.name === 'xml' || from.name === 'xml') {
    if (to.name === from.name) return value;
    if (to.name === 'xml') refuse('A conversion to xml, which would have to parse it');
    if (!isString(to)) fail(529, from.name, to.name);
  }
  if (isString(to)) return toText(value, from, to, style);
  if (isBinary(to)) return toBinary(value, from, to, style);
  if (to.name === 'uniqueidentifier') return toUniqueidentifier(value, from);
  if (isTemporal(to)) return toDateTime(value, from, to, style);
  if (to.name === 'bit') return toBit(value, from);
  if (isTemporal(from) || from.name === 'uniqueidentifier' || from.name === 'image')
    fail(529, from.name, typeName(to));
  if (isBinary(from)) return fromBinary(value as Uint8Array, from, to);
  if (isFloat(to)) return toFloat(value, from, to);
  const exact = toScale(value, from, to);
  return isInteger(to) && to.name !== 'bigint' ? Number(exact) : exact;
}

function toBit(value: Present, from: SqlType): boolean {
  if (from.name === 'bit') return value as boolean;
  if (isNumber(from)) return Number(value) !== 0;
  if (isString(from)) {
    const text = (value as string).trim().toLowerCase();
    if (text === 'true' || text === 'false') return text === 'true';
    if (/^[+-]?\d+$/.test(text)) return BigInt(text) !== 0n;
    if (text === '') return false;
    return fail(245, from.name, value as string, 'bit');
  }
  if (isBinary(from)) return (value as Uint8Array).some((byte) => byte !== 0);
  return fail(529, from.name, 'bit');
}

/** The value times 10^scale of an exact number. */
export function scaled(value: Present, type: SqlType): { value: bigint; scale: number } {
  return {
    value: typeof value === 'bigint' ? value : BigInt(value as number | boolean),
    scale: asDecimal(type).scale,
  };
}

function toScale(value: Present, from: SqlType, to: SqlType): bigint {
  const { scale } = asDecimal(to);
  if (isString(from)) return textToScale(value as string, from, to, scale);
  if (isFloat(from)) {
    const x = value as number;
    if (isInteger(to)) return inBounds(BigInt(Math.trunc(x)), to, () => sqlError(232, to.name, x.toFixed(6)));
    return checkRange(floatToScale(x, scale), to, from.name);
  }
  const exact = scaled(value, from);
  // decimal to integer truncates, money to integer rounds (CAST and CONVERT, "Truncating and rounding results").
  const result =
    isInteger(to) && from.name === 'decimal'
      ? exact.value / 10n ** BigInt(exact.scale)
      : isInteger(to) && isMoney(from)
        ? divideRounded(exact.value, 10_000n)
        : rescale(exact.value, exact.scale, scale);
  if (isInteger(to) && isInteger(from) && (to.name === 'tinyint' || to.name === 'smallint')) {
    return inBounds(result, to, () => sqlError(220, to.name, String(value)));
  }
  return checkRange(result, to, from.name === 'decimal' ? 'numeric' : 'expression');
}

/** Checks the range of an exact type and raises 8115. */
function checkRange(value: bigint, type: SqlType, from: string): bigint {
  if (type.name === 'decimal') return checkPrecision(value, type, from);
  return inBounds(value, type, () => sqlError(8115, from, type.name));
}

function inBounds(value: bigint, type: SqlType, error: () => Error): bigint {
  const [low, high] = bounds[type.name]!;
  if (value < low || value > high) throw error();
  return value;
}

const overflowedColumn: Readonly<Record<string, string>> = { tinyint: 'INT1', smallint: 'INT2' };

function textToScale(text: string, from: SqlType, to: SqlType, scale: number): bigint {
  if (isMoney(to)) {
    const money = /^\s*(-?)\s*[$€£¥]?\s*(-?)((?:\d|,)*)(\.\d*)?\s*$/.exec(text);
    if (!money || (money[1] && money[2])) return fail(235);
    const parsed = parseDecimal(`${money[3]!.replaceAll(',', '')}${money[4] ?? ''}`) ?? {
      value: 0n,
      scale: 0,
    };
    const value = rescale(parsed.value, parsed.scale, 4);
    return checkRange(money[1] || money[2] ? -value : value, to, from.name);
  }
  if (isInteger(to)) {
    const trimmed = text.trim();
    if (trimmed === '') return 0n;
    if (!/^[+-]?\d+$/.test(trimmed))
      return to.name === 'bigint' ? fail(8114, from.name, 'bigint') : fail(245, from.name, text, to.name);
    return inBounds(BigInt(trimmed), to, () => {
      if (to.name === 'bigint') return sqlError(8115, 'expression', 'bigint');
      if (to.name === 'int')
        return sqlError(248, `The conversion of the ${from.name} value '${text}' overflowed an int column.`);
      const column = overflowedColumn[to.name]!;
      return sqlError(
        244,
        `The conversion of the ${from.name} value '${text}' overflowed an ${column} column. Use a larger integer column.`,
      );
    });
  }
  const parsed = parseDecimal(text) ?? fail(8114, from.name, 'numeric');
  return checkRange(rescale(parsed.value, parsed.scale, scale), to, from.name);
}

function toFloat(value: Present, from: SqlType, to: SqlType): number {
  let x: number;
  if (isString(from)) {
    const text = (value as string).trim();
    if (!/^([+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?)?$/.test(text)) return fail(8114, from.name, to.name);
    x = Number(text.replace(/d/i, 'e'));
  } else if (isExact(from)) {
    const exact = scaled(value, from);
    // Through text, so that the one rounding is the last step.
    x = Number(formatDecimal(exact.value, exact.scale));
  } else x = value as number;
  return fitFloat(x, to);
}

export function fitFloat(x: number, type: SqlType): number {
  const result = type.name === 'real' ? Math.fround(x) : x;
  if (!Number.isFinite(result)) fail(8115, 'expression', type.name);
  return result;
}

/** The last bytes as a big-endian integer. */
function fromBinary(bytes: Uint8Array, from: SqlType, to: SqlType): SqlValue {
  const size = { tinyint: 1, smallint: 2, int: 4, bigint: 8 }[to.name as string];
  if (!size)
    return isFloat(to) ? fail(529, from.name, to.name) : refuse(`A conversion of ${from.name} to ${to.name}`);
  const hex = Buffer.from(bytes)
    .toString('hex')
    .slice(-2 * size);
  const unsigned = BigInt(`0x${hex || '0'}`);
  const value = to.name === 'tinyint' ? unsigned : BigInt.asIntN(size * 8, unsigned);
  return to.name === 'bigint' ? value : Number(value);
}

/** Conversions that need CAST: SQL Server's conversion chart, where it says "explicit" or nothing. */
export function checkImplicit(from: SqlType, to: SqlType): void {
  const clash = (): never => fail(206, typeName(from), typeName(to));
  const explicit = (): never => fail(257, typeName(from), typeName(to));
  if (from.name === to.name || from.name === 'sql_variant') {
    if (from.name === 'sql_variant' && to.name !== 'sql_variant') explicit();
    return;
  }
  if (isBinary(to) && (isString(from) || isTemporal(from) || isFloat(from))) explicit();
  if (isTemporal(from) && isNumber(to)) (isDateTime(from) && from.name !== 'datetime2' ? explicit : clash)();
  if (isNumber(from) && isTemporal(to) && to.name !== 'datetime' && to.name !== 'smalldatetime') clash();
  if (from.name === 'uniqueidentifier' && (isNumber(to) || isTemporal(to))) clash();
  if (to.name === 'uniqueidentifier' && (isNumber(from) || isTemporal(from))) clash();
  if ((from.name === 'date' && to.name === 'time') || (from.name === 'time' && to.name === 'date')) clash();
  if (isBinary(from) && isFloat(to)) clash();
}
