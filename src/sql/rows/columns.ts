import type { ColumnInfo } from '../types.js';
import type { ResolvedFormats } from './codec.js';
import { uniqueNames } from './column-names.js';
import type { TediousColumn } from './tedious-column.js';
import { type ColumnType, type Decoder, decoderFor } from './type-table.js';

export interface Columns {
  readonly infos: readonly ColumnInfo[];
  readonly decoders: readonly Decoder[];
}

const nullableFlag = 0x01;

function typeOf(column: TediousColumn): ColumnType {
  return {
    id: column.type.id,
    dataLength: column.dataLength,
    precision: column.precision,
    scale: column.scale,
    codePage: column.collation?.codepage,
    userType: column.userType,
  };
}

/** What is needed to read the rows of a recordset, made once for it. */
export function compileColumns(columns: readonly TediousColumn[], formats: ResolvedFormats): Columns {
  const names = uniqueNames(columns.map((column) => column.colName));
  const decoders = columns.map((column) => decoderFor(typeOf(column), formats));
  const infos = columns.map((column, index) => ({
    name: names[index]!,
    type: decoders[index]!.type,
    nullable: (column.flags & nullableFlag) !== 0,
    ...(column.precision === undefined ? {} : { precision: column.precision }),
    ...(column.scale === undefined ? {} : { scale: column.scale }),
  }));
  return { infos, decoders };
}
