import type { SqlType, SqlValue, VariantValue } from '../sql-engine.js';
import { decodeText, measure } from '../text/code-pages.js';
import { collationOf } from '../text/collations.js';
import { formatMoment, fromMoment, momentOf, parseMoment } from './dates.js';
import { fail, refuse, sqlError } from './errors.js';
import {
  fitFloat,
  floatToScale,
  formatDecimal,
  formatFloat,
  inRange,
  parseDecimal,
  rescale,
} from './numbers.js';
import {
  digitsOf,
  holds,
  isExact,
  isLarge,
  isNumber,
  isString,
  isUnicode,
  kindOf,
  printed,
} from './types.js';

export type Present = NonNullable<SqlValue>;

/** Converts a value that is not NULL as CAST does. */
export function convert(value: Present, from: SqlType, to: SqlType): SqlValue {
  if (from.name === 'sql_variant' && to.name !== from.name) {
    const inner = value as VariantValue;
    return inner.value === null ? null : convert(inner.value, inner.type, to);
  }
  switch (kindOf(to)) {
    case 'variant':
      if (isLarge(from) || from.length === 'max' || from.name === 'rowversion') fail(206, from.name, to.name);
      return from.name === to.name ? value : { type: from, value };
    case 'xml':
      return from.name === 'xml' ? value : refuse('A conversion to xml, which would have to parse it');
    case 'string':
      return toText(value, from, to);
    case 'binary':
      return toBinary(value, from, to);
    case 'guid':
      return toGuid(value, from);
    case 'temporal':
      return toTemporal(value, from, to);
    case 'bit':
      return toBit(value, from);
    case 'float':
      return fitFloat(toFloat(value, from, to), to);
    default: {
      const exact = toExact(value, from, to);
      return kindOf(to) === 'integer' && to.name !== 'bigint' ? Number(exact) : exact;
    }
  }
}

/** A value's text in style 0. */
function textOf(value: Present, from: SqlType, to: SqlType): string {
  switch (kindOf(from)) {
    case 'bit':
      return value ? '1' : '0';
    case 'decimal':
      return formatDecimal(value as bigint, digitsOf(from)[1]);
    case 'money':
      return formatDecimal(rescale(value as bigint, 4, 2), 2);
    case 'float':
      return formatFloat(value as number);
    case 'temporal':
      return formatMoment(value, from);
    case 'binary':
      if (isUnicode(to)) return Buffer.from(value as Uint8Array).toString('utf16le');
      return decodeText(Buffer.from(value as Uint8Array), collationOf(to.collation).codePage);
    default:
      return String(value);
  }
}

function toText(value: Present, from: SqlType, to: SqlType): string {
  const text = textOf(value, from, to);
  const limit = to.length ?? 'max';
  const size = isUnicode(to) ? text.length : sizeIn(to, text);
  if (limit === 'max') return text;
  if (size <= limit)
    return to.name === 'char' || to.name === 'nchar' ? text + ' '.repeat(limit - size) : text;
  if (size !== text.length) refuse(`Cutting text of ${size} bytes in ${to.name}(${limit})`);
  if (!isNumber(from) && from.name !== 'uniqueidentifier') return text.slice(0, limit);
  if (from.name === 'uniqueidentifier') fail(8170);
  // A number that does not fit is never cut: `*` for the older types, an error for the others.
  if (kindOf(from) !== 'integer' || from.name === 'bigint' || isUnicode(to))
    fail(8115, isExact(from) && kindOf(from) !== 'integer' ? printed(from) : 'expression', to.name);
  return to.name === 'char' ? '*'.padEnd(limit) : '*';
}

/**
 * Bytes of text in a varchar, which holds the characters of its collation's code page; SQL Server would put others silently
 * as `?`. Parameters, variables and constants have the database's collation ("Collation precedence": coercible-default).
 */
export function sizeIn(type: SqlType, text: string): number {
  const { codePage } = collationOf(type.collation);
  const { size, lacking } = measure(text, codePage);
  if (lacking === undefined) return size;
  const code = lacking.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return refuse(`A character outside code page ${codePage} (U+${code}) in ${type.name}`);
}

/** From bytes and text; the conversions of other types, whose bytes are SQL Server's own, are refused. */
function toBinary(value: Present, from: SqlType, to: SqlType): Uint8Array {
  const isText = isString(from) && (isUnicode(from) || !/[^\0-\x7f]/.test(value as string));
  if (!isText && !(value instanceof Uint8Array)) refuse(`A conversion of ${from.name} to ${to.name}`);
  const source = value as Uint8Array;
  const bytes = isText ? Buffer.from(value as string, isUnicode(from) ? 'utf16le' : 'latin1') : source;
  const limit = to.name === 'rowversion' ? 8 : (to.length ?? 'max');
  if (limit === 'max' || (to.name === 'varbinary' && bytes.length <= limit)) return new Uint8Array(bytes);
  const padded = new Uint8Array(limit);
  padded.set(bytes.subarray(0, limit));
  return padded;
}

