import type { OffsetDateTime, SqlType, SqlValue } from './contract.js';
import { convert } from './convert.js';
import {
  civilOf,
  clock,
  datetimeMs,
  daysOf,
  roundToDatetime,
  ticksOfUnixMs,
  ticksPerDay,
  ticksPerMinute,
  ticksPerSecond,
} from './dates.js';
import { fail, refuse } from './errors.js';
import { arity, type FunctionBinder, strictCall } from './function-binder.js';
import { coerce, type Node } from './node.js';
import type { Runtime } from './runtime.js';
import { bigint, datetime, int, isNumber, isString, nvarchar } from './types.js';

const partNames: Readonly<Record<string, string>> = {
  yy: 'year',
  yyyy: 'year',
  qq: 'quarter',
  q: 'quarter',
  mm: 'month',
  m: 'month',
  dy: 'dayofyear',
  y: 'dayofyear',
  dd: 'day',
  d: 'day',
  wk: 'week',
  ww: 'week',
  dw: 'weekday',
  w: 'weekday',
  hh: 'hour',
  mi: 'minute',
  n: 'minute',
  ss: 'second',
  s: 'second',
  ms: 'millisecond',
  mcs: 'microsecond',
  ns: 'nanosecond',
  tz: 'tzoffset',
  isowk: 'iso_week',
};
const parts = new Set([...Object.values(partNames)]);

function partOf(node: Node): string {
  const written = String((node as { value: SqlValue }).value);
  const part = partNames[written.toLowerCase()] ?? written.toLowerCase();
  return parts.has(part) ? part : fail(155, `'${written}' is not a recognized datepart option.`);
}

/** Local days and ticks since midnight of any date type. */
function local(value: SqlValue, type: SqlType): { days: number; time: bigint } {
  if (type.name === 'date') return { days: value as number, time: 0n };
  if (type.name === 'time') return { days: 693_595, time: BigInt(value as number) };
  const ticks =
    type.name === 'datetimeoffset'
      ? (value as OffsetDateTime).ticks + BigInt((value as OffsetDateTime).offset) * ticksPerMinute
      : (value as bigint);
  return { days: Number(ticks / ticksPerDay), time: ticks % ticksPerDay };
}

/** Text becomes datetime2(7) for DATEPART and the like, and datetime for DATEADD, as SQL Server has it. */
function asDate(node: Node, text: SqlType): Node {
  return isString(node.type) || isNumber(node.type)
    ? coerce(node, isNumber(node.type) ? datetime : text)
    : node;
}
const datetime2: SqlType = { name: 'datetime2', scale: 7 };

function part(name: string, days: number, time: bigint, type: SqlType): number {
  const { year, month, day } = civilOf(days);
  const { hour, minute, second, fraction } = clock(time);
  const old = type.name === 'datetime' || type.name === 'smalldatetime';
  const yearStart = daysOf({ year, month: 1, day: 1 })!;
  // 0001-01-01 was a Monday; with DATEFIRST 7, Sunday is 1.
  const weekday = ((days + 1) % 7) + 1;
  switch (name) {
    case 'year':
      return year;
    case 'quarter':
      return Math.ceil(month / 3);
    case 'month':
      return month;
    case 'day':
      return day;
    case 'dayofyear':
      return days - yearStart + 1;
    case 'week':
      return Math.floor((days - yearStart + ((yearStart + 1) % 7)) / 7) + 1;
    case 'weekday':
      return weekday;
    case 'iso_week': {
      const thursday = days - (days % 7) + 3;
      return Math.floor((thursday - daysOf({ year: civilOf(thursday).year, month: 1, day: 1 })!) / 7) + 1;
    }
    case 'hour':
      return hour;
    case 'minute':
      return minute;
    case 'second':
      return second;
    case 'millisecond':
      return old ? datetimeMs(time) : Math.floor(fraction / 10_000);
    case 'microsecond':
      return old ? datetimeMs(time) * 1000 : Math.floor(fraction / 10);
    case 'nanosecond':
      return old ? datetimeMs(time) * 1_000_000 : fraction * 100;
    default:
      return fail(9806, name, 'datepart');
  }
}

function datePart(args: readonly Node[], name: string): Node {
  arity(name, args, 2);
  const wanted = partOf(args[0]!);
  const date = asDate(args[1]!, datetime2);
  const { type } = date;
  if (
    (type.name === 'date' && /hour|minute|second/.test(wanted)) ||
    (type.name === 'time' && !/hour|minute|second/.test(wanted))
  )
    fail(9810, wanted, name.toLowerCase(), type.name);
  return strictCall(`${name}:${wanted}`, int, [date], ([value]) => {
    if (wanted === 'tzoffset') return type.name === 'datetimeoffset' ? (value as OffsetDateTime).offset : 0;
    const { days, time } = local(value!, type);
    return part(wanted, days, time, type);
  });
}

