/**
 * Parameters as bytes: TYPE_INFO and value of an RPC parameter (MS-TDS 2.2.5.6, 2.2.6.6), exact for every type. tedious's own
 * encoders send decimals and dates through doubles and the process's time zone.
 */

export interface WireValue {
  /** What sp_executesql declares: `nvarchar(4000)`. */
  readonly declaration: string;
  readonly typeInfo: Buffer;
  /** Length prefix and value. */
  readonly bytes: Buffer;
  /** Where the collation of the database goes in `typeInfo`; texts only. */
  readonly collationAt?: number;
}

function typeInfo(...bytes: number[]): Buffer {
  return Buffer.from(bytes);
}

const nullByteLength = Buffer.from([0]);
const nullShortLength = Buffer.from([0xff, 0xff]);
const nullPartialLength = Buffer.alloc(8, 0xff);

function withByteLength(value: Buffer | null): Buffer {
  return value === null ? nullByteLength : Buffer.concat([Buffer.from([value.length]), value]);
}

/** A short length, or one piece of a partially length-prefixed value (MS-TDS 2.2.5.2.3). */
function variable(value: Buffer | null, isMax: boolean): Buffer {
  if (value === null) return isMax ? nullPartialLength : nullShortLength;
  if (!isMax) {
    const prefix = Buffer.alloc(2);
    prefix.writeUInt16LE(value.length);
    return Buffer.concat([prefix, value]);
  }
  const prefix = Buffer.alloc(12);
  prefix.writeBigUInt64LE(BigInt(value.length));
  prefix.writeUInt32LE(value.length, 8);
  const end = Buffer.alloc(4);
  return value.length === 0
    ? Buffer.concat([prefix.subarray(0, 8), end])
    : Buffer.concat([prefix, value, end]);
}

/** UTF-16, at most 4,000 units unless (max). The server converts it to what is declared: char, varchar, xml. */
export function text(declaration: string, value: string | null, isMax: boolean): WireValue {
  const size = isMax ? 0xffff : 8_000;
  return {
    declaration,
    typeInfo: typeInfo(0xe7, size & 0xff, size >> 8, 0, 0, 0, 0, 0),
    bytes: variable(value === null ? null : Buffer.from(value, 'utf16le'), isMax),
    collationAt: 3,
  };
}

export function binary(declaration: string, value: Uint8Array | null, isMax: boolean): WireValue {
  const size = isMax ? 0xffff : 8_000;
  return {
    declaration,
    typeInfo: typeInfo(0xa5, size & 0xff, size >> 8),
    bytes: variable(value === null ? null : Buffer.from(value), isMax),
  };
}

export function bit(value: boolean | null): WireValue {
  return {
    declaration: 'bit',
    typeInfo: typeInfo(0x68, 1),
    bytes: withByteLength(value === null ? null : Buffer.from([value ? 1 : 0])),
  };
}

export function integer(declaration: string, value: bigint | null, bytes: 1 | 2 | 4 | 8): WireValue {
  const buffer = Buffer.alloc(8);
  if (value !== null) buffer.writeBigInt64LE(value);
  return {
    declaration,
    typeInfo: typeInfo(0x26, bytes),
    bytes: withByteLength(value === null ? null : buffer.subarray(0, bytes)),
  };
}

export function float(declaration: string, value: number | null, bytes: 4 | 8): WireValue {
  const buffer = Buffer.alloc(bytes);
  if (value !== null) {
    if (bytes === 4) buffer.writeFloatLE(value);
    else buffer.writeDoubleLE(value);
  }
  return {
    declaration,
    typeInfo: typeInfo(0x6d, bytes),
    bytes: withByteLength(value === null ? null : buffer),
  };
}

/** `unscaled` is the value times 10^scale. */
export function decimal(
  declaration: string,
  unscaled: bigint | null,
  precision: number,
  scale: number,
): WireValue {
  const magnitudeBytes = precision <= 9 ? 4 : precision <= 19 ? 8 : precision <= 28 ? 12 : 16;
  const buffer = Buffer.alloc(1 + magnitudeBytes);
  if (unscaled !== null) {
    buffer[0] = unscaled < 0n ? 0 : 1;
    let rest = unscaled < 0n ? -unscaled : unscaled;
    for (let at = 1; at < buffer.length; at += 4) {
      buffer.writeUInt32LE(Number(rest & 0xffffffffn), at);
      rest >>= 32n;
    }
  }
  return {
    declaration,
    typeInfo: typeInfo(0x6a, 1 + magnitudeBytes, precision, scale),
    bytes: withByteLength(unscaled === null ? null : buffer),
  };
}

/** The 16 bytes of a GUID: its first three groups little-endian. */
export function guid(value: string | null): WireValue {
  const hex = value?.replaceAll('-', '') ?? '';
  const order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
  const bytes = Buffer.from(order.map((index) => Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16)));
  return {
    declaration: 'uniqueidentifier',
    typeInfo: typeInfo(0x24, 16),
    bytes: withByteLength(value === null ? null : bytes),
  };
}

/** Days since 0001-01-01, and units of 100 ns of the day; both of UTC for datetimeoffset. */
export interface WireInstant {
  readonly days: number;
  readonly ticks: number;
  /** Minutes east of UTC. */
  readonly offset: number;
}

const parts = {
  date: { id: 0x28, time: false, day: true, offset: false },
  time: { id: 0x29, time: true, day: false, offset: false },
  datetime2: { id: 0x2a, time: true, day: true, offset: false },
  datetimeoffset: { id: 0x2b, time: true, day: true, offset: true },
} as const;

/** date, time(7), datetime2(7), datetimeoffset(7): five bytes of time, three of days, two of offset (MS-TDS 2.2.5.5.1.9). */
export function instant(declaration: string, kind: keyof typeof parts, value: WireInstant | null): WireValue {
  const { id, time, day, offset } = parts[kind];
  const buffer = Buffer.alloc((time ? 5 : 0) + (day ? 3 : 0) + (offset ? 2 : 0));
  if (value !== null) {
    let at = 0;
    if (time) at = buffer.writeUIntLE(value.ticks, at, 5);
    if (day) at = buffer.writeUIntLE(value.days, at, 3);
    if (offset) buffer.writeInt16LE(value.offset, at);
  }
  return {
    declaration,
    typeInfo: time ? typeInfo(id, 7) : typeInfo(id),
    bytes: withByteLength(value === null ? null : buffer),
  };
}
