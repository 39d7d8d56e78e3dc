import type { SqlType, SqlValue } from '../sql-engine.js';
import { checkCollation } from './collation.js';
import { sizeIn } from './convert.js';
import { fail, refuse } from './errors.js';
import type { Reader } from './reader.js';
import { refusedFunctions } from './support.js';
import type { Expr, Select, Source } from './syntax.js';
import { decimal, float, int, isTypeName, nvarchar, varchar } from './types.js';

const call = (name: string, ...args: Expr[]): Expr => ({ k: 'call', name, args });
export const literal = (type: SqlType, value: SqlValue): Expr => ({ k: 'literal', type, value });
const negated = (isNot: boolean, expr: Expr): Expr => (isNot ? call('NOT', expr) : expr);

/** The binary operators, the loosest first (Transact-SQL reference, "Operator precedence"). */
const levels = ['OR', 'AND', 'NOT', 'IS IN BETWEEN = <> < > <= >= != !< !>', '+ -', '* / %'];
const strength = new Map(levels.flatMap((level, i) => level.split(' ').map((op) => [op, i + 1] as const)));
const spelled: Readonly<Record<string, string>> = { '!=': '<>', '!<': '>=', '!>': '<=' };

/** A condition or a value; which of both it must be, the binder knows. */
export function parseExpression(r: Reader, least = 1): Expr {
  let a = r.is('NOT') && least <= 3 ? call(r.next().key, parseExpression(r, 3)) : parseOperand(r);
  for (;;) {
    const power = strength.get(r.token.key) ?? 0;
    if (power < least || (r.is('NOT') && strength.get(r.peek().key) !== 4)) return a;
    const isNot = r.take('NOT');
    const op = r.next().key;
    if (op === 'IS') {
      const isNotNull = r.take('NOT');
      r.expect('NULL');
      a = negated(isNotNull, call('IS NULL', a));
    } else if (op === 'IN') {
      const list = r.inParentheses(() => r.list(() => parseExpression(r, 5)));
      a = negated(isNot, call('IN', a, ...list));
    } else if (op === 'BETWEEN') {
      const low = parseExpression(r, 5);
      r.expect('AND');
      a = negated(isNot, call('AND', call('>=', a, low), call('<=', a, parseExpression(r, 5))));
    } else {
      if (isNot) r.fail();
      a = call(spelled[op] ?? op, a, parseExpression(r, power + 1));
    }
  }
}

function parseOperand(r: Reader): Expr {
  if (r.isAny('-', '+')) {
    const op = r.next().key;
    const a = parseOperand(r);
    if (op === '+') return a;
    return a.k === 'literal' && typeof a.value === 'number' ? { ...a, value: -a.value } : call('negate', a);
  }
  let a = parsePrimary(r);
  while (r.take('COLLATE')) a = { k: 'collate', a, collation: checkCollation(r.name()) };
  return a;
}

function parsePrimary(r: Reader): Expr {
  const { kind, text, key } = r.token;
  const next = r.peek().key;
  if (key === '(') return r.inParentheses(() => parseExpression(r));
  if (kind === 'quoted' || (kind === 'word' && r.isName() && next !== '(')) {
    const name = r.qualifiedName();
    if (r.is('(')) refuse(`The function or method ${name.join('.')}`);
    if (key === 'CURRENT_TIMESTAMP') return call('GETDATE');
    return { k: 'column', name };
  }
  if (key !== '' && key !== 'NULL' && key !== 'CASE' && (kind === 'op' || next !== '(')) r.fail();
  r.next();
  if (kind === 'string') {
    const type = varchar(text.length > 8000 ? 'max' : text.length || 1);
    sizeIn(type, text);
    return literal(type, text);
  }
  if (kind === 'nstring') return literal(nvarchar(text.length > 4000 ? 'max' : text.length || 1), text);
  if (kind === 'hex') {
    const bytes = new Uint8Array(Buffer.from((text.length % 2 ? '0' : '') + text.slice(2), 'hex'));
    return literal({ name: 'varbinary', length: bytes.length > 8000 ? 'max' : bytes.length || 1 }, bytes);
  }
  if (kind === 'number') return parseNumber(text);
  if (kind === 'variable')
    return text.startsWith('@@') ? call(text.toUpperCase()) : { k: 'variable', name: text };
  if (key === 'NULL') return literal(int, null);
  if (key === 'CASE') return parseCase(r);
  if (key === 'CAST' || key === 'CONVERT') {
    return r.inParentheses(() => {
      if (key === 'CAST') {
        const a = parseExpression(r);
        r.expect('AS');
        return { k: 'cast', a, type: parseType(r, 30) };
      }
      const type = parseType(r, 30);
      r.expect(',');
      const a = parseExpression(r);
      return r.is(',') ? refuse('A style of CONVERT') : { k: 'cast', a, type };
    });
  }
  if (refusedFunctions.has(key)) refuse(key);
  const args = r.inParentheses(() => {
    if (r.is(')')) return [];
    return r.take('*') ? [call('*')] : r.list(() => parseExpression(r));
  });
  return call(key, ...args);
}

