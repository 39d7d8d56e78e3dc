import type { OffsetDateTime, SqlType, SqlValue } from '../sql-engine.js';
import { fail, refuse } from './errors.js';
import { isString, isTicks } from './types.js';

export const ticksPerDay = 864_000_000_000n;
const ticksPerMinute = 600_000_000n;
/** Days from 0001-01-01 to 1970-01-01 and to 1900-01-01, datetime's base. */
const unixDays = 719_162;
const days1900 = 693_595;

export const ticksOfUnixMs = (ms: number): bigint => BigInt(ms) * 10_000n + BigInt(unixDays) * ticksPerDay;

/** Days since 0001-01-01 (proleptic Gregorian), or undefined when there is no such day. */
function daysOf(year: number, month: number, day: number): number | undefined {
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 ? Math.round(date.getTime() / 86_400_000) + unixDays : undefined;
}

function civilOf(days: number): readonly [year: number, month: number, day: number] {
  const date = new Date((days - unixDays) * 86_400_000);
  return [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
}

/** A local point in time; time types are on 1900-01-01, dates at midnight. */
interface Moment {
  readonly ticks: bigint;
  readonly offset?: number | undefined;
}

const pattern =
  /^(?:(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4}))?(?:(?:^|T|\s+)(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,7}))?)?\s*(Z|[+-]\d{2}:\d{2})?)?$/;

/** ISO forms, yyyymmdd and the mdy of us_english; 241 for all else, 242 for a day that does not exist. */
export function parseMoment(text: string, from: SqlType, to: SqlType): Moment {
  const match = pattern.exec(text.trim());
  if (!match) return fail(241);
  const [, y, , m, d, m2, d2, y2, hours = '0', minutes = '0', seconds = '0', fraction = '', zone] = match;
  const isOld = to.name === 'datetime' || to.name === 'smalldatetime';
  const year = y ?? y2;
  const day = year === undefined ? days1900 : daysOf(Number(year), Number(m ?? m2), Number(d ?? d2));
  if (day === undefined) return isOld ? fail(242, from.name, to.name) : fail(241);
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) fail(241);
  if (isOld && (fraction.length > 3 || zone)) fail(241);
  const time = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  const ticks = BigInt(day) * ticksPerDay + BigInt(time) * 10_000_000n + BigInt(fraction.padEnd(7, '0'));
  const offset = zone && zone !== 'Z' ? Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4)) : 0;
  if (offset > 840) fail(241);
  return { ticks, offset: zone === undefined ? undefined : zone[0] === '-' ? -offset : offset };
}

export function momentOf(value: NonNullable<SqlValue>, type: SqlType): Moment {
  if (type.name === 'date') return { ticks: BigInt(value as number) * ticksPerDay };
  if (type.name === 'time') return { ticks: BigInt(days1900) * ticksPerDay + BigInt(value as number) };
  if (isTicks(type)) return { ticks: value as bigint };
  const { ticks, offset } = value as OffsetDateTime;
  return { ticks: ticks + BigInt(offset) * ticksPerMinute, offset };
}

const round = (ticks: bigint, unit: bigint): bigint => ((ticks + unit / 2n) / unit) * unit;

/** datetime counts 1/300 s; the contract wants the nearest 100 ns. */
export function roundToDatetime(ticks: bigint): bigint {
  const parts = ((ticks % 10_000_000n) * 300n * 2n + 10_000_000n) / 20_000_000n;
  return ticks - (ticks % 10_000_000n) + (parts * 200_000n + 3n) / 6n;
}

const day = (days: number): bigint => BigInt(days) * ticksPerDay;
/** First instant of each type and the first after its last. */
const ranges: Readonly<Record<string, readonly [bigint, bigint]>> = {
  datetime: [day(639_905), day(3_652_059)],
  smalldatetime: [day(days1900), day(days1900 + 65_536)],
};

/** A moment as a value of a date or time type, rounded to its scale; out of range is 242. */
export function fromMoment({ ticks, offset }: Moment, from: SqlType, to: SqlType): SqlValue {
  const unit = 10n ** BigInt(7 - (to.scale ?? 7));
  if (to.name === 'date') return Number(ticks / ticksPerDay);
  if (to.name === 'time') {
    const time = round(ticks % ticksPerDay, unit);
    return time < ticksPerDay ? Number(time) : refuse('A time that rounds up to the next day');
  }
  if (to.name === 'datetime2' && offset && isString(from))
    refuse('A conversion of text with a time zone to datetime2');
  const utc = to.name === 'datetimeoffset' ? ticks - BigInt(offset ?? 0) * ticksPerMinute : ticks;
  const rounded =
    to.name === 'datetime'
      ? roundToDatetime(utc)
      : to.name === 'smalldatetime'
        ? round(roundToDatetime(utc), ticksPerMinute)
        : round(utc, unit);
  const [first, end] = ranges[to.name] ?? [0n, day(3_652_059)];
  if (rounded < first || rounded >= end) fail(242, from.name, to.name);
  return to.name === 'datetimeoffset' ? { ticks: rounded, offset: offset ?? 0 } : rounded;
}

const two = (n: number): string => String(n).padStart(2, '0');
const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Style 0 of CONVERT: ISO, but for the two older types. */
export function formatMoment(value: NonNullable<SqlValue>, type: SqlType): string {
  const { ticks, offset } = momentOf(value, type);
  const [year, month, date] = civilOf(Number(ticks / ticksPerDay));
  const seconds = Number((ticks % ticksPerDay) / 10_000_000n);
  const [hour, minute] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (type.name === 'datetime' || type.name === 'smalldatetime') {
    const clock = `${String(hour % 12 || 12).padStart(2)}:${two(minute)}${hour < 12 ? 'AM' : 'PM'}`;
    return `${monthNames[month - 1]} ${String(date).padStart(2)} ${String(year).padStart(4, '0')} ${clock}`;
  }
  const iso = `${String(year).padStart(4, '0')}-${two(month)}-${two(date)}`;
  if (type.name === 'date') return iso;
  const fraction = String(ticks % 10_000_000n)
    .padStart(7, '0')
    .slice(0, type.scale);
  const time = `${two(hour)}:${two(minute)}:${two(seconds % 60)}${fraction && `.${fraction}`}`;
  if (type.name === 'time') return time;
  if (offset === undefined) return `${iso} ${time}`;
  const minutes = Math.abs(offset);
  return `${iso} ${time} ${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
