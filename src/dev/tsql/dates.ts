import type { SqlType } from './contract.js';
import { fail } from './errors.js';

export const ticksPerSecond = 10_000_000n;
export const ticksPerMinute = 600_000_000n;
export const ticksPerDay = 864_000_000_000n;
/** Days from 0001-01-01 to 1970-01-01 and to 1900-01-01, datetime's base. */
const unixDays = 719_162;
export const days1900 = 693_595;

export const ticksOfUnixMs = (ms: number): bigint => BigInt(ms) * 10_000n + BigInt(unixDays) * ticksPerDay;

export interface Civil {
  year: number;
  month: number;
  day: number;
}

/** Days since 0001-01-01 (proleptic Gregorian), or undefined when there is no such day. */
export function daysOf({ year, month, day }: Civil): number | undefined {
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1) return undefined;
  return Math.round(date.getTime() / 86_400_000) + unixDays;
}

export function civilOf(days: number): Civil {
  const date = new Date((days - unixDays) * 86_400_000);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** A point in time as a string or a value has it: parts that are not given are undefined. */
export interface Moment {
  days: number;
  /** Ticks since midnight. */
  time: bigint;
  offset: number | undefined;
  fractionDigits: number;
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const timePattern = String.raw`(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.:](\d{1,9}))?)?\s*([AaPp][Mm])?\s*(Z|[+-]\d{2}:\d{2})?`;
const datePatterns: readonly (readonly [RegExp, (m: RegExpExecArray) => Civil])[] = [
  [/^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})/, (m) => ({ year: +m[1]!, month: +m[2]!, day: +m[3]! })],
  [/^(\d{4})(\d{2})(\d{2})(?!\d)/, (m) => ({ year: +m[1]!, month: +m[2]!, day: +m[3]! })],
  [/^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})/, (m) => ({ year: +m[3]!, month: +m[1]!, day: +m[2]! })],
  [
    /^([A-Za-z]{3,9})\.? +(\d{1,2}),? +(\d{4})/,
    (m) => ({ year: +m[3]!, month: monthOf(m[1]!), day: +m[2]! }),
  ],
  [/^(\d{1,2}) +([A-Za-z]{3,9}),? +(\d{4})/, (m) => ({ year: +m[3]!, month: monthOf(m[2]!), day: +m[1]! })],
];
const monthOf = (name: string): number => months.indexOf(name.slice(0, 3).toLowerCase()) + 1;

/** Parses the forms of us_english, mdy; 241 for all else, 242 for a day that does not exist. */
export function parseMoment(text: string, source: string, target: SqlType): Moment {
  let rest = text.trim();
  let days: number | undefined = days1900;
  let dated = rest === '';
  for (const [pattern, civil] of datePatterns) {
    const match = pattern.exec(rest);
    if (!match) continue;
    days = daysOf(civil(match));
    if (days === undefined)
      fail(
        target.name.includes('datetime') && target.name !== 'datetime2' && target.name !== 'datetimeoffset'
          ? 242
          : 241,
        source,
        target.name,
      );
    rest = rest.slice(match[0].length).replace(/^(T| +)(?=\d)/, '');
    dated = true;
    break;
  }
  if (rest === '' && dated) return { days: days!, time: 0n, offset: undefined, fractionDigits: 0 };
  const match = new RegExp(`^${timePattern}$`).exec(rest);
  if (!match) return fail(241);
  const [, h, m, s = '0', fraction = '', half, zone] = match;
  let hours = Number(h);
  if (half) {
    if (hours < 1 || hours > 12) fail(241);
    hours = (hours % 12) + (half.toUpperCase() === 'PM' ? 12 : 0);
  }
  if (hours > 23 || Number(m) > 59 || Number(s) > 59 || fraction.length > 7) fail(241);
  const seconds = BigInt(hours * 3600 + Number(m) * 60 + Number(s));
  const time = seconds * ticksPerSecond + BigInt(fraction.padEnd(7, '0'));
  return { days: days!, time, offset: zone ? parseOffset(zone) : undefined, fractionDigits: fraction.length };
}

function parseOffset(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4));
  if (minutes > 840) fail(241);
  return zone[0] === '-' ? -minutes : minutes;
}

export function roundTicks(ticks: bigint, scale: number): bigint {
  const unit = 10n ** BigInt(7 - scale);
  return ((ticks + unit / 2n) / unit) * unit;
}

/** datetime counts 1/300 s; the contract wants the nearest 100 ns. */
export function roundToDatetime(ticks: bigint): bigint {
  const seconds = ticks / ticksPerSecond;
  const parts = ((ticks % ticksPerSecond) * 300n * 2n + ticksPerSecond) / (2n * ticksPerSecond);
  return seconds * ticksPerSecond + (parts * 200_000n + 3n) / 6n;
}

