import { SqlStreamError } from '../errors.js';
import { codePageOf } from '../tedious/internals.js';
import { binary, guid } from './bytes.js';
import { codePageNamed } from './code-pages.js';
import type { Codec, ResolvedFormats } from './codec.js';
import { date, datetime, datetime2, datetimeoffset, time } from './dates.js';
import { bigint, bit, decimal, float, integer, money } from './numbers.js';
import { encoded, utf16 } from './text.js';

/** Base type, count of property bytes, the properties, then the value (MS-TDS 2.2.5.5.4). */
export function variant(formats: ResolvedFormats): Codec {
  const plain: Record<number, Codec> = {
    36: guid,
    40: date,
    48: integer,
    50: bit,
    52: integer,
    56: integer,
    58: datetime,
    59: float,
    60: money(formats.decimal, formats.rowDecimal),
    61: datetime,
    62: float,
    122: money(formats.decimal, formats.rowDecimal),
    127: bigint(formats.bigint),
    165: binary,
    173: binary,
    231: utf16,
    239: utf16,
  };
  const scaled: Record<number, (scale: number) => Codec> = {
    41: time,
    42: datetime2,
    43: datetimeoffset,
    106: (scale) => decimal(scale, formats.decimal, formats.rowDecimal),
    108: (scale) => decimal(scale, formats.decimal, formats.rowDecimal),
  };

  function codecOf(source: Buffer, start: number): Codec {
    const type = source[start]!;
    const known = plain[type];
    if (known !== undefined) return known;
    // The scale is the last of one (time) or two (precision and scale) properties.
    const withScale = scaled[type];
    if (withScale !== undefined) return withScale(source[start + 1 + source[start + 1]!]!);
    if (type === 0xa7 || type === 0xaf) return encoded(codePageNamed(codePageOf(source, start + 2)));
    throw new SqlStreamError(
      'EProtocol',
      `sql_variant holds a type that is not known: 0x${type.toString(16)}.`,
      {
        phase: 'rows',
      },
    );
  }

  return {
    json(source, start, length, out) {
      const header = 2 + source[start + 1]!;
      codecOf(source, start).json(source, start + header, length - header, out);
    },
    value(source, start, length) {
      const header = 2 + source[start + 1]!;
      return codecOf(source, start).value(source, start + header, length - header);
    },
  };
}
