import type { ResolvedFormats } from './rows/codec.js';
import type { ColumnInfo, RowValue } from './types.js';

interface TediousDate extends Date {
  /** Seconds beyond the millisecond, as tedious gives them. */
  readonly nanosecondsDelta?: number;
}

function isoOf(date: TediousDate): string {
  const beyond = Math.round((date.nanosecondsDelta ?? 0) * 10_000_000);
  const digits = beyond === 0 ? '' : String(beyond).padStart(4, '0').replace(/0+$/, '');
  return `${date.toISOString().slice(0, -1)}${digits}`;
}

function timeOf(date: TediousDate): string {
  const [clock = '', fraction = ''] = isoOf(date).slice(11).split('.');
  return /^0*$/.test(fraction) ? clock : `${clock}.${fraction.padEnd(7, '0')}`;
}

/** A value of tedious as `rows()` gives it; what tedious has lost stays lost. */
export function plainValue(info: ColumnInfo, value: unknown, formats: ResolvedFormats): RowValue {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) {
    if (info.type === 'time') return timeOf(value);
    return isoOf(value) + (info.type === 'datetimeoffset' ? '+00:00' : 'Z');
  }
  switch (info.type) {
    case 'bigint':
      return BigInt(value as string);
    case 'decimal':
    case 'money':
    case 'smallmoney':
      if (formats.rowDecimal === 'number') return value as number;
      return (value as number).toFixed(info.type === 'decimal' ? (info.scale ?? 0) : 4);
    case 'uniqueidentifier':
      return (value as string).toLowerCase();
    default:
      return value as RowValue;
  }
}