function parseNumber(text: string): Expr {
  const [whole = '', fraction = ''] = text.replace('$', '').split('.');
  if (text.startsWith('$')) {
    if (fraction.length > 4) refuse('A money literal with more than four decimals');
    return literal({ name: 'money' }, BigInt(whole + fraction.padEnd(4, '0')));
  }
  if (/e/i.test(text)) return Number.isFinite(Number(text)) ? literal(float, Number(text)) : fail(168, text);
  const digits = (whole + fraction).replace(/^0+(?=\d)/, '');
  const value = BigInt(digits);
  if (!text.includes('.') && value < 2n ** 31n) return literal(int, Number(value));
  const precision = Math.max(digits.length, fraction.length);
  return precision > 38 ? fail(1007, text) : literal(decimal(precision, fraction.length), value);
}

/** `CASE x WHEN` compares x each time; the arguments are conditions and results by turns, the last one of ELSE. */
function parseCase(r: Reader): Expr {
  const on = r.is('WHEN') ? undefined : parseExpression(r);
  const args: Expr[] = [];
  while (r.take('WHEN')) {
    const when = parseExpression(r);
    r.expect('THEN');
    args.push(on ? call('=', on, when) : when, parseExpression(r));
  }
  if (args.length === 0) r.fail();
  args.push(r.take('ELSE') ? parseExpression(r) : literal(int, null));
  r.expect('END');
  return call('CASE', ...args);
}

const synonyms: Readonly<Record<string, string>> = {
  integer: 'int',
  numeric: 'decimal',
  timestamp: 'rowversion',
};
const refusedTypes = new Set(['hierarchyid', 'geometry', 'geography', 'json', 'vector']);

/** A data type. `unsized` is the length of a char or binary type without one: 1 in definitions, 30 in CAST. */
export function parseType(r: Reader, unsized: 1 | 30 = 1): SqlType {
  const written = r.qualifiedName().at(-1)!;
  const name = synonyms[written.toLowerCase()] ?? written.toLowerCase();
  if (refusedTypes.has(name)) refuse(`The data type ${name}`);
  if (name === 'sysname') return nvarchar(128);
  if (!isTypeName(name)) return fail(2715, written);
  const isSized = r.is('(');
  const [size, scale = 0] = isSized
    ? r.inParentheses(() => r.list(() => (r.take('MAX') ? Number.POSITIVE_INFINITY : r.integer())))
    : [];
  if (/char$|binary$/.test(name)) {
    const limit = name.startsWith('n') ? 4000 : 8000;
    if (size === Number.POSITIVE_INFINITY && name.includes('var')) return { name, length: 'max' };
    const length = size ?? unsized;
    return length >= 1 && length <= limit ? { name, length } : fail(2717, length, name, limit);
  }
  if (name === 'decimal') {
    const precision = size ?? 18;
    if (precision < 1 || precision > 38) fail(2750, precision);
    return scale <= precision ? decimal(precision, scale) : fail(2751, scale, precision);
  }
  if (name === 'float') return size !== undefined && size <= 24 ? { name: 'real' } : float;
  if (name === 'time' || name === 'datetime2' || name === 'datetimeoffset')
    return (size ?? 7) <= 7 ? { name, scale: size ?? 7 } : fail(2751, size!, 7);
  return isSized ? fail(2716, name) : { name };
}