const monthNames = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

function dateName(args: readonly Node[], name: string): Node {
  const number = datePart(args, name) as Node & { k: 'call' };
  const wanted = partOf(args[0]!);
  if (wanted === 'tzoffset') refuse('DATENAME(tzoffset)');
  const word = (n: number): string =>
    wanted === 'month' ? monthNames[n - 1]! : wanted === 'weekday' ? dayNames[n - 1]! : String(n);
  return strictCall(`name:${wanted}`, nvarchar(30), [number], ([n]) => word(n as number));
}

const unitTicks: Readonly<Record<string, bigint>> = {
  day: ticksPerDay,
  dayofyear: ticksPerDay,
  weekday: ticksPerDay,
  week: 7n * ticksPerDay,
  hour: 3600n * ticksPerSecond,
  minute: ticksPerMinute,
  second: ticksPerSecond,
  millisecond: 10_000n,
  microsecond: 10n,
};

function addMonths(days: number, count: number): number | undefined {
  const { year, month, day } = civilOf(days);
  const index = year * 12 + month - 1 + count;
  const target = { year: Math.floor(index / 12), month: (index % 12) + 1 };
  for (let d = day; d > 27; d--) {
    const found = daysOf({ ...target, day: d });
    if (found !== undefined) return found;
  }
  return daysOf({ ...target, day: Math.min(day, 28) });
}

function dateAdd(args: readonly Node[], name: string): Node {
  arity(name, args, 3);
  const wanted = partOf(args[0]!);
  const date = asDate(args[2]!, datetime);
  const { type } = date;
  if (type.name === 'date' && /hour|minute|second/.test(wanted)) fail(9810, wanted, 'dateadd', 'date');
  if (type.name === 'time' && !/hour|minute|second/.test(wanted)) fail(9810, wanted, 'dateadd', 'time');
  const months: Record<string, number> = { year: 12, quarter: 3, month: 1 };
  return strictCall(`${name}:${wanted}`, type, [coerce(args[1]!, bigint), date], ([count, value]) => {
    const { days, time } = local(value!, type);
    let ticks: bigint;
    const step = months[wanted];
    if (step) {
      const moved = addMonths(days, Number(count) * step);
      if (moved === undefined) return fail(517, type.name);
      ticks = BigInt(moved) * ticksPerDay + time;
    } else if (wanted === 'nanosecond') ticks = BigInt(days) * ticksPerDay + time + (count as bigint) / 100n;
    else {
      const unit = unitTicks[wanted] ?? fail(9806, wanted, 'dateadd');
      ticks = BigInt(days) * ticksPerDay + time + (count as bigint) * unit;
    }
    if (type.name === 'time') return Number(((ticks % ticksPerDay) + ticksPerDay) % ticksPerDay);
    if (ticks < 0n || ticks >= 3_652_059n * ticksPerDay) fail(517, type.name);
    if (type.name === 'date') return Number(ticks / ticksPerDay);
    if (type.name === 'datetimeoffset') {
      const { offset } = value as OffsetDateTime;
      return { ticks: ticks - BigInt(offset) * ticksPerMinute, offset };
    }
    return type.name === 'datetime2'
      ? convert(ticks, datetime2, type)
      : convert(type.name === 'datetime' ? roundToDatetime(ticks) : ticks, datetime2, type);
  });
}

/** Boundaries crossed between two dates; datetimeoffset counts in UTC. */
function dateDiff(args: readonly Node[], name: string): Node {
  arity(name, args, 3);
  const wanted = partOf(args[0]!);
  const [from, to] = [asDate(args[1]!, datetime2), asDate(args[2]!, datetime2)];
  const big = name === 'DATEDIFF_BIG';
  const utc = (value: SqlValue, type: SqlType): { days: number; time: bigint } =>
    type.name === 'datetimeoffset' ? local((value as OffsetDateTime).ticks, datetime2) : local(value, type);
  return strictCall(`${name}:${wanted}`, big ? bigint : int, [from, to], ([p, q]) => {
    const [a, b] = [utc(p!, from.type), utc(q!, to.type)];
    const count = boundaries(wanted, a, b);
    if (!big && (count > 2_147_483_647n || count < -2_147_483_648n)) fail(535);
    return big ? count : Number(count);
  });
}

