import { SqlStreamError } from '../errors.js';
import type { TypeName } from '../types.js';
import { binary, guid } from './bytes.js';
import { codePageNamed } from './code-pages.js';
import type { Codec, ResolvedFormats } from './codec.js';
import { date, datetime, datetime2, datetimeoffset, time } from './dates.js';
import * as layout from './layouts.js';
import { bigint, bit, decimal, float, integer, money } from './numbers.js';
import { encoded, utf16, xml } from './text.js';
import { variant } from './variant.js';

/** TYPE_INFO of a column (MS-TDS 2.2.5.6). */
export interface ColumnType {
  /** The type byte. */
  readonly id: number;
  /** The length of TYPE_INFO; 0xFFFF means (max). Absent for types of fixed length. */
  readonly dataLength: number | undefined;
  readonly precision: number | undefined;
  readonly scale: number | undefined;
  /** `CP1252`, `utf-8`, ...; absent for what is no text, and for code pages that are not known. */
  readonly codePage: string | undefined;
  /** 0x50 marks a rowversion (MS-TDS 2.2.7.4, UserType). */
  readonly userType: number;
}

export interface Decoder {
  readonly type: TypeName;
  readonly layout: layout.Layout;
  readonly codec: Codec;
}

type Make = (type: ColumnType, formats: ResolvedFormats) => Decoder;

/** The same decoder for each column of this type. */
function constant(type: TypeName, where: layout.Layout, codec: Codec): Make {
  const decoder = { type, layout: where, codec };
  return () => decoder;
}

function byLength(
  names: Record<number, TypeName>,
  codec: (formats: ResolvedFormats, length: number) => Codec,
): Make {
  return ({ dataLength = 0 }, formats) => ({
    type: names[dataLength] ?? 'int',
    layout: layout.byteLength,
    codec: codec(formats, dataLength),
  });
}

function characters(type: TypeName): Make {
  return ({ dataLength, codePage }) => ({
    type,
    layout: dataLength === 0xffff ? layout.partialLength : layout.shortLength,
    codec: encoded(codePageNamed(codePage)),
  });
}

function wideCharacters(type: TypeName): Make {
  return ({ dataLength }) => ({
    type,
    layout: dataLength === 0xffff ? layout.partialLength : layout.shortLength,
    codec: utf16,
  });
}

const decimals: Make = ({ scale = 0 }, formats) => ({
  type: 'decimal',
  layout: layout.byteLength,
  codec: decimal(scale, formats.decimal, formats.rowDecimal),
});
const varbinary: Make = ({ dataLength }) => ({
  type: 'varbinary',
  layout: dataLength === 0xffff ? layout.partialLength : layout.shortLength,
  codec: binary,
});

const table: Record<number, Make> = {
  31: constant('int', layout.nothing, integer),
  34: constant('image', layout.textPointer, binary),
  35: ({ codePage }) => ({
    type: 'text',
    layout: layout.textPointer,
    codec: encoded(codePageNamed(codePage)),
  }),
  36: constant('uniqueidentifier', layout.byteLength, guid),
  38: byLength({ 1: 'tinyint', 2: 'smallint', 4: 'int', 8: 'bigint' }, (formats, length) =>
    length === 8 ? bigint(formats.bigint) : integer,
  ),
  40: constant('date', layout.byteLength, date),
  41: ({ scale = 7 }) => ({ type: 'time', layout: layout.byteLength, codec: time(scale) }),
  42: ({ scale = 7 }) => ({ type: 'datetime2', layout: layout.byteLength, codec: datetime2(scale) }),
  43: ({ scale = 7 }) => ({
    type: 'datetimeoffset',
    layout: layout.byteLength,
    codec: datetimeoffset(scale),
  }),
  48: constant('tinyint', layout.fixed(1), integer),
  50: constant('bit', layout.fixed(1), bit),
  52: constant('smallint', layout.fixed(2), integer),
  56: constant('int', layout.fixed(4), integer),
  58: constant('smalldatetime', layout.fixed(4), datetime),
  59: constant('real', layout.fixed(4), float),
  60: (_type, formats) => ({
    type: 'money',
    layout: layout.fixed(8),
    codec: money(formats.decimal, formats.rowDecimal),
  }),
  61: constant('datetime', layout.fixed(8), datetime),
  62: constant('float', layout.fixed(8), float),
  98: (_type, formats) => ({ type: 'sql_variant', layout: layout.variantLength, codec: variant(formats) }),
  99: constant('ntext', layout.textPointer, utf16),
  104: constant('bit', layout.byteLength, bit),
  106: decimals,
  108: decimals,
  109: byLength({ 4: 'real', 8: 'float' }, () => float),
  110: byLength({ 4: 'smallmoney', 8: 'money' }, (formats) => money(formats.decimal, formats.rowDecimal)),
  111: byLength({ 4: 'smalldatetime', 8: 'datetime' }, () => datetime),
  122: (_type, formats) => ({
    type: 'smallmoney',
    layout: layout.fixed(4),
    codec: money(formats.decimal, formats.rowDecimal),
  }),
  127: (_type, formats) => ({ type: 'bigint', layout: layout.fixed(8), codec: bigint(formats.bigint) }),
  165: varbinary,
  167: characters('varchar'),
  173: constant('binary', layout.shortLength, binary),
  175: characters('char'),
  231: wideCharacters('nvarchar'),
  239: wideCharacters('nchar'),
  240: constant('udt', layout.partialLength, binary),
  241: constant('xml', layout.partialLength, xml),
};

/** How values of this type are found and read: the one matrix of types. */
export function decoderFor(type: ColumnType, formats: ResolvedFormats): Decoder {
  const make = table[type.id];
  if (make === undefined) {
    throw new SqlStreamError(
      'EProtocol',
      `A column has a type that is not known: 0x${type.id.toString(16)}.`,
      {
        phase: 'rows',
      },
    );
  }
  const decoder = make(type, formats);
  return type.userType === 0x50 ? { ...decoder, type: 'rowversion' } : decoder;
}
