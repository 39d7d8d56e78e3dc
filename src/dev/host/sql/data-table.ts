import type { RowValue, TypeName } from '../../../sql/index.js';
import type { RawRecordset } from './recordset.js';

/**
 * The JSON that the extension makes of a recordset: a DataTable filled by a data adapter, written by Newtonsoft.Json with the
 * date format `yyyy-MM-ddTHH:mm:ss.fffZ`, losses included. A pure function, which can run on a thread of its own.
 *
 * @throws RangeError for a decimal that no System.Decimal can hold, as the extension fails for it
 */
export function dataTableJson(recordset: RawRecordset | undefined): string {
  if (recordset === undefined) return '[]';
  const names = recordset.names.map((name, index) => `${index === 0 ? '{' : ','}${text(name)}:`);
  const writers = recordset.types.map((type) => writerOf[type] ?? other);
  let json = '[';
  for (const row of recordset.rows) {
    if (json.length > 1) json += ',';
    for (const [index, name] of names.entries()) {
      const value = row[index];
      json += name + (value === null || value === undefined ? 'null' : writers[index]?.(value));
    }
    json += '}';
  }
  return `${json}]`;
}

type Writer = (value: NonNullable<RowValue>) => string;

const writerOf: Partial<Record<TypeName, Writer>> = {
  decimal,
  date,
  smalldatetime: date,
  datetime: date,
  datetime2: date,
  datetimeoffset: date,
  sql_variant: variant,
};

function other(value: NonNullable<RowValue>): string {
  if (typeof value === 'string') return text(value);
  if (value instanceof Uint8Array) {
    return `"${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')}"`;
  }
  return String(value);
}

/** Newtonsoft escapes these three besides what JSON must. A lone surrogate does not survive the way to the worker as UTF-8. */
const loneSurrogate = /\p{Cs}/gu;
const escaped = /[\u0085\u2028\u2029]/g;

function text(value: string): string {
  const json = JSON.stringify(value.replace(loneSurrogate, '\uFFFD'));
  return json.replace(escaped, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const largestDecimal = 2 ** 96;

function decimal(value: NonNullable<RowValue>): string {
  if (Math.abs(Number(value)) > largestDecimal) {
    throw new RangeError(`Conversion overflows: ${String(value)} is more than a System.Decimal holds.`);
  }
  return String(value);
}

/** `yyyy-MM-ddTHH:mm:ss.fff`: what is beyond is cut off, and so is an offset. */
const writtenDate = 23;

/** The format's Z is a letter like any other: a datetimeoffset is its local time, said to be UTC. */
function date(value: NonNullable<RowValue>): string {
  return `"${String(value).slice(0, writtenDate)}Z"`;
}

const dateText = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,7}(?:Z|[+-]\d\d:\d\d)$/;

/** The inner type is lost by now, but no other value than a date looks so, unless somebody has put the text of one there. */
function variant(value: NonNullable<RowValue>): string {
  return typeof value === 'string' && dateText.test(value) ? date(value) : other(value);
}
