import { isUtf8 } from 'node:buffer';
import type { OffsetDateTime, SqlType, SqlValue } from '../sql-engine.js';
import { decodeText, encodeText } from '../text/code-pages.js';
import { collationOf, utf8CodePage } from '../text/collations.js';
import type { ByteReader, ByteWriter } from './bytes.js';
import { notSupported, ParameterError } from './request-error.js';

/** How the values of a type lie in bytes, without their length (MS-TDS 2.2.5.5). Neither way meets a NULL. */
export interface Payload {
  /** Throws a RangeError for a value that the type can't hold: cut, it would be another value for the client. */
  write(writer: ByteWriter, value: SqlValue): void;
  /** Reads `size` bytes. Throws a RangeError or a ParameterError where they are no value of the type. */
  read(reader: ByteReader, size: number): SqlValue;
}

function check(isValue: boolean, value: unknown): void {
  if (!isValue) throw new RangeError(`The value ${String(value)} is none of its type.`);
}

/** What `holds` says is checked both ways. The one place that believes which kind of value a type has (SqlValue). */
function payload<Value extends SqlValue>(
  write: (writer: ByteWriter, value: Value) => void,
  read: (reader: ByteReader, size: number) => Value,
  holds: (value: Value) => boolean = () => true,
): Payload {
  return {
    write(writer, value) {
      check(holds(value as Value), value);
      write(writer, value as Value);
    },
    read(reader, size) {
      const value = read(reader, size);
      check(holds(value), value);
      return value;
    },
  };
}

const integer = (size: 1 | 2 | 4, least: number, most: number): Payload =>
  payload<number>(
    (writer, value) => {
      if (size === 1) writer.u8(value);
      else if (size === 2) writer.u16(value);
      else writer.u32(value);
    },
    (reader) => (least < 0 ? reader.int(size) : reader.uint(size)),
    (value) => value >= least && value <= most && Number.isInteger(value),
  );

const fits = (bits: number) => (value: bigint) => BigInt.asIntN(bits, value) === value;

function decimal(precision: number): Payload {
  const limit = 10n ** BigInt(precision);
  const words = (decimalSize(precision) - 1) / 4;
  return payload<bigint>(
    (writer, value) => {
      writer.u8(value < 0n ? 0 : 1);
      let rest = value < 0n ? -value : value;
      for (let left = words; left > 0; left--) {
        writer.u32(Number(rest & 0xffff_ffffn));
        rest >>= 32n;
      }
    },
    (reader, size) => {
      const sign = reader.u8();
      check(sign <= 1, sign);
      let magnitude = 0n;
      for (const byte of reader.take(size - 1).toReversed()) magnitude = (magnitude << 8n) | BigInt(byte);
      return sign === 0 ? -magnitude : magnitude;
    },
    (value) => value < limit && -value < limit,
  );
}

/** Bytes of a decimal with its sign (MS-TDS 2.2.5.5.1.6). */
export const decimalSize = (precision: number): number =>
  precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;

/** Where the bytes of a GUID's text go: its first three groups are little-endian. */
const guidOrder = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15] as const;

const ticksPerDay = 864_000_000_000n;
const ticksPerMinute = 600_000_000;
/** Days from 0001-01-01 to 1900-01-01, where datetime and smalldatetime count from; to 1753-01-01, to 9999-12-31. */
const daysTo = { 1753: 639_905, 1900: 693_595, 9999: 3_652_058 } as const;
/** A datetime counts 1/300 s. */
const partsPerDay = 25_920_000;

const date = payload<number>(
  (writer, days) => writer.uint(days, 3),
  (reader) => reader.uint(3),
  (days) => days >= 0 && days <= daysTo[9999],
);

/** Bytes of a time of a scale (MS-TDS 2.2.5.5.1.8). */
export const timeSize = (scale: number): number => (scale <= 2 ? 3 : scale <= 4 ? 4 : 5);

function time(scale: number): Payload {
  /** Units of 100 ns in the last digit. */
  const unit = 10 ** (7 - scale);
  return payload<number>(
    (writer, ticks) => writer.uint(ticks / unit, timeSize(scale)),
    (reader) => reader.uint(timeSize(scale)) * unit,
    (ticks) => ticks >= 0 && ticks < Number(ticksPerDay) && ticks % unit === 0,
  );
}

/** Its parts check themselves. */
function dateTime2(scale: number): Payload {
  const clock = time(scale);
  return payload<bigint>(
    (writer, ticks) => {
      const days = ticks / ticksPerDay;
      clock.write(writer, Number(ticks - days * ticksPerDay));
      date.write(writer, Number(days));
    },
    (reader, size) => {
      const ticks = clock.read(reader, size) as number;
      return BigInt(date.read(reader, 3) as number) * ticksPerDay + BigInt(ticks);
    },
  );
}

function dateTimeOffset(scale: number): Payload {
  const utc = dateTime2(scale);
  return payload<OffsetDateTime>(
    (writer, { ticks, offset }) => {
      utc.write(writer, ticks);
      writer.u16(offset);
    },
    (reader, size) => ({ ticks: utc.read(reader, size) as bigint, offset: reader.int(2) }),
    ({ ticks, offset }) => {
      const local = ticks + BigInt(offset * ticksPerMinute);
      return Math.abs(offset) <= 840 && local >= 0n && local < BigInt(daysTo[9999] + 1) * ticksPerDay;
    },
  );
}

