import type { WireInstant } from './wire.js';

const dayMs = 86_400_000;
const dayTicks = 864_000_000_000;
/** Days from 0001-01-01 to 1970-01-01. */
const daysTo1970 = 719_162;
const pattern =
  /^(?:(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d))?(?:(?:^|[T ])(?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:\.(?<fraction>\d{1,7}))?)?)?(?<zone>Z|[+-]\d\d:\d\d)?$/;

export interface ParsedInstant extends WireInstant {
  readonly hasDay: boolean;
  readonly hasTime: boolean;
  /** Undefined when the text has none. */
  readonly zone: string | undefined;
}

function daysOf(year: number, month: number, day: number): number | undefined {
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 1;
  return isReal ? date.getTime() / dayMs + daysTo1970 : undefined;
}

function offsetOf(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return zone.startsWith('-') ? -minutes : minutes;
}

/** `2026-11-30`, `10:20:30.1234567`, `2026-11-30T10:20:30.123+07:00`; undefined when it is no real day or time. Local time, as written. */
export function parseInstant(text: string): ParsedInstant | undefined {
  const groups = pattern.exec(text)?.groups;
  if (groups === undefined || text === '') return undefined;
  const { year, month, day, hour, minute, second = '0', fraction = '', zone } = groups;
  const days = year === undefined ? 0 : daysOf(Number(year), Number(month), Number(day));
  const seconds = hour === undefined ? 0 : Number(hour) * 3_600 + Number(minute) * 60 + Number(second);
  const isTime = hour === undefined || (Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60);
  const offset = zone === undefined ? 0 : offsetOf(zone);
  if (days === undefined || !isTime || Math.abs(offset) > 840 || (year === undefined && hour === undefined))
    return undefined;
  const ticks = seconds * 10_000_000 + Number(fraction.padEnd(7, '0'));
  return { days, ticks, offset, zone, hasDay: year !== undefined, hasTime: hour !== undefined };
}

/** Undefined when it leaves the years 1 to 9999. */
export function toUtc({ days, ticks, offset }: WireInstant): WireInstant | undefined {
  const shifted = ticks - offset * 600_000_000;
  const carry = Math.floor(shifted / dayTicks);
  const utcDays = days + carry;
  if (utcDays < 0 || utcDays > 3_652_058) return undefined;
  return { days: utcDays, ticks: shifted - carry * dayTicks, offset };
}

/** The instant of a Date, in UTC; undefined when it is invalid or outside the years 1 to 9999. */
export function instantOf(date: Date): ParsedInstant | undefined {
  const ms = date.getTime();
  const days = Math.floor(ms / dayMs) + daysTo1970;
  if (Number.isNaN(ms) || days < 0 || days > 3_652_058) return undefined;
  const ticks = (ms - Math.floor(ms / dayMs) * dayMs) * 10_000;
  return { days, ticks, offset: 0, zone: 'Z', hasDay: true, hasTime: true };
}
