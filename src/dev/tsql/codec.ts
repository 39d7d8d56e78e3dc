import type { OffsetDateTime, SqlType, SqlValue, VariantValue } from './contract.js';
import { isBigintStored, isBinary, isFloat, serverCollation } from './types.js';

/** What SQLite holds. Each type has one form whose SQLite order and equality are those of T-SQL, see `collationOf`. */
export type Raw = null | number | bigint | string | Uint8Array;
export type Storage = 'int' | 'int64' | 'real' | 'text' | 'blob';

export interface Codec {
  readonly storage: Storage;
  decode(raw: NonNullable<Raw>): SqlValue;
  encode(value: NonNullable<SqlValue>): Raw;
}

const same = (storage: Storage): Codec => ({
  storage,
  decode: (raw) => raw as SqlValue,
  encode: (value) => value as Raw,
});

const plain = {
  int: same('int'),
  int64: same('int64'),
  real: same('real'),
  text: same('text'),
  blob: same('blob'),
};

const bitCodec: Codec = { storage: 'int', decode: (raw) => raw !== 0, encode: (value) => (value ? 1 : 0) };

const offsetBias = 10n ** 38n;

/** Digits padded to one width; negative numbers as their distance from the smallest, so that text order is number order. */
const wideDecimal: Codec = {
  storage: 'text',
  decode: (raw) => {
    const text = raw as string;
    return text[0] === '1' ? BigInt(text.slice(1)) : BigInt(text.slice(1)) - offsetBias;
  },
  encode: (value) => {
    const n = value as bigint;
    return n >= 0n ? `1${String(n).padStart(39, '0')}` : `0${String(n + offsetBias).padStart(39, '0')}`;
  },
};

/** The instant sorts; the offset follows it and is ignored by the collation `instant`. */
const offsetCodec: Codec = {
  storage: 'text',
  decode: (raw) => {
    const text = raw as string;
    return { ticks: BigInt(text.slice(0, 19)), offset: Number(text.slice(19)) - 1000 };
  },
  encode: (value) => {
    const { ticks, offset } = value as OffsetDateTime;
    return String(ticks).padStart(19, '0') + String(offset + 1000).padStart(4, '0');
  },
};

/** uniqueidentifier sorts by its last six bytes first, then backwards group by group, as SQL Server does. */
const guidOrder = [10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3];
const guidCodec: Codec = {
  storage: 'blob',
  decode: (raw) => {
    const bytes = Buffer.alloc(16);
    guidOrder.forEach((to, from) => {
      bytes[to] = (raw as Uint8Array)[from]!;
    });
    const hex = bytes.toString('hex').toUpperCase();
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  },
  encode: (value) => {
    const bytes = Buffer.from((value as string).replaceAll('-', ''), 'hex');
    return Uint8Array.from(guidOrder, (from) => bytes[from]!);
  },
};

const variantCodec: Codec = {
  storage: 'text',
  decode: (raw) => {
    const [type, payload] = JSON.parse(raw as string) as [SqlType, string];
    const codec = codecOf(type);
    const inner = {
      int: Number,
      real: Number,
      int64: BigInt,
      text: String,
      blob: (s: string) => Buffer.from(s, 'hex'),
    };
    return { type, value: codec.decode(inner[codec.storage](payload)) };
  },
  encode: (value) => {
    const { type, value: inner } = value as VariantValue;
    const raw = codecOf(type).encode(inner!);
    const payload =
      raw instanceof Uint8Array ? Buffer.from(raw).toString('hex') : Object.is(raw, -0) ? '-0' : String(raw);
    return JSON.stringify([type, payload]);
  },
};

export const isNarrow = (type: SqlType): boolean => (type.precision ?? 18) <= 18;

export function codecOf(type: SqlType): Codec {
  if (type.name === 'bit') return bitCodec;
  if (type.name === 'decimal' && !isNarrow(type)) return wideDecimal;
  if (type.name === 'datetimeoffset') return offsetCodec;
  if (type.name === 'uniqueidentifier') return guidCodec;
  if (type.name === 'sql_variant') return variantCodec;
  if (isBigintStored(type)) return plain.int64;
  // 100 ns units of a day fit a double exactly.
  if (isFloat(type) || type.name === 'time') return plain.real;
  if (isBinary(type)) return plain.blob;
  return type.name === 'tinyint' || type.name === 'smallint' || type.name === 'int' || type.name === 'date'
    ? plain.int
    : plain.text;
}

/** SQLite collation under which stored values of the type compare as T-SQL's; undefined for SQLite's own order. */
export function collationOf(type: SqlType): string | undefined {
  if (type.name === 'datetimeoffset') return 'instant';
  if (codecOf(type).storage !== 'text' || type.name === 'decimal') return undefined;
  return sensitivityOf(type.collation ?? serverCollation);
}

/** CI_AS, CS_AS, CI_AI, CS_AI or BIN from a collation's name. */
export function sensitivityOf(collation: string): string {
  if (/_BIN2?(_|$)/i.test(collation)) return 'BIN';
  return `${/_CS(_|$)/i.test(collation) ? 'CS' : 'CI'}_${/_AI(_|$)/i.test(collation) ? 'AI' : 'AS'}`;
}