export function roundToMinute(ticks: bigint): bigint {
  return ((roundToDatetime(ticks) + ticksPerMinute / 2n) / ticksPerMinute) * ticksPerMinute;
}

const two = (n: number): string => String(n).padStart(2, '0');

export function formatDate(days: number): string {
  const { year, month, day } = civilOf(days);
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
}

export function clock(ticks: bigint): { hour: number; minute: number; second: number; fraction: number } {
  const seconds = Number(ticks / ticksPerSecond);
  return {
    hour: Math.floor(seconds / 3600),
    minute: Math.floor(seconds / 60) % 60,
    second: seconds % 60,
    fraction: Number(ticks % ticksPerSecond),
  };
}

export function formatTime(ticks: bigint, digits: number): string {
  const { hour, minute, second, fraction } = clock(ticks);
  const tail = digits > 0 ? `.${String(fraction).padStart(7, '0').slice(0, digits)}` : '';
  return `${two(hour)}:${two(minute)}:${two(second)}${tail}`;
}

export function formatOffset(offset: number): string {
  const minutes = Math.abs(offset);
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** datetime's milliseconds: .000, .003 or .007. */
export const datetimeMs = (ticks: bigint): number => Math.round(Number(ticks % ticksPerSecond) / 10_000);

/** The styles of CONVERT for dates that are independent of language; 0 and 100 use English month names, as us_english. */
export function formatStyled(days: number, ticks: bigint, type: SqlType, style: number): string | undefined {
  const { year, month, day } = civilOf(days);
  const { hour, minute } = clock(ticks);
  const yyyy = String(year).padStart(4, '0');
  const name = months[month - 1]!.replace(/^./, (c) => c.toUpperCase());
  const old = type.name === 'datetime' || type.name === 'smalldatetime';
  const digits = old ? 3 : (type.scale ?? 0);
  const time = formatTime(
    old ? (ticks / ticksPerSecond) * ticksPerSecond + BigInt(datetimeMs(ticks)) * 10_000n : ticks,
    digits,
  );
  const whole = formatTime(ticks, 0);
  const short = `${String(hour % 12 || 12).padStart(2, ' ')}:${two(minute)}${hour < 12 ? 'AM' : 'PM'}`;
  const styles: Record<number, readonly [date: string, time: string, between: string]> = {
    0: [`${name} ${String(day).padStart(2, ' ')} ${yyyy}`, short, ' '],
    100: [`${name} ${String(day).padStart(2, ' ')} ${yyyy}`, short, ' '],
    20: [`${yyyy}-${two(month)}-${two(day)}`, whole, ' '],
    120: [`${yyyy}-${two(month)}-${two(day)}`, whole, ' '],
    21: [`${yyyy}-${two(month)}-${two(day)}`, time, ' '],
    25: [`${yyyy}-${two(month)}-${two(day)}`, time, ' '],
    121: [`${yyyy}-${two(month)}-${two(day)}`, time, ' '],
    126: [`${yyyy}-${two(month)}-${two(day)}`, time.replace(/\.0+$/, ''), 'T'],
    23: [`${yyyy}-${two(month)}-${two(day)}`, '', ''],
    101: [`${two(month)}/${two(day)}/${yyyy}`, '', ''],
    102: [`${yyyy}.${two(month)}.${two(day)}`, '', ''],
    103: [`${two(day)}/${two(month)}/${yyyy}`, '', ''],
    104: [`${two(day)}.${two(month)}.${yyyy}`, '', ''],
    105: [`${two(day)}-${two(month)}-${yyyy}`, '', ''],
    106: [`${two(day)} ${name} ${yyyy}`, '', ''],
    107: [`${name} ${two(day)}, ${yyyy}`, '', ''],
    108: ['', whole, ''],
    8: ['', whole, ''],
    110: [`${two(month)}-${two(day)}-${yyyy}`, '', ''],
    111: [`${yyyy}/${two(month)}/${two(day)}`, '', ''],
    112: [`${yyyy}${two(month)}${two(day)}`, '', ''],
    114: ['', time.replace('.', ':'), ''],
  };
  const parts = styles[style];
  if (!parts) return undefined;
  if (type.name === 'date') return parts[0] || undefined;
  if (type.name === 'time') return parts[1] || undefined;
  return parts.slice(0, 1)[0] && parts[1] ? parts[0] + parts[2] + parts[1] : parts[0] || parts[1];
}
