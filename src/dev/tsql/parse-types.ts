import type { SqlType, TypeName } from './contract.js';
import { fail, refuse } from './errors.js';
import type { Reader } from './reader.js';

const synonyms: Readonly<Record<string, string>> = {
  integer: 'int',
  numeric: 'decimal',
  dec: 'decimal',
  character: 'char',
  timestamp: 'rowversion',
  sysname: 'sysname',
};

const plain = new Set(
  'bit tinyint smallint int bigint money smallmoney real text ntext xml image rowversion uniqueidentifier date smalldatetime datetime sql_variant'.split(
    ' ',
  ),
);
const maximum: Readonly<Record<string, number>> = {
  char: 8000,
  varchar: 8000,
  binary: 8000,
  varbinary: 8000,
  nchar: 4000,
  nvarchar: 4000,
};

/** Types of SQL Server that this server refuses by name. */
const refused = new Set(['hierarchyid', 'geometry', 'geography', 'json', 'vector', 'cursor', 'table']);

/** Reads a data type. `unsized` is the length of a char or binary type without one: 1 in definitions, 30 in CAST. */
export function parseType(r: Reader, unsized: 1 | 30 = 1): SqlType {
  if (r.take('NATIONAL')) refuse('NATIONAL in type names');
  const written = r.qualifiedName().at(-1)!;
  let name = synonyms[written.toLowerCase()] ?? written.toLowerCase();
  if (refused.has(name)) refuse(`The data type ${name}`);
  if (name === 'sysname') return { name: 'nvarchar', length: 128 };
  if ((name === 'char' || name === 'binary') && r.take('VARYING')) name = `var${name}`;
  if (name === 'double' && r.take('PRECISION')) return { name: 'float' };
  if (plain.has(name)) {
    if (r.is('(') && name !== 'xml') fail(2716, 1, name);
    return { name: name as TypeName };
  }
  const sizes = r.take('(') ? r.list(() => (r.take('MAX') ? ('max' as const) : r.integer())) : [];
  if (sizes.length > 0) r.expect(')');
  const [size, scale] = sizes;
  const limit = maximum[name];
  if (limit !== undefined) {
    if (size === 'max' && name.includes('var')) return { name: name as TypeName, length: 'max' };
    const length = size ?? unsized;
    if (length === 'max' || length < 1) return r.fail();
    if (length > limit) fail(2717, length, name, limit);
    return { name: name as TypeName, length };
  }
  if (size === 'max' || scale === 'max') return r.fail();
  if (name === 'decimal') {
    const precision = size ?? 18;
    if (precision < 1 || precision > 38) fail(2750, 1, precision);
    if ((scale ?? 0) > precision) fail(2751, 1, scale ?? 0, precision);
    return { name, precision, scale: scale ?? 0 };
  }
  if (name === 'float') {
    if (size !== undefined && (size < 1 || size > 53)) fail(2750, 1, size);
    return { name: size !== undefined && size <= 24 ? 'real' : 'float' };
  }
  if (name === 'time' || name === 'datetime2' || name === 'datetimeoffset') {
    const digits = size ?? 7;
    if (digits > 7) fail(1002, `Line 1: Specified scale ${digits} is invalid.`);
    return { name, scale: digits };
  }
  return fail(2715, 1, written);
}