function boundaries(
  wanted: string,
  a: { days: number; time: bigint },
  b: { days: number; time: bigint },
): bigint {
  const [x, y] = [civilOf(a.days), civilOf(b.days)];
  if (wanted === 'year') return BigInt(y.year - x.year);
  if (wanted === 'quarter')
    return BigInt((y.year - x.year) * 4 + Math.floor((y.month - 1) / 3) - Math.floor((x.month - 1) / 3));
  if (wanted === 'month') return BigInt((y.year - x.year) * 12 + y.month - x.month);
  if (wanted === 'week') return BigInt(Math.floor((b.days + 1) / 7) - Math.floor((a.days + 1) / 7));
  const ticks = ({ days, time }: { days: number; time: bigint }): bigint => BigInt(days) * ticksPerDay + time;
  if (wanted === 'nanosecond') return (ticks(b) - ticks(a)) * 100n;
  const unit = unitTicks[wanted] ?? fail(9806, wanted, 'datediff');
  return ticks(b) / unit - ticks(a) / unit;
}

const now =
  (type: SqlType, read: (runtime: Runtime) => SqlValue): FunctionBinder =>
  (args, name) => {
    arity(name, args, 0);
    return { ...strictCall(name, type, [], (_, runtime) => read(runtime)), nullable: false };
  };
// The server's time zone is UTC, as in Azure: results must not depend on the machine.
const utcTicks = (runtime: Runtime): bigint => ticksOfUnixMs(runtime.now);
const single =
  (wanted: string): FunctionBinder =>
  (args, name) => {
    arity(name, args, 1);
    return datePart([{ k: 'const', type: nvarchar(10), value: wanted, nullable: false }, args[0]!], name);
  };

export const dateFunctions: Readonly<Record<string, FunctionBinder>> = {
  GETDATE: now(datetime, (rt) => roundToDatetime(utcTicks(rt))),
  GETUTCDATE: now(datetime, (rt) => roundToDatetime(utcTicks(rt))),
  CURRENT_TIMESTAMP: now(datetime, (rt) => roundToDatetime(utcTicks(rt))),
  SYSDATETIME: now(datetime2, utcTicks),
  SYSUTCDATETIME: now(datetime2, utcTicks),
  SYSDATETIMEOFFSET: now({ name: 'datetimeoffset', scale: 7 }, (rt) => ({ ticks: utcTicks(rt), offset: 0 })),
  DATEPART: datePart,
  DATENAME: dateName,
  DATEADD: dateAdd,
  DATEDIFF: dateDiff,
  DATEDIFF_BIG: dateDiff,
  YEAR: single('year'),
  MONTH: single('month'),
  DAY: single('day'),
  EOMONTH: (args, name) => {
    arity(name, args, 1, 2);
    const date = asDate(args[0]!, datetime2);
    return strictCall(
      name,
      { name: 'date' },
      [date, ...(args[1] ? [coerce(args[1], int)] : [])],
      ([value, count]) => {
        const first = civilOf(
          addMonths(local(value!, date.type).days, ((count as number) ?? 0) + 0) ?? fail(517, 'date'),
        );
        const next =
          first.month === 12
            ? { year: first.year + 1, month: 1, day: 1 }
            : { ...first, month: first.month + 1, day: 1 };
        return (daysOf(next) ?? 3_652_059) - 1;
      },
    );
  },
  DATEFROMPARTS: (args, name) => {
    arity(name, args, 3);
    return strictCall(
      name,
      { name: 'date' },
      args.map((arg) => coerce(arg, int)),
      ([year, month, day]) =>
        daysOf({ year: year as number, month: month as number, day: day as number }) ??
        fail(289, 'Cannot construct data type date, some of the arguments have values which are not valid.'),
    );
  },
  SWITCHOFFSET: (args, name) => {
    arity(name, args, 2);
    const date = coerce(args[0]!, { name: 'datetimeoffset', scale: args[0]!.type.scale ?? 7 });
    const text = nvarchar(10);
    const offset = isNumber(args[1]!.type) ? coerce(args[1]!, int) : coerce(args[1]!, text);
    return strictCall(name, date.type, [date, offset], ([value, to]) => {
      const minutes =
        typeof to === 'number'
          ? to
          : /^[+-]\d\d:\d\d$/.test(to as string)
            ? ((to as string)[0] === '-' ? -1 : 1) *
              (Number((to as string).slice(1, 3)) * 60 + Number((to as string).slice(4)))
            : Number.NaN;
      if (!(Math.abs(minutes) <= 840))
        fail(9812, 'The timezone provided to builtin function switchoffset is invalid.');
      return { ticks: (value as OffsetDateTime).ticks, offset: minutes };
    });
  },
};
