import type { OffsetDateTime, SqlType, SqlValue } from './contract.js';
import { formatDate, formatOffset, formatStyled, formatTime, ticksPerDay, ticksPerMinute } from './dates.js';
import { formatDecimal, rescale } from './decimal.js';
import { fail, refuse, sqlError } from './errors.js';
import {
  asDecimal,
  isBinary,
  isFloat,
  isInteger,
  isMoney,
  isString,
  isTemporal,
  isUnicode,
  typeName,
} from './types.js';

type Present = NonNullable<SqlValue>;

export function toText(value: Present, from: SqlType, to: SqlType, style: number): string {
  const text = format(value, from, to, style);
  const limit = to.length ?? 'max';
  if (!isUnicode(to)) checkCodePage(text, to);
  if (limit === 'max') return text;
  if (text.length > limit) {
    if (isString(from) || isTemporal(from) || isBinary(from)) return text.slice(0, limit);
    if (from.name === 'uniqueidentifier')
      throw sqlError(8170, 'Insufficient result space to convert uniqueidentifier value to char.');
    // A number that does not fit is never cut: `*` for the older types, an error for the others.
    if (isInteger(from) && from.name !== 'bigint' && !isUnicode(to))
      return to.name === 'char' ? '*'.padEnd(limit) : '*';
    return fail(8115, isInteger(from) || isFloat(from) ? 'expression' : typeName(from), to.name);
  }
  return to.name === 'char' || to.name === 'nchar' ? text.padEnd(limit) : text;
}

const cp1252 = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';

/** A varchar holds the characters of its collation's code page. SQL Server would put others silently as `?`. */
function checkCodePage(text: string, to: SqlType): void {
  if (to.collation && !/latin1/i.test(to.collation)) return;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 255 && !cp1252.includes(text[i]!))
      refuse(
        `A character outside code page 1252 (U+${code.toString(16).toUpperCase().padStart(4, '0')}) in ${to.name}`,
      );
  }
}

function format(value: Present, from: SqlType, to: SqlType, style: number): string {
  if (isString(from) || from.name === 'uniqueidentifier' || from.name === 'xml') return value as string;
  if (from.name === 'bit') return value ? '1' : '0';
  if (isInteger(from)) return String(value);
  if (from.name === 'decimal') return formatDecimal(value as bigint, asDecimal(from).scale);
  if (isMoney(from)) return formatMoney(value as bigint, style);
  if (isFloat(from)) return formatFloat(value as number, from, style);
  if (isBinary(from)) return formatBinary(value as Uint8Array, to, style);
  return formatTemporal(value, from, style);
}

function formatMoney(value: bigint, style: number): string {
  if (style === 2 || style === 126) return formatDecimal(value, 4);
  const text = formatDecimal(rescale(value, 4, 2), 2);
  if (style === 0) return text;
  if (style === 1) return text.replace(/\B(?=(\d{3})+(?!\d)(?=.*\.))/g, ',');
  return fail(281, style, 'money');
}

function formatFloat(x: number, from: SqlType, style: number): string {
  const threeDigits = (text: string): string =>
    text.replace(/e([+-])(\d+)$/, (_, sign, digits) => `e${sign}${digits.padStart(3, '0')}`);
  if (style === 0) {
    // C's %g with six digits.
    const [, exponent] = x.toExponential(5).split('e');
    if (x !== 0 && (Number(exponent) < -5 || Number(exponent) >= 6 || Number(exponent) === -5)) {
      return threeDigits(x.toExponential(5).replace(/\.?0+e/, 'e'));
    }
    const fixed = x.toPrecision(6);
    return fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed;
  }
  const digits = { 1: 8, 2: 16, 3: from.name === 'real' ? 9 : 17 }[style] ?? fail(281, style, from.name);
  return threeDigits(x.toExponential(digits - 1));
}

function formatBinary(bytes: Uint8Array, to: SqlType, style: number): string {
  const hex = Buffer.from(bytes).toString('hex').toUpperCase();
  if (style === 1) return `0x${hex}`;
  if (style === 2) return hex;
  if (isUnicode(to)) return Buffer.from(bytes.length % 2 ? [...bytes, 0] : bytes).toString('utf16le');
  return new TextDecoder('windows-1252').decode(bytes);
}

function formatTemporal(value: Present, from: SqlType, style: number): string {
  if (from.name === 'datetimeoffset') {
    const { ticks, offset } = value as OffsetDateTime;
    const local = ticks + BigInt(offset) * ticksPerMinute;
    const [days, time] = [Number(local / ticksPerDay), local % ticksPerDay];
    if (style === 0)
      return `${formatDate(days)} ${formatTime(time, from.scale ?? 7)} ${formatOffset(offset)}`;
    if (style !== 126 && style !== 121)
      return formatStyled(days, time, from, style) ?? fail(281, style, from.name);
    return `${formatStyled(days, time, from, style)}${style === 121 ? ' ' : ''}${formatOffset(offset)}`;
  }
  if (from.name === 'date' && style === 0) return formatDate(value as number);
  if (from.name === 'time' && style === 0) return formatTime(BigInt(value as number), from.scale ?? 7);
  if (from.name === 'datetime2' && style === 0) style = 121;
  const days =
    from.name === 'date'
      ? (value as number)
      : from.name === 'time'
        ? 0
        : Number((value as bigint) / ticksPerDay);
  const time =
    from.name === 'time'
      ? BigInt(value as number)
      : from.name === 'date'
        ? 0n
        : (value as bigint) % ticksPerDay;
  return formatStyled(days, time, from, style) ?? fail(281, style, from.name);
}
