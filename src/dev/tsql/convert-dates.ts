import type { OffsetDateTime, SqlType, SqlValue } from './contract.js';
import {
  days1900,
  type Moment,
  parseMoment,
  roundTicks,
  roundToDatetime,
  roundToMinute,
  ticksPerDay,
  ticksPerMinute,
} from './dates.js';
import { fail, refuse } from './errors.js';
import { isDateTime, isInteger, isString } from './types.js';

type Present = NonNullable<SqlValue>;

const maximumTicks = 3_652_059n * ticksPerDay;
const datetimeMinimum = 639_905n * ticksPerDay;
const smallMinimum = BigInt(days1900) * ticksPerDay;
const smallMaximum = (BigInt(days1900) + 65_536n) * ticksPerDay;

/** Conversions to date and time types; out of range is 242, text that is no date 241. */
export function toDateTime(value: Present, from: SqlType, to: SqlType, style: number): SqlValue {
  if (isString(from) && ![0, 20, 21, 25, 120, 121, 126, 112, 100, 101, 110, 111, 23, 102].includes(style)) {
    refuse(`CONVERT of text to ${to.name} with style ${style}`);
  }
  const moment = momentOf(value, from, to);
  const local = BigInt(moment.days) * ticksPerDay + moment.time;
  const outOfRange = (): never => fail(242, from.name, to.name);
  switch (to.name) {
    case 'date':
      return moment.days;
    case 'time': {
      const time = roundTicks(moment.time, to.scale ?? 7);
      if (time >= ticksPerDay) refuse('A time that rounds up to the next day');
      return Number(time);
    }
    case 'datetime': {
      if (isString(from) && (moment.fractionDigits > 3 || moment.offset)) fail(241);
      const ticks = roundToDatetime(local);
      return ticks < datetimeMinimum || ticks >= maximumTicks ? outOfRange() : ticks;
    }
    case 'smalldatetime': {
      if (isString(from) && (moment.fractionDigits > 3 || moment.offset)) fail(241);
      const ticks = roundToMinute(local);
      return ticks < smallMinimum || ticks >= smallMaximum ? outOfRange() : ticks;
    }
    case 'datetime2': {
      if (isString(from) && moment.offset) refuse('A conversion of text with a time zone to datetime2');
      const ticks = roundTicks(local, to.scale ?? 7);
      return ticks >= maximumTicks ? outOfRange() : ticks;
    }
    default: {
      const offset = moment.offset ?? 0;
      const ticks = roundTicks(local - BigInt(offset) * ticksPerMinute, to.scale ?? 7);
      if (ticks < 0n || ticks >= maximumTicks) return isString(from) ? fail(241) : outOfRange();
      return { ticks, offset };
    }
  }
}

function momentOf(value: Present, from: SqlType, to: SqlType): Moment {
  const at = (local: bigint, offset?: number): Moment => ({
    days: Number(local / ticksPerDay),
    time: local % ticksPerDay,
    offset,
    fractionDigits: 0,
  });
  if (isString(from)) return parseMoment(value as string, from.name, to);
  if (from.name === 'datetimeoffset') {
    const { ticks, offset } = value as OffsetDateTime;
    return at(ticks + BigInt(offset) * ticksPerMinute, offset);
  }
  if (isDateTime(from)) return at(value as bigint);
  if (from.name === 'date') {
    if (to.name === 'time') fail(529, 'date', 'time');
    return at(BigInt(value as number) * ticksPerDay);
  }
  if (from.name === 'time') {
    if (to.name === 'date') fail(529, 'time', 'date');
    return at(BigInt(days1900) * ticksPerDay + BigInt(value as number));
  }
  if (isInteger(from) && (to.name === 'datetime' || to.name === 'smalldatetime')) {
    const days = days1900 + Number(value);
    if (days < 0 || days > 3_652_058) fail(8115, 'expression', to.name);
    return at(BigInt(days) * ticksPerDay);
  }
  return from.name === 'decimal' || from.name === 'float'
    ? refuse(`A conversion of ${from.name} to ${to.name}`)
    : fail(529, from.name, to.name);
}