/** `SELECT ... FROM ... WHERE ... GROUP BY ... ORDER BY ... OPTION (...)`. */
export function parseQuery(r: Reader, isBegun = false): Select {
  if (!isBegun) r.expect('SELECT');
  if (r.is('DISTINCT')) refuse('DISTINCT');
  let top: Expr | undefined;
  if (r.take('TOP')) {
    top = r.is('(') ? r.inParentheses(() => parseExpression(r)) : literal(int, r.integer());
  }
  const items = r.list(() => parseItem(r));
  const from = r.take('FROM') ? parseFrom(r) : [];
  const where = r.take('WHERE') ? parseExpression(r) : undefined;
  const groupBy = r.take('GROUP', 'BY') ? r.list(() => parseExpression(r)) : [];
  const orderBy = r.take('ORDER', 'BY') ? r.list(() => parseOrder(r)) : [];
  // Hints only change plans, so they are read and have no effect.
  if (r.take('OPTION')) skipParentheses(r);
  return { top, items, from, where, groupBy, orderBy };
}

function parseOrder(r: Reader): Select['orderBy'][number] {
  const expr = parseExpression(r);
  return { expr, isDescending: !r.take('ASC') && r.take('DESC') };
}

function skipParentheses(r: Reader): void {
  r.expect('(');
  for (let depth = 1; depth > 0; ) {
    if (r.token.kind === 'end') r.fail();
    depth += { '(': 1, ')': -1 }[r.next().key] ?? 0;
  }
}

function parseItem(r: Reader): Select['items'][number] {
  if (r.take('*')) return {};
  if (r.isName() && r.peek().key === '.' && r.peek(2).key === '*') {
    const star = r.name();
    r.expect('.', '*');
    return { star };
  }
  const isAssignment = r.token.kind === 'variable' && /^.?=$/.test(r.peek().key);
  if (isAssignment && r.peek().key !== '=') refuse(`SELECT with ${r.peek().key}`);
  const assign = isAssignment ? r.variable() : undefined;
  const before = !assign && r.isName() && r.peek().key === '=' ? r.name() : undefined;
  if (assign || before) r.expect('=');
  const expr = parseExpression(r);
  return { expr, alias: before ?? parseAlias(r), assign };
}

/** An alias of a column, which may be a string, or of a table. */
function parseAlias(r: Reader): string | undefined {
  const isNamed = r.take('AS');
  if (r.token.kind === 'string') return r.next().text;
  if (isNamed) return r.name();
  return r.isName() && !r.isAny('OFFSET', 'THROW') ? r.next().text : undefined;
}

function parseFrom(r: Reader): Source[] {
  const sources = [parseSource(r, false)];
  for (;;) {
    if (r.take(',') || r.take('CROSS', 'JOIN')) {
      sources.push(parseSource(r, false));
      continue;
    }
    const isLeft = r.take('LEFT');
    if (!r.take(isLeft ? 'OUTER' : 'INNER') && !r.is('JOIN')) return isLeft ? r.fail() : sources;
    r.expect('JOIN');
    const source = parseSource(r, isLeft);
    r.expect('ON');
    sources.push({ ...source, on: parseExpression(r) });
  }
}

function parseSource(r: Reader, isLeft: boolean): Source {
  if (r.is('(')) refuse('A subquery');
  const name = r.qualifiedName();
  const isSeries = r.is('(') && name.at(-1)!.toUpperCase() === 'GENERATE_SERIES';
  if (r.is('(') && !isSeries) refuse(`The table function or hint ${name.join('.')}(...)`);
  const args = isSeries ? r.inParentheses(() => r.list(() => parseExpression(r))) : undefined;
  const alias = parseAlias(r) ?? name.at(-1)!;
  skipTableHints(r);
  return { name, alias, args, isLeft, on: undefined };
}

/** NOLOCK and the like: locking is by whole server here, so they have no effect. */
export function skipTableHints(r: Reader): void {
  if (r.take('WITH')) skipParentheses(r);
}
