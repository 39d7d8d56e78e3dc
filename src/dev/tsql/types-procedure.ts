import type { SqlType, SqlValue } from '../sql-engine.js';
import { convert } from './convert.js';
import { fail } from './errors.js';
import { parseType } from './parse-query.js';
import { Reader } from './reader.js';
import type { BuiltInProcedure } from './session.js';
import { kindOf } from './types.js';

const nines = '9'.repeat(38);
/** Every type on the wire: type, typical, least and greatest value; `*` repeats a text, `0x` is of bytes. */
const samples = `
bit | 1 | 0 | 1
tinyint | 42 | 0 | 255
smallint | -42 | -32768 | 32767
int | 42 | -2147483648 | 2147483647
bigint | 9007199254740993 | -9223372036854775808 | 9223372036854775807
decimal(5,2) | 123.45 | -999.99 | 999.99
decimal(18,4) | 1.2345 | -99999999999999.9999 | 99999999999999.9999
decimal(38,0) | 12345 | -${nines} | ${nines}
decimal(38,38) | 0.12345 | -0.${nines} | 0.${nines}
money | 12.3450 | -922337203685477.5808 | 922337203685477.5807
smallmoney | -12.3450 | -214748.3648 | 214748.3647
real | 0.1 | -3.4028234663852886e38 | 3.4028234663852886e38
float | 0.1 | -1.7976931348623157e308 | 1.7976931348623157e308
char(5) | abc |  | zzzzz
varchar(50) | naïve café |  | z*50
varchar(max) | varchar(max) |  | x*20000
nchar(5) | abc |  | \uffff*5
nvarchar(50) | naïve 日本 😀 |  | 😀*25
nvarchar(max) | nvarchar(max) |  | 日*20000
text | text |  | x*10000
ntext | ntext 日本 |  | 日*10000
xml | <a b="1">x</a> | <a/> | <a>😀</a>
binary(4) | 0x01020304 | 0x00000000 | 0xFFFFFFFF
varbinary(50) | 0x010203 | 0x | 0xFF*50
varbinary(max) | 0x0080FF | 0x | 0xAA*20000
image | 0x010203 | 0x | 0x55*10000
rowversion | 0x00000000000007D0 | 0x0000000000000000 | 0xFFFFFFFFFFFFFFFF
uniqueidentifier | 01234567-89AB-CDEF-0123-456789ABCDEF | 00000000-0000-0000-0000-000000000000 | FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF
date | 2026-12-01 | 0001-01-01 | 9999-12-31
time(0) | 10:20:30 | 00:00:00 | 23:59:59
time(7) | 10:20:30.1234567 | 00:00:00 | 23:59:59.9999999
smalldatetime | 2026-12-01 10:20 | 1900-01-01 | 2079-06-06 23:59
datetime | 2026-12-01 10:20:30.123 | 1753-01-01 | 9999-12-31 23:59:59.997
datetime2(0) | 2026-12-01 10:20:30 | 0001-01-01 | 9999-12-31 23:59:59
datetime2(7) | 2026-12-01 10:20:30.1234567 | 0001-01-01 | 9999-12-31 23:59:59.9999999
datetimeoffset(0) | 2026-12-01 10:20:30 +07:00 | 0001-01-01 00:00 -14:00 | 9999-12-31 14:00 +14:00
datetimeoffset(7) | 2026-12-01 10:20:30.1234567 +07:00 | 0001-01-01 00:00 -14:00 | 9999-12-31 14:00 +14:00
sql_variant | 42 | -1 | variant 日本`;

const rows = samples
  .trim()
  .split('\n')
  .map((line) => line.split(' | '));

function sampleOf(text: string, type: SqlType): SqlValue {
  const [unit = '', count = '1'] = text.split('*');
  const repeated = unit.replace('0x', '').repeat(Number(count));
  if (kindOf(type) === 'binary') return new Uint8Array(Buffer.from(repeated, 'hex'));
  return kindOf(type) === 'xml' ? text : convert(repeated, { name: 'nvarchar', length: 4000 }, type);
}

/** `dev.types @kind`: one row with every type; @kind is typical (default), min, max or null. */
export const typesProcedure: BuiltInProcedure = ({ kind }) => {
  const at = ['null', 'typical', 'min', 'max'].indexOf(String(kind ?? 'typical').toLowerCase());
  if (at < 0) fail(50_000, `'${kind}' is no kind of dev.types: typical, min, max or null.`);
  const columns = rows.map(([name]) => ({ name: name!, type: parseType(new Reader(name!)), nullable: true }));
  return { columns, rows: [rows.map((row, i) => (at === 0 ? null : sampleOf(row[at]!, columns[i]!.type)))] };
};