function toGuid(value: Present, from: SqlType): string {
  if (from.name === 'uniqueidentifier') return value as string;
  if (isString(from)) {
    const match = /^\{?([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})/i.exec((value as string).trimStart());
    return match ? match[1]!.toUpperCase() : fail(8169);
  }
  return refuse(`A conversion of ${from.name} to uniqueidentifier`);
}

function toTemporal(value: Present, from: SqlType, to: SqlType): SqlValue {
  if (isString(from)) return fromMoment(parseMoment(value as string, from, to), from, to);
  const isClash = [from, to].every(({ name }) => name === 'date' || name === 'time') && from.name !== to.name;
  if (kindOf(from) !== 'temporal' || isClash) fail(529, printed(from), to.name);
  return fromMoment(momentOf(value, from), from, to);
}

function toBit(value: Present, from: SqlType): boolean {
  if (isNumber(from)) return Number(value) !== 0;
  if (!isString(from)) return fail(529, from.name, 'bit');
  const text = (value as string).trim().toLowerCase();
  if (text === 'true' || text === 'false') return text === 'true';
  return /^[+-]?\d*$/.test(text) ? Number(text) !== 0 : fail(245, from.name, value as string, 'bit');
}

function toFloat(value: Present, from: SqlType, to: SqlType): number {
  if (typeof value === 'number') return value;
  if (isExact(from)) return Number(formatDecimal(BigInt(value as bigint), digitsOf(from)[1]));
  if (!isString(from)) return fail(529, from.name, to.name);
  const text = (value as string).trim();
  return /^([+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)?$/i.test(text)
    ? Number(text)
    : fail(8114, from.name, to.name);
}

function toExact(value: Present, from: SqlType, to: SqlType): bigint {
  const [, scale] = digitsOf(to);
  const isInteger = kindOf(to) === 'integer';
  if (isString(from)) return textToExact(value as string, from, to, scale);
  if (kindOf(from) === 'float') {
    const x = value as number;
    if (!isInteger) return inRange(floatToScale(x, scale), to, from.name);
    return within(BigInt(Math.trunc(x)), to, () => sqlError(232, to.name, x.toFixed(6)));
  }
  if (!isExact(from)) return fail(529, from.name, printed(to));
  const exact = BigInt(value as bigint);
  const [, own] = digitsOf(from);
  // decimal to integer truncates, money to integer rounds (CAST and CONVERT, "Truncating and rounding results").
  const result =
    isInteger && from.name === 'decimal' ? exact / 10n ** BigInt(own) : rescale(exact, own, scale);
  if (kindOf(from) === 'integer' && (to.name === 'tinyint' || to.name === 'smallint'))
    return within(result, to, () => sqlError(220, to.name, String(value)));
  return inRange(result, to, from.name === 'decimal' ? 'numeric' : 'expression');
}

function within(value: bigint, type: SqlType, error: () => Error): bigint {
  if (!holds(type, value)) throw error();
  return value;
}

function textToExact(text: string, from: SqlType, to: SqlType, scale: number): bigint {
  if (kindOf(to) !== 'integer') {
    const wrong = (): never => (kindOf(to) === 'money' ? fail(235) : fail(8114, from.name, 'numeric'));
    const parsed = (/e/i.test(text) ? undefined : parseDecimal(text)) ?? wrong();
    return inRange(rescale(parsed.value, parsed.scale, scale), to, from.name);
  }
  if (!/^\s*([+-]?\d+)?\s*$/.test(text))
    return to.name === 'bigint' ? fail(8114, from.name, to.name) : fail(245, from.name, text, to.name);
  return within(BigInt(text.trim().replace(/^\+/, '')), to, () =>
    to.name === 'int' ? sqlError(248, from.name, text) : sqlError(8115, 'expression', to.name),
  );
}

/** Conversions that need CAST, or don't exist: SQL Server's conversion chart, as far as values differ. */
export function checkImplicit(from: SqlType, to: SqlType): void {
  const [a, b] = [kindOf(from), kindOf(to)];
  if (a !== b && (a === 'variant' || b === 'binary')) fail(257, printed(from), printed(to));
  const isNumeric = [from, to].map(isNumber);
  const isApart =
    a === 'temporal' || a === 'guid' ? isNumeric[1] : isNumeric[0] && (b === 'temporal' || b === 'guid');
  if (isApart) fail(206, printed(from), printed(to));
}
