/** Type bytes (MS-TDS 2.2.5.4). `fixed` ones say NOT NULL and carry no length. */
export const fixed = {
  bit: 0x32,
  tinyint: 0x30,
  smallint: 0x34,
  int: 0x38,
  bigint: 0x7f,
  real: 0x3b,
  float: 0x3e,
  money: 0x3c,
  smallmoney: 0x7a,
  datetime: 0x3d,
  smalldatetime: 0x3a,
} as const;

export const token = {
  null: 0x1f,
  image: 0x22,
  text: 0x23,
  guid: 0x24,
  int: 0x26,
  date: 0x28,
  time: 0x29,
  datetime2: 0x2a,
  datetimeoffset: 0x2b,
  variant: 0x62,
  ntext: 0x63,
  bit: 0x68,
  decimal: 0x6a,
  numeric: 0x6c,
  float: 0x6d,
  money: 0x6e,
  datetime: 0x6f,
  varbinary: 0xa5,
  varchar: 0xa7,
  binary: 0xad,
  char: 0xaf,
  nvarchar: 0xe7,
  nchar: 0xef,
  udt: 0xf0,
  xml: 0xf1,
  table: 0xf3,
} as const;

export const ticksPerDay = 864_000_000_000n;
/** Days from 0001-01-01 to 1900-01-01, where datetime and smalldatetime begin. */
export const daysTo1900 = 693_595;
/** Days from 0001-01-01 to 9999-12-31. */
export const lastDay = 3_652_058;

/** Bytes of a time of a scale (MS-TDS 2.2.5.5.1.8). */
export const timeSize = (scale: number): number => (scale <= 2 ? 3 : scale <= 4 ? 4 : 5);
/** Bytes of a decimal's magnitude (MS-TDS 2.2.5.5.1.6). */
export const decimalSize = (precision: number): number =>
  precision <= 9 ? 4 : precision <= 19 ? 8 : precision <= 28 ? 12 : 16;
/** Units of 100 ns in the last digit of a scale. */
export const unitOfScale = (scale: number): number => 10 ** (7 - scale);