const dateTime = payload<bigint>(
  (writer, ticks) => {
    const days = ticks / ticksPerDay;
    // The engine's ticks are the nearest 100 ns to one of these parts.
    const parts = Math.round((Number(ticks - days * ticksPerDay) * 3) / 100_000);
    const carry = parts === partsPerDay ? 1 : 0;
    writer.u32(Number(days) - daysTo[1900] + carry);
    writer.u32(carry ? 0 : parts);
  },
  (reader) => {
    const days = reader.int(4) + daysTo[1900];
    const parts = reader.u32();
    check(parts < partsPerDay, parts);
    return BigInt(days) * ticksPerDay + BigInt(Math.round((parts * 100_000) / 3));
  },
  (ticks) => ticks >= BigInt(daysTo[1753]) * ticksPerDay && ticks < BigInt(daysTo[9999] + 1) * ticksPerDay,
);

const firstSmallTicks = BigInt(daysTo[1900]) * ticksPerDay;
const smallDateTime = payload<bigint>(
  (writer, ticks) => {
    writer.u16(Number(ticks / ticksPerDay) - daysTo[1900]);
    writer.u16(Number(ticks % ticksPerDay) / ticksPerMinute);
  },
  (reader) => {
    const days = reader.u16() + daysTo[1900];
    const minutes = reader.u16();
    check(minutes < 1440, minutes);
    return BigInt(days) * ticksPerDay + BigInt(minutes * ticksPerMinute);
  },
  (ticks) =>
    ticks >= firstSmallTicks &&
    ticks < firstSmallTicks + 0x1_0000n * ticksPerDay &&
    ticks % BigInt(ticksPerMinute) === 0n,
);

function text({ collation }: SqlType): Payload {
  const { codePage } = collationOf(collation);
  return payload<string>(
    (writer, value) => encodeText(writer, value, codePage),
    (reader, size) => {
      const read = reader.take(size);
      const value = decodeText(read, codePage);
      // SQL Server keeps such bytes; here they would come back as others.
      const isText = codePage === utf8CodePage ? isUtf8(read) : !value.includes('\ufffd');
      if (!isText) throw notSupported(`Bytes that are no text of code page ${codePage}, which`);
      return value;
    },
  );
}

/** `mark`: a byte order mark, which goes before what is sent as xml and is no part of it. */
const utf16 = (mark?: RegExp): Payload =>
  payload<string>(
    (writer, value) => writer.utf16(value),
    (reader, size) => {
      if (size % 2 !== 0) throw new ParameterError(mark ? 8023 : 8028);
      const value = reader.take(size).toString('utf16le');
      return mark ? value.replace(mark, '') : value;
    },
  );

const bytes = payload<Uint8Array>(
  (writer, value) => writer.bytes(value),
  // A copy: the message that it lies in is gone when the handler returns.
  (reader, size) => Uint8Array.from(reader.take(size)),
);

type Make = (type: SqlType) => Payload;
const payloads: Record<Exclude<SqlType['name'], 'sql_variant'>, Payload | Make> = {
  bit: payload<boolean>(
    (writer, value) => writer.u8(value ? 1 : 0),
    (reader) => reader.u8() !== 0,
  ),
  tinyint: integer(1, 0, 255),
  smallint: integer(2, -32_768, 32_767),
  int: integer(4, -(2 ** 31), 2 ** 31 - 1),
  bigint: payload<bigint>(
    (writer, value) => writer.i64(value),
    (reader) => reader.i64(),
    fits(64),
  ),
  // The upper half comes first (MS-TDS 2.2.5.5.1.2).
  money: payload<bigint>(
    (writer, value) => {
      writer.u32(Number(value >> 32n));
      writer.u32(Number(value & 0xffff_ffffn));
    },
    (reader) => (BigInt(reader.int(4)) << 32n) | BigInt(reader.u32()),
    fits(64),
  ),
  smallmoney: payload<bigint>(
    (writer, value) => writer.u32(Number(value)),
    (reader) => BigInt(reader.int(4)),
    fits(32),
  ),
  decimal: ({ precision = 18 }) => decimal(precision),
  real: payload<number>(
    (writer, value) => writer.f32(value),
    (reader) => reader.bytes.readFloatLE(reader.skip(4)),
    Number.isFinite,
  ),
  float: payload<number>(
    (writer, value) => writer.f64(value),
    (reader) => reader.bytes.readDoubleLE(reader.skip(8)),
    Number.isFinite,
  ),
  uniqueidentifier: payload<string>(
    (writer, value) => {
      const digits = Buffer.from(value.replaceAll('-', ''), 'hex');
      for (const from of guidOrder) writer.u8(digits[from]!);
    },
    (reader) => {
      const read = reader.take(16);
      const digits = Buffer.from(guidOrder.map((from) => read[from]!)).toString('hex');
      return digits.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-').toUpperCase();
    },
    (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value),
  ),
  char: text,
  varchar: text,
  text,
  nchar: utf16(),
  nvarchar: utf16(),
  ntext: utf16(),
  xml: utf16(/^\ufeff/),
  binary: bytes,
  varbinary: bytes,
  image: bytes,
  rowversion: bytes,
  date,
  time: ({ scale = 7 }) => time(scale),
  smalldatetime: smallDateTime,
  datetime: dateTime,
  datetime2: ({ scale = 7 }) => dateTime2(scale),
  datetimeoffset: ({ scale = 7 }) => dateTimeOffset(scale),
};

/** A sql_variant has no payload, but that of the type in it. */
export function payloadOf(type: SqlType): Payload {
  if (type.name === 'sql_variant') throw new TypeError('A sql_variant holds no sql_variant.');
  const known = payloads[type.name];
  return typeof known === 'function' ? known(type) : known;
}
