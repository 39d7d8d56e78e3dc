import type { ByteReader, ByteWriter } from './bytes.js';
import { decodeText, encodeText } from './code-pages.js';
import type { OffsetDateTime, SqlType, SqlValue } from './engine.js';

/** How the values of a type lie in bytes, without their length (MS-TDS 2.2.5.5). Neither way meets a NULL. */
export interface Payload {
  /** Throws a RangeError for a value that the type can't hold: cut, it would be another value for the client. */
  write(writer: ByteWriter, value: SqlValue): void;
  /** Reads `size` bytes. Throws a RangeError where they are no value of the type. */
  read(reader: ByteReader, size: number): SqlValue;
}

/** The engine gives each type its own kind of value (see SqlValue): the one place that believes it. */
const payload = <T extends SqlValue>(
  write: (writer: ByteWriter, value: T) => void,
  read: (reader: ByteReader, size: number) => T,
): Payload => ({ write: write as Payload['write'], read });

export const ticksPerDay = 864_000_000_000n;
const ticksPerMinute = 600_000_000;
/** Days from 0001-01-01 to 1900-01-01, where datetime and smalldatetime count from; to 1753-01-01, to 9999-12-31. */
const daysTo = { 1753: 639_905, 1900: 693_595, 9999: 3_652_058 } as const;
/** A datetime counts 1/300 s. */
const partsPerDay = 25_920_000;

/** Bytes of a time of a scale (MS-TDS 2.2.5.5.1.8). */
export const timeSize = (scale: number): number => (scale <= 2 ? 3 : scale <= 4 ? 4 : 5);
/** Bytes of a decimal with its sign (MS-TDS 2.2.5.5.1.6). */
export const decimalSize = (precision: number): number =>
  precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;

function check(isValue: boolean, value: SqlValue, type: string): void {
  if (!isValue) throw new RangeError(`The value ${String(value)} is no ${type}.`);
}

function integer(type: string, size: number, least: number, most: number): Payload {
  return payload<number>(
    (writer, value) => {
      check(value >= least && value <= most && Number.isInteger(value), value, type);
      if (size === 1) writer.u8(value);
      else if (size === 2) writer.u16(value);
      else writer.u32(value);
    },
    (reader) => (least < 0 ? reader.int(size) : reader.uint(size)),
  );
}
const int = integer('int', 4, -(2 ** 31), 2 ** 31 - 1);

const checkInt64 = (value: bigint, type: string): void =>
  check(BigInt.asIntN(64, value) === value, value, type);
const bigint = payload<bigint>(
  (writer, value) => {
    checkInt64(value, 'bigint');
    writer.i64(value);
  },
  (reader) => reader.i64(),
);
/** The upper half comes first (MS-TDS 2.2.5.5.1.2). */
const money = payload<bigint>(
  (writer, value) => {
    checkInt64(value, 'money');
    writer.u32(Number(value >> 32n));
    writer.u32(Number(value & 0xffff_ffffn));
  },
  (reader) => (BigInt(reader.int(4)) << 32n) | BigInt(reader.u32()),
);
const smallMoney = payload<bigint>(
  (writer, value) => int.write(writer, Number(value)),
  (reader) => BigInt(reader.int(4)),
);

function decimal(precision: number): Payload {
  const limit = 10n ** BigInt(precision);
  const words = (decimalSize(precision) - 1) / 4;
  return payload<bigint>(
    (writer, value) => {
      let rest = value < 0n ? -value : value;
      check(rest < limit, value, `decimal(${precision})`);
      writer.u8(value < 0n ? 0 : 1);
      for (let left = words; left > 0; left--) {
        writer.u32(Number(rest & 0xffff_ffffn));
        rest >>= 32n;
      }
    },
    (reader, size) => {
      const sign = reader.u8();
      let magnitude = 0n;
      for (const byte of reader.take(size - 1).toReversed()) magnitude = (magnitude << 8n) | BigInt(byte);
      check(sign <= 1 && magnitude < limit, magnitude, `decimal(${precision})`);
      return sign === 0 ? -magnitude : magnitude;
    },
  );
}

const finite = (value: number): number => {
  check(Number.isFinite(value), value, 'float');
  return value;
};
const real = payload<number>(
  (writer, value) => {
    const at = writer.claim(4);
    writer.buffer.writeFloatLE(value, at);
  },
  (reader) => finite(reader.bytes.readFloatLE(reader.skip(4))),
);
const float = payload<number>(
  (writer, value) => {
    const at = writer.claim(8);
    writer.buffer.writeDoubleLE(value, at);
  },
  (reader) => finite(reader.bytes.readDoubleLE(reader.skip(8))),
);

