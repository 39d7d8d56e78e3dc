import type { SqlType, TypeName } from './contract.js';
import { fail } from './errors.js';

/** Data type precedence, lowest first (Transact-SQL reference, "Data type precedence"). */
const precedence: readonly TypeName[] = [
  'binary',
  'varbinary',
  'char',
  'varchar',
  'nchar',
  'nvarchar',
  'uniqueidentifier',
  'rowversion',
  'image',
  'text',
  'ntext',
  'bit',
  'tinyint',
  'smallint',
  'int',
  'bigint',
  'smallmoney',
  'money',
  'decimal',
  'real',
  'float',
  'time',
  'date',
  'smalldatetime',
  'datetime',
  'datetime2',
  'datetimeoffset',
  'xml',
  'sql_variant',
];

export const rank = (type: SqlType): number => precedence.indexOf(type.name);

export const serverCollation = 'SQL_Latin1_General_CP1_CI_AS';

const group = (...names: TypeName[]) => {
  const set = new Set<TypeName>(names);
  return (type: SqlType): boolean => set.has(type.name);
};
export const isInteger = group('tinyint', 'smallint', 'int', 'bigint');
export const isExact = group('bit', 'tinyint', 'smallint', 'int', 'bigint', 'decimal', 'money', 'smallmoney');
export const isMoney = group('money', 'smallmoney');
export const isFloat = group('real', 'float');
export const isNumber = (type: SqlType): boolean => isExact(type) || isFloat(type);
export const isString = group('char', 'varchar', 'nchar', 'nvarchar', 'text', 'ntext');
export const isUnicode = group('nchar', 'nvarchar', 'ntext', 'xml');
export const isFixed = group('char', 'nchar', 'binary');
export const isBinary = group('binary', 'varbinary', 'image', 'rowversion');
/** Ticks in one bigint. */
export const isDateTime = group('smalldatetime', 'datetime', 'datetime2');
export const isTemporal = group('date', 'time', 'smalldatetime', 'datetime', 'datetime2', 'datetimeoffset');
/** Neither compared, sorted nor grouped. */
export const isLarge = group('text', 'ntext', 'image', 'xml');

export const int: SqlType = { name: 'int' };
export const bigint: SqlType = { name: 'bigint' };
export const float: SqlType = { name: 'float' };
export const bit: SqlType = { name: 'bit' };
export const datetime: SqlType = { name: 'datetime' };
export const uniqueidentifier: SqlType = { name: 'uniqueidentifier' };
/** What a condition yields; it is no SQL Server type and never leaves the binder. */
export const condition: SqlType = { name: 'bit' };
export const decimal = (precision: number, scale: number): SqlType => ({ name: 'decimal', precision, scale });
export const nvarchar = (length: number | 'max', collation?: string): SqlType =>
  text('nvarchar', length, collation);
export const varchar = (length: number | 'max', collation?: string): SqlType =>
  text('varchar', length, collation);

function text(name: 'varchar' | 'nvarchar', length: number | 'max', collation?: string): SqlType {
  return collation ? { name, length, collation } : { name, length };
}

export const isBigintStored = (type: SqlType): boolean =>
  type.name === 'bigint' || type.name === 'decimal' || isMoney(type) || isDateTime(type);

/** Bounds of the integer types and money (the value times 10,000). */
export const bounds: Partial<Record<TypeName, readonly [bigint, bigint]>> = {
  bit: [0n, 1n],
  tinyint: [0n, 255n],
  smallint: [-32_768n, 32_767n],
  int: [-(2n ** 31n), 2n ** 31n - 1n],
  bigint: [-(2n ** 63n), 2n ** 63n - 1n],
  smallmoney: [-(2n ** 31n), 2n ** 31n - 1n],
  money: [-(2n ** 63n), 2n ** 63n - 1n],
};

/** Precision and scale that an exact number has as a decimal. */
export function asDecimal(type: SqlType): { precision: number; scale: number } {
  switch (type.name) {
    case 'bit':
      return { precision: 1, scale: 0 };
    case 'tinyint':
      return { precision: 3, scale: 0 };
    case 'smallint':
      return { precision: 5, scale: 0 };
    case 'int':
      return { precision: 10, scale: 0 };
    case 'bigint':
      return { precision: 19, scale: 0 };
    case 'smallmoney':
      return { precision: 10, scale: 4 };
    case 'money':
      return { precision: 19, scale: 4 };
    default:
      return { precision: type.precision ?? 18, scale: type.scale ?? 0 };
  }
}

/** Characters or bytes that a value of the type takes as text, for the result of an implicit conversion. */
export function textLength(type: SqlType): number | 'max' {
  if (type.length !== undefined) return type.length;
  if (isLarge(type)) return 'max';
  return 100;
}

/** The name with its length, precision or scale, as SQL Server prints it in messages only by name. */
export const typeName = (type: SqlType): string => (type.name === 'decimal' ? 'numeric' : type.name);

/** The common type of the branches of CASE, COALESCE, UNION, IN (same reference, and "Precision, scale, and length"). */
export function unify(a: SqlType, b: SqlType): SqlType {
  if (a.name === 'sql_variant' || b.name === 'sql_variant') return { name: 'sql_variant' };
  const high = rank(a) >= rank(b) ? a : b;
  const low = high === a ? b : a;
  if (high.name === 'decimal' && isExact(low)) {
    const [x, y] = [asDecimal(high), asDecimal(low)];
    const scale = Math.max(x.scale, y.scale);
    const whole = Math.max(x.precision - x.scale, y.precision - y.scale);
    return decimal(Math.min(38, whole + scale), whole + scale > 38 ? Math.max(0, 38 - whole) : scale);
  }
  if (isString(high) && isString(low) && !isLarge(high)) {
    const [x, y] = [high.length ?? 1, low.length ?? 1];
    const length = x === 'max' || y === 'max' ? 'max' : Math.max(x, y);
    // char(3) with char(5) stays fixed; any other mixture varies.
    const name = high.name === low.name ? high.name : isUnicode(high) ? 'nvarchar' : 'varchar';
    return { ...high, name, length, ...mergeCollation(high, low) };
  }
  if (isBinary(high) && isBinary(low) && high.length !== undefined && low.length !== undefined) {
    const [x, y] = [high.length, low.length];
    return { ...high, length: x === 'max' || y === 'max' ? 'max' : Math.max(x, y) };
  }
  if (isTemporal(high) && isTemporal(low) && (high.scale ?? low.scale) !== undefined) {
    if (high.name === 'date') fail(206, low.name, high.name);
    const lowScale = low.name === 'datetime' ? 3 : (low.scale ?? 0);
    return { ...high, ...(high.scale !== undefined && { scale: Math.max(high.scale, lowScale) }) };
  }
  return high;
}

/** Two explicit collations that differ have no common one; SQL Server raises 468 or 451. */
export function mergeCollation(a: SqlType, b: SqlType): { collation?: string } {
  const collation = a.collation ?? b.collation;
  if (a.collation && b.collation && a.collation !== b.collation) {
    fail(
      468,
      `Cannot resolve the collation conflict between "${a.collation}" and "${b.collation}" in the operation.`,
    );
  }
  return collation ? { collation } : {};
}
