import type { Codec } from './codec.js';
import type { JsonOutput } from './json-output.js';

/** Days from 0001-01-01 to 1900-01-01, from which datetime and smalldatetime count. */
const daysTo1900 = 693_595;
const dayMs = 86_400_000;
const quote = 0x22;
/** `"2026-11-30T10:20:30.1234567+07:00"` and room to spare. */
const room = 48;

const colon = 0x3a;
const point = 0x2e;
const dash = 0x2d;
const zero = 0x30;

function two(buffer: Buffer, at: number, value: number): number {
  const tens = (value / 10) | 0;
  buffer[at] = zero + tens;
  buffer[at + 1] = zero + (value - tens * 10);
  return at + 2;
}

/** `2026-11-30` from days since 0001-01-01 of the proleptic Gregorian calendar. */
function writeDay(buffer: Buffer, from: number, days: number): number {
  // Years that begin in March put the leap day last, so that months have a formula (Howard Hinnant, civil_from_days).
  const shifted = days + 306;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const march = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * march + 2) / 5) + 1;
  const month = march < 10 ? march + 3 : march - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const century = (year / 100) | 0;
  let at = two(buffer, from, century);
  at = two(buffer, at, year - century * 100);
  buffer[at++] = dash;
  at = two(buffer, at, month);
  buffer[at++] = dash;
  return two(buffer, at, day);
}

function writeSeconds(buffer: Buffer, from: number, seconds: number): number {
  const hours = (seconds / 3_600) | 0;
  const rest = seconds - hours * 3_600;
  const minutes = (rest / 60) | 0;
  let at = two(buffer, from, hours);
  buffer[at++] = colon;
  at = two(buffer, at, minutes);
  buffer[at++] = colon;
  return two(buffer, at, rest - minutes * 60);
}

/** `.123`: at least `least` digits of the 7 of a fraction in units of 100 ns, more when they are not zero. */
function writeFraction(buffer: Buffer, from: number, fraction: number, least: number): number {
  let digits = 7;
  let rest = fraction;
  while (digits > least && rest % 10 === 0) {
    rest /= 10;
    digits--;
  }
  if (digits === 0) return from;
  buffer[from] = point;
  for (let at = from + digits; at > from; at--) {
    const next = (rest / 10) | 0;
    buffer[at] = zero + (rest - next * 10);
    rest = next;
  }
  return from + 1 + digits;
}

/** `2026-11-30T10:20:30.123`, with the digits after the millisecond that are not zero. `ticks` are units of 100 ns of the day. */
function writeInstant(buffer: Buffer, from: number, days: number, ticks: number): number {
  const seconds = Math.floor(ticks / 10_000_000);
  let at = writeDay(buffer, from, days);
  buffer[at++] = 0x54; // T
  at = writeSeconds(buffer, at, seconds);
  return writeFraction(buffer, at, ticks - seconds * 10_000_000, 3);
}

function writeUtc(buffer: Buffer, from: number, days: number, ticks: number): number {
  const at = writeInstant(buffer, from, days, ticks);
  buffer[at] = 0x5a; // Z
  return at + 1;
}

type Write = (buffer: Buffer, at: number, source: Buffer, start: number, length: number) => number;

const scratch = Buffer.alloc(room);

function textual(write: Write): Codec {
  return {
    json(source, start, length, out: JsonOutput) {
      out.ensure(room);
      const { buffer } = out;
      buffer[out.position] = quote;
      const at = write(buffer, out.position + 1, source, start, length);
      buffer[at] = quote;
      out.position = at + 1;
    },
    value: (source, start, length) => scratch.toString('latin1', 0, write(scratch, 0, source, start, length)),
  };
}

function readDays(source: Buffer, at: number): number {
  return source[at]! | (source[at + 1]! << 8) | (source[at + 2]! << 16);
}

/** 3, 4 or 5 bytes (MS-TDS 2.2.5.5.1.9). */
function readTime(source: Buffer, at: number, bytes: number): number {
  const low = source[at]! + source[at + 1]! * 0x100 + source[at + 2]! * 0x10000;
  if (bytes === 3) return low;
  const fourth = low + source[at + 3]! * 0x1000000;
  return bytes === 4 ? fourth : fourth + source[at + 4]! * 0x100000000;
}

export const date: Codec = textual((buffer, at, source, start) =>
  writeUtc(buffer, at, readDays(source, start), 0),
);

/** `10:20:30`, and all seven digits of the fraction when it is not zero, as a .NET TimeSpan is written. */
export function time(scale: number): Codec {
  const unit = 10 ** (7 - scale);
  return textual((buffer, at, source, start, length) => {
    const ticks = readTime(source, start, length) * unit;
    const seconds = Math.floor(ticks / 10_000_000);
    const fraction = ticks - seconds * 10_000_000;
    const end = writeSeconds(buffer, at, seconds);
    return fraction === 0 ? end : writeFraction(buffer, end, fraction, 7);
  });
}

export function datetime2(scale: number): Codec {
  const unit = 10 ** (7 - scale);
  return textual((buffer, at, source, start, length) =>
    writeUtc(buffer, at, readDays(source, start + length - 3), readTime(source, start, length - 3) * unit),
  );
}

/** On the wire in UTC, with minutes of offset; written with the local time that it was stored with (MS-TDS 2.2.5.5.1.9). */
export function datetimeoffset(scale: number): Codec {
  const unit = 10 ** (7 - scale);
  const dayTicks = dayMs * 10_000;
  return textual((buffer, at, source, start, length) => {
    const offset = source.readInt16LE(start + length - 2);
    let days = readDays(source, start + length - 5);
    let ticks = readTime(source, start, length - 5) * unit + offset * 600_000_000;
    if (ticks < 0) {
      ticks += dayTicks;
      days--;
    } else if (ticks >= dayTicks) {
      ticks -= dayTicks;
      days++;
    }
    let end = writeInstant(buffer, at, days, ticks);
    const minutes = Math.abs(offset);
    buffer[end++] = offset < 0 ? dash : 0x2b;
    end = two(buffer, end, (minutes / 60) | 0);
    buffer[end++] = colon;
    return two(buffer, end, minutes % 60);
  });
}

/** datetime: days since 1900 and 1/300 s, shown to the nearest millisecond as SQL Server shows it; smalldatetime: days and minutes. */
export const datetime: Codec = textual((buffer, at, source, start, length) => {
  if (length === 4) {
    const minutes = source.readUInt16LE(start + 2);
    return writeUtc(buffer, at, source.readUInt16LE(start) + daysTo1900, minutes * 600_000_000);
  }
  const ms = Math.round((source.readUInt32LE(start + 4) * 10) / 3);
  return writeUtc(buffer, at, source.readInt32LE(start) + daysTo1900, ms * 10_000);
});