/** Where the bytes of a GUID's text go: its first three groups are little-endian. */
const guidOrder = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15] as const;
const guidText = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const guid = payload<string>(
  (writer, value) => {
    check(guidText.test(value), value, 'uniqueidentifier');
    const digits = Buffer.from(value.replaceAll('-', ''), 'hex');
    for (const from of guidOrder) writer.u8(digits[from]!);
  },
  (reader) => {
    const bytes = reader.take(16);
    const digits = Buffer.from(guidOrder.map((from) => bytes[from]!)).toString('hex');
    return digits.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-').toUpperCase();
  },
);

const date = payload<number>(
  (writer, days) => {
    check(days >= 0 && days <= daysTo[9999], days, 'date');
    writer.uint(days, 3);
  },
  (reader) => {
    const days = reader.uint(3);
    check(days <= daysTo[9999], days, 'date');
    return days;
  },
);

function time(scale: number): Payload {
  /** Units of 100 ns in the last digit. */
  const unit = 10 ** (7 - scale);
  const size = timeSize(scale);
  const checkTime = (ticks: number): void =>
    check(ticks >= 0 && ticks < Number(ticksPerDay) && ticks % unit === 0, ticks, `time(${scale})`);
  return payload<number>(
    (writer, ticks) => {
      checkTime(ticks);
      writer.uint(ticks / unit, size);
    },
    (reader) => {
      const ticks = reader.uint(size) * unit;
      checkTime(ticks);
      return ticks;
    },
  );
}

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
  const checkOffset = (offset: number): void => check(Math.abs(offset) <= 840, offset, 'offset');
  return payload<OffsetDateTime>(
    (writer, { ticks, offset }) => {
      checkOffset(offset);
      utc.write(writer, ticks);
      writer.u16(offset);
    },
    (reader, size) => {
      const ticks = utc.read(reader, size) as bigint;
      const offset = reader.int(2);
      checkOffset(offset);
      return { ticks, offset };
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
    check(days >= daysTo[1753] && days <= daysTo[9999] && parts < partsPerDay, days, 'datetime');
    return BigInt(days) * ticksPerDay + BigInt(Math.round((parts * 100_000) / 3));
  },
);

const smallDateTime = payload<bigint>(
  (writer, ticks) => {
    const days = Number(ticks / ticksPerDay) - daysTo[1900];
    const minutes = Number(ticks % ticksPerDay) / ticksPerMinute;
    check(days >= 0 && days <= 0xffff && Number.isInteger(minutes), ticks, 'smalldatetime');
    writer.u16(days);
    writer.u16(minutes);
  },
  (reader) => {
    const days = reader.u16() + daysTo[1900];
    const minutes = reader.u16();
    check(minutes < 1440, minutes, 'smalldatetime');
    return BigInt(days) * ticksPerDay + BigInt(minutes * ticksPerMinute);
  },
);

const text = (codePage: number): Payload =>
  payload<string>(
    (writer, value) => encodeText(writer, value, codePage),
    (reader, size) => decodeText(reader.take(size), codePage),
  );
const utf16 = payload<string>(
  (writer, value) => writer.utf16(value),
  (reader, size) => {
    check(size % 2 === 0, size, 'length of UTF-16');
    return reader.take(size).toString('utf16le');
  },
);
const xml = payload<string>(
  (writer, value) => writer.utf16(value),
  (reader, size) => (utf16.read(reader, size) as string).replace(/^\ufeff/, ''),
);
const bytes = payload<Uint8Array>(
  (writer, value) => writer.bytes(value),
  // A copy: the message that it lies in is gone when the handler returns.
  (reader, size) => Uint8Array.from(reader.take(size)),
);

type Make = (type: SqlType, codePage: number) => Payload;
const payloads: Record<SqlType['name'], Payload | Make> = {
  bit: payload<boolean>(
    (writer, value) => writer.u8(value ? 1 : 0),
    (reader) => reader.u8() !== 0,
  ),
  tinyint: integer('tinyint', 1, 0, 255),
  smallint: integer('smallint', 2, -32_768, 32_767),
  int,
  bigint,
  decimal: ({ precision = 18 }) => decimal(precision),
  money,
  smallmoney: smallMoney,
  real,
  float,
  char: (_, codePage) => text(codePage),
  varchar: (_, codePage) => text(codePage),
  text: (_, codePage) => text(codePage),
  nchar: utf16,
  nvarchar: utf16,
  ntext: utf16,
  xml,
  binary: bytes,
  varbinary: bytes,
  image: bytes,
  rowversion: bytes,
  uniqueidentifier: guid,
  date,
  time: ({ scale = 7 }) => time(scale),
  smalldatetime: smallDateTime,
  datetime: dateTime,
  datetime2: ({ scale = 7 }) => dateTime2(scale),
  datetimeoffset: ({ scale = 7 }) => dateTimeOffset(scale),
  sql_variant: () => {
    throw new TypeError('A sql_variant holds no sql_variant.');
  },
};

/** `codePage` is that of char, varchar and text. */
export function payloadOf(type: SqlType, codePage: number): Payload {
  const known = payloads[type.name];
  return typeof known === 'function' ? known(type, codePage) : known;
}
