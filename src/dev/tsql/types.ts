import type { SqlType, TypeName } from '../sql-engine.js';
import { collationOf } from '../text/collations.js';
import { fail } from './errors.js';

/**
 * Kind and system_type_id (sys.types) of every type, in the order of data type precedence, lowest first (Transact-SQL
 * reference, "Data type precedence"); of exact numbers also the bits and the precision. `numeric` is `decimal`.
 */
const facts = {
  binary: ['binary', 173],
  varbinary: ['binary', 165],
  char: ['string', 175],
  varchar: ['string', 167],
  nchar: ['string', 239],
  nvarchar: ['string', 231],
  uniqueidentifier: ['guid', 36],
  rowversion: ['binary', 189],
  image: ['binary', 34],
  text: ['string', 35],
  ntext: ['string', 99],
  bit: ['bit', 104, 1, 1],
  tinyint: ['integer', 48, 8, 3],
  smallint: ['integer', 52, 16, 5],
  int: ['integer', 56, 32, 10],
  bigint: ['integer', 127, 64, 19],
  smallmoney: ['money', 122, 32, 10],
  money: ['money', 60, 64, 19],
  decimal: ['decimal', 106],
  real: ['float', 59],
  float: ['float', 62],
  time: ['temporal', 41],
  date: ['temporal', 40],
  smalldatetime: ['temporal', 58],
  datetime: ['temporal', 61],
  datetime2: ['temporal', 42],
  datetimeoffset: ['temporal', 43],
  xml: ['xml', 241],
  sql_variant: ['variant', 98],
} as const satisfies Record<TypeName, readonly unknown[]>;

type Kind = (typeof facts)[TypeName][0];

const ranks = new Map(Object.keys(facts).map((name, i) => [name, i]));
export const isTypeName = (name: string): name is TypeName => ranks.has(name);
export const kindOf = ({ name }: SqlType): Kind => facts[name][0];
export const systemTypeId = ({ name }: SqlType): number => facts[name][1];

export const isString = (type: SqlType): boolean => kindOf(type) === 'string';
export const isUnicode = ({ name }: SqlType): boolean => name.startsWith('n') || name === 'xml';
export const isExact = (type: SqlType): boolean =>
  ['bit', 'integer', 'money', 'decimal'].includes(kindOf(type));
export const isNumber = (type: SqlType): boolean => isExact(type) || kindOf(type) === 'float';
/** Neither compared, sorted nor grouped: 306. */
export const isLarge = ({ name }: SqlType): boolean => ['text', 'ntext', 'image', 'xml'].includes(name);
/** A bigint of ticks without an offset. */
export const isTicks = ({ name }: SqlType): boolean =>
  name === 'datetime' || name === 'datetime2' || name === 'smalldatetime';

export const int: SqlType = { name: 'int' };
export const bigint: SqlType = { name: 'bigint' };
export const bit: SqlType = { name: 'bit' };
export const float: SqlType = { name: 'float' };
export const datetime: SqlType = { name: 'datetime' };
export const decimal = (precision: number, scale: number): SqlType => ({ name: 'decimal', precision, scale });
export const nvarchar = (length: number | 'max'): SqlType => ({ name: 'nvarchar', length });
export const varchar = (length: number | 'max'): SqlType => ({ name: 'varchar', length });

/** Precision and scale that an exact number has as a decimal. */
export function digitsOf(type: SqlType): readonly [precision: number, scale: number] {
  const [kind, , , precision = type.precision ?? 18] = facts[type.name];
  return [precision, kind === 'money' ? 4 : (type.scale ?? 0)];
}

/** Whether an exact type holds the value, which for decimals and money is times 10^scale. */
export function holds(type: SqlType, value: bigint): boolean {
  const [, , bits] = facts[type.name];
  if (bits) return value === (bits === 8 ? BigInt.asUintN(8, value) : BigInt.asIntN(bits, value));
  return value < 10n ** BigInt(digitsOf(type)[0]) && value > -(10n ** BigInt(digitsOf(type)[0]));
}

/** As messages name it. */
export const printed = ({ name }: SqlType): string => (name === 'decimal' ? 'numeric' : name);

/** Whether text of the first type is as well text of the second: of Unicode, or of the same code page. */
export const samePage = (from: SqlType, to: SqlType): boolean =>
  !isString(to) ||
  isUnicode(to) ||
  (!isUnicode(from) && collationOf(from.collation).codePage === collationOf(to.collation).codePage);

export const sameType = (a: SqlType, b: SqlType): boolean =>
  a.name === b.name &&
  a.length === b.length &&
  a.precision === b.precision &&
  a.scale === b.scale &&
  samePage(a, b);

export const longer = (a: SqlType, b: SqlType): number | 'max' =>
  a.length === 'max' || b.length === 'max' ? 'max' : Math.max(a.length ?? 1, b.length ?? 1);

/**
 * The common type of two branches, sides or rows ("Data type precedence"; "Precision, scale, and length"). `operation` is
 * for the message of 468.
 */
export function unify(a: SqlType, b: SqlType, operation = 'CASE'): SqlType {
  const [high, low] = ranks.get(a.name)! >= ranks.get(b.name)! ? [a, b] : [b, a];
  if (high.name === 'decimal' && isExact(low)) {
    const [[p1, s1], [p2, s2]] = [digitsOf(high), digitsOf(low)];
    const [whole, scale] = [Math.max(p1 - s1, p2 - s2), Math.max(s1, s2)];
    return decimal(Math.min(38, whole + scale), Math.min(scale, 38 - whole));
  }
  if (kindOf(high) !== kindOf(low)) return high;
  if (isString(high)) {
    const collation = high.collation ?? low.collation;
    if (high.collation && low.collation && high.collation !== low.collation)
      fail(468, high.collation, low.collation, operation);
    const name =
      high.name === low.name || isLarge(high) ? high.name : isUnicode(high) ? 'nvarchar' : 'varchar';
    const type = isLarge(high) ? { name } : { name, length: longer(high, low) };
    return collation ? { ...type, collation } : type;
  }
  if (high.length !== undefined && low.length !== undefined) return { ...high, length: longer(high, low) };
  if (high.scale === undefined || high.name === 'decimal') return high;
  return { ...high, scale: Math.max(high.scale, low.name === 'datetime' ? 3 : (low.scale ?? 0)) };
}
