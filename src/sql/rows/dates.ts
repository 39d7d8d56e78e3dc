import type { Codec } from './codec.js';
import { writeDigits, writePair } from './digits.js';
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

/** `2026-11-30` from days since 0001-01-01 of the proleptic Gregorian calendar. */
function writeDay(target: DataView, from: number, days: number): number {
  // Years that begin in March put the leap day last, so that months have a formula (Howard Hinnant, civil_from_days).
  const shifted = days + 306;
  const era = (shifted / 146_097) | 0;
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra =
    ((dayOfEra - ((dayOfEra / 1_460) | 0) + ((dayOfEra / 36_524) | 0) - ((dayOfEra / 146_096) | 0)) / 365) |
    0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const march = ((5 * dayOfYear + 2) / 153) | 0;
  const day = dayOfYear - (((153 * march + 2) / 5) | 0) + 1;
  const month = march < 10 ? march + 3 : march - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const century = (year / 100) | 0;
  let at = writePair(target, from, century);
  at = writePair(target, at, year - century * 100);
  target.setUint8(at++, dash);
  at = writePair(target, at, month);
  target.setUint8(at++, dash);
  return writePair(target, at, day);
}

function writeSeconds(target: DataView, from: number, seconds: number): number {
  const hours = (seconds / 3_600) | 0;
  const rest = seconds - hours * 3_600;
  const minutes = (rest / 60) | 0;
  let at = writePair(target, from, hours);
  target.setUint8(at++, colon);
  at = writePair(target, at, minutes);
  target.setUint8(at++, colon);
  return writePair(target, at, rest - minutes * 60);
}

/** `.123`: at least `least` digits of the 7 of a fraction in units of 100 ns, more when they are not zero. */
function writeFraction(target: DataView, from: number, fraction: number, least: number): number {
  let digits = 7;
  let rest = fraction | 0;
  while (digits > least && rest % 10 === 0) {
    rest = (rest / 10) | 0;
    digits--;
  }
  if (digits === 0) return from;
  target.setUint8(from, point);
  return writeDigits(target, from + 1, rest, digits);
}

/** `2026-11-30T10:20:30.123`, with the digits after the millisecond that are not zero. `ticks` are units of 100 ns of the day. */
function writeInstant(target: DataView, from: number, days: number, ticks: number): number {
  const seconds = Math.floor(ticks / 10_000_000);
  let at = writeDay(target, from, days);
  target.setUint8(at++, 0x54); // T
  at = writeSeconds(target, at, seconds);
  return writeFraction(target, at, ticks - seconds * 10_000_000, 3);
}

function writeUtc(target: DataView, from: number, days: number, ticks: number): number {
  const at = writeInstant(target, from, days, ticks);
  target.setUint8(at, 0x5a); // Z
  return at + 1;
}

type Write = (target: DataView, at: number, source: Buffer, start: number, length: number) => number;

const scratch = Buffer.alloc(room);
const scratchView = new DataView(scratch.buffer, scratch.byteOffset, scratch.length);

function textual(write: Write): Codec {
  return {
    json(source, start, length, out: JsonOutput) {
      out.ensure(room);
      const { view } = out;
      view.setUint8(out.position, quote);
      const at = write(view, out.position + 1, source, start, length);
      view.setUint8(at, quote);
      out.position = at + 1;
    },
    value: (source, start, length) =>
      scratch.toString('latin1', 0, write(scratchView, 0, source, start, length)),
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

export const date: Codec = textual((target, at, source, start) =>
  writeUtc(target, at, readDays(source, start), 0),
);

/** `10:20:30`, and all seven digits of the fraction when it is not zero, as a .NET TimeSpan is written. */
export function time(scale: number): Codec {
  const unit = 10 ** (7 - scale);
  return textual((target, at, source, start, length) => {
    const ticks = readTime(source, start, length) * unit;
    const seconds = Math.floor(ticks / 10_000_000);
    const fraction = ticks - seconds * 10_000_000;
    const end = writeSeconds(target, at, seconds);
    return fraction === 0 ? end : writeFraction(target, end, fraction, 7);
  });
}

export function datetime2(scale: number): Codec {
  const unit = 10 ** (7 - scale);
  return textual((target, at, source, start, length) =>
    writeUtc(target, at, readDays(source, start + length - 3), readTime(source, start, length - 3) * unit),
  );
}

/** On the wire in UTC, with minutes of offset; written with the local time that it was stored with (MS-TDS 2.2.5.5.1.9). */
export function datetimeoffset(scale: number): Codec {
  const unit = 10 ** (7 - scale);
  const dayTicks = dayMs * 10_000;
  return textual((target, at, source, start, length) => {
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
    let end = writeInstant(target, at, days, ticks);
    const minutes = Math.abs(offset);
    target.setUint8(end++, offset < 0 ? dash : 0x2b);
    end = writePair(target, end, (minutes / 60) | 0);
    target.setUint8(end++, colon);
    return writePair(target, end, minutes % 60);
  });
}

/** datetime: days since 1900 and 1/300 s, shown to the nearest millisecond as SQL Server shows it; smalldatetime: days and minutes. */
export const datetime: Codec = textual((target, at, source, start, length) => {
  if (length === 4) {
    const minutes = source.readUInt16LE(start + 2);
    return writeUtc(target, at, source.readUInt16LE(start) + daysTo1900, minutes * 600_000_000);
  }
  const ms = Math.round((source.readUInt32LE(start + 4) * 10) / 3);
  return writeUtc(target, at, source.readInt32LE(start) + daysTo1900, ms * 10_000);
});
