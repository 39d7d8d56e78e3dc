import type { OffsetDateTime, SqlType, SqlValue } from '../sql-engine.js';
import { sensitivityOf } from './collation.js';
import { fail, refuse } from './errors.js';
import { digitsOf, isLarge, kindOf } from './types.js';

/** What SQLite holds. */
export type Raw = null | number | bigint | string | Uint8Array;

const bias = 10n ** 38n;
/** Decimals of more digits than an int64 has are text. */
const isWide = (type: SqlType): boolean => type.name === 'decimal' && digitsOf(type)[0] > 18;

/** The one stored form of a value, whose order and equality in SQLite are those of T-SQL, but see `checkOrder`. */
export function toStored(value: SqlValue, type: SqlType): Raw {
  if (value === null) return null;
  if (type.name === 'sql_variant') return refuse('A sql_variant in a table or a condition');
  if (type.name === 'datetimeoffset') {
    const { ticks, offset } = value as OffsetDateTime;
    return String(ticks).padStart(19, '0') + String(offset + 1000).padStart(4, '0');
  }
  if (typeof value === 'string')
    return !/\p{Surrogate}/u.test(value) ? value : refuse('Half of a surrogate pair in a table');
  if (!isWide(type)) return typeof value === 'boolean' ? Number(value) : (value as Raw);
  // Digits of one width; negative numbers as their distance from the smallest, so that text order is number order.
  const number = value as bigint;
  return number >= 0n
    ? `1${String(number).padStart(39, '0')}`
    : `0${String(number + bias).padStart(39, '0')}`;
}

export function fromStored(raw: Raw, type: SqlType): SqlValue {
  if (raw === null || raw instanceof Uint8Array) return raw;
  if (type.name === 'datetimeoffset')
    return { ticks: BigInt(String(raw).slice(0, 19)), offset: Number(String(raw).slice(19)) - 1000 };
  if (isWide(type) && typeof raw === 'string') return BigInt(raw.slice(1)) - (raw[0] === '1' ? 0n : bias);
  if (typeof raw === 'string') return raw;
  if (type.name === 'bit') return raw !== 0;
  const isSmall = ['tinyint', 'smallint', 'int', 'date', 'time', 'real', 'float'].includes(type.name);
  return isSmall ? Number(raw) : BigInt(raw);
}

/** What follows a stored value where SQLite compares it. */
export const collate = (type: SqlType): string => {
  const sensitivity = sensitivityOf(type);
  return sensitivity ? ` COLLATE ${sensitivity}` : '';
};

/** Types that SQLite cannot sort, or tell apart as keys, as T-SQL does. */
export function checkOrder(type: SqlType, use: 'sort' | 'key'): void {
  if (isLarge(type)) fail(306);
  const isRefused = type.name === (use === 'sort' ? 'uniqueidentifier' : 'datetimeoffset');
  if (isRefused || kindOf(type) === 'variant')
    refuse(`${use === 'sort' ? 'Sorting by' : 'A key of'} ${type.name}`);
}
