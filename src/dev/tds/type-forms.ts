import type { TypeName } from '../sql-engine.js';

export interface Form {
  /** Type byte (MS-TDS 2.2.5.4) of what is nullable. */
  readonly token: number;
  /** What follows the type byte, and how the values' lengths are told. */
  readonly kind: 'fixed' | 'date' | 'decimal' | 'time' | 'sized' | 'long' | 'xml' | 'variant';
  /** Type byte of a form without a length, for NOT NULL. */
  readonly notNull?: number;
  /** `fixed`: bytes of each value. */
  readonly size?: number;
  /** Text: bytes of a character; a collation goes with it. */
  readonly unit?: 1 | 2;
}

/** Every type of the wire, by its name in T-SQL. */
export const forms: Record<TypeName, Form> = {
  bit: { kind: 'fixed', token: 0x68, notNull: 0x32, size: 1 },
  tinyint: { kind: 'fixed', token: 0x26, notNull: 0x30, size: 1 },
  smallint: { kind: 'fixed', token: 0x26, notNull: 0x34, size: 2 },
  int: { kind: 'fixed', token: 0x26, notNull: 0x38, size: 4 },
  bigint: { kind: 'fixed', token: 0x26, notNull: 0x7f, size: 8 },
  real: { kind: 'fixed', token: 0x6d, notNull: 0x3b, size: 4 },
  float: { kind: 'fixed', token: 0x6d, notNull: 0x3e, size: 8 },
  smallmoney: { kind: 'fixed', token: 0x6e, notNull: 0x7a, size: 4 },
  money: { kind: 'fixed', token: 0x6e, notNull: 0x3c, size: 8 },
  smalldatetime: { kind: 'fixed', token: 0x6f, notNull: 0x3a, size: 4 },
  datetime: { kind: 'fixed', token: 0x6f, notNull: 0x3d, size: 8 },
  uniqueidentifier: { kind: 'fixed', token: 0x24, size: 16 },
  decimal: { kind: 'decimal', token: 0x6a },
  date: { kind: 'date', token: 0x28 },
  time: { kind: 'time', token: 0x29 },
  datetime2: { kind: 'time', token: 0x2a },
  datetimeoffset: { kind: 'time', token: 0x2b },
  char: { kind: 'sized', token: 0xaf, unit: 1 },
  varchar: { kind: 'sized', token: 0xa7, unit: 1 },
  nchar: { kind: 'sized', token: 0xef, unit: 2 },
  nvarchar: { kind: 'sized', token: 0xe7, unit: 2 },
  binary: { kind: 'sized', token: 0xad },
  varbinary: { kind: 'sized', token: 0xa5 },
  rowversion: { kind: 'sized', token: 0xad },
  text: { kind: 'long', token: 0x23, unit: 1 },
  ntext: { kind: 'long', token: 0x63, unit: 2 },
  image: { kind: 'long', token: 0x22 },
  xml: { kind: 'xml', token: 0xf1 },
  sql_variant: { kind: 'variant', token: 0x62 },
};
