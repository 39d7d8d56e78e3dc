import type { Expr, OrderItem } from './ast.js';
import { fail, refuse } from './errors.js';
import { parseType } from './parse-types.js';
import type { Reader } from './reader.js';
import { refusedFunctions } from './support.js';
import { decimal, float, int, nvarchar, varchar } from './types.js';

/** A condition or a value; which of both it must be, the binder knows. */
export function parseExpression(r: Reader): Expr {
  let a = parseAnd(r);
  while (r.take('OR')) a = { k: 'binary', op: 'OR', a, b: parseAnd(r) };
  return a;
}

function parseAnd(r: Reader): Expr {
  let a = parseNot(r);
  while (r.take('AND')) a = { k: 'binary', op: 'AND', a, b: parseNot(r) };
  return a;
}

function parseNot(r: Reader): Expr {
  if (r.take('NOT')) return { k: 'unary', op: 'NOT', a: parseNot(r) };
  return parsePredicate(r);
}

function parsePredicate(r: Reader): Expr {
  if (r.take('EXISTS')) return { k: 'exists', query: r.inParentheses(() => r.query(r)) };
  const a = parseSum(r);
  if (r.isAny('=', '<', '>', '<=', '>=', '<>', '!=', '!<', '!>')) {
    const spelled = r.next().key;
    const op = { '!=': '<>', '!<': '>=', '!>': '<=' }[spelled] ?? spelled;
    if (r.isAny('ALL', 'ANY', 'SOME')) refuse(`A comparison with ${r.token.key}`);
    return { k: 'binary', op, a, b: parseSum(r) };
  }
  if (r.take('IS')) {
    const not = r.take('NOT');
    if (r.take('DISTINCT')) refuse('IS DISTINCT FROM');
    r.expect('NULL');
    return { k: 'isNull', a, not };
  }
  const not = r.take('NOT');
  if (r.take('IN')) {
    r.expect('(');
    const inner: Expr = r.isAny('SELECT', 'WITH')
      ? { k: 'in', a, query: r.query(r), not }
      : { k: 'in', a, list: r.list(() => parseSum(r)), not };
    r.expect(')');
    return inner;
  }
  if (r.take('BETWEEN')) {
    const low = parseSum(r);
    r.expect('AND');
    return { k: 'between', a, low, high: parseSum(r), not };
  }
  if (r.take('LIKE')) {
    const pattern = parseSum(r);
    return { k: 'like', a, pattern, not, ...(r.take('ESCAPE') && { escape: parseSum(r) }) };
  }
  if (not) r.fail();
  return a;
}

function parseSum(r: Reader): Expr {
  let a = parseProduct(r);
  while (r.isAny('+', '-', '&', '|', '^')) {
    const op = r.next().key;
    a = { k: 'binary', op, a, b: parseProduct(r) };
  }
  return a;
}

function parseProduct(r: Reader): Expr {
  let a = parseUnary(r);
  while (r.isAny('*', '/', '%')) {
    const op = r.next().key;
    a = { k: 'binary', op, a, b: parseUnary(r) };
  }
  return a;
}

function parseUnary(r: Reader): Expr {
  if (!r.isAny('-', '+', '~')) return parsePostfix(r);
  const op = r.next().key as '-' | '+' | '~';
  return { k: 'unary', op, a: parseUnary(r) };
}

function parsePostfix(r: Reader): Expr {
  let a = parsePrimary(r);
  for (;;) {
    if (r.take('COLLATE')) {
      const collation = r.name();
      if (!/_(C[IS]_A[IS]|BIN2?)/i.test(collation)) fail(448, `Invalid collation '${collation}'.`);
      a = { k: 'collate', a, collation };
    } else if (r.is('AT') && r.peek().key === 'TIME') refuse('AT TIME ZONE');
    else return a;
  }
}

function parsePrimary(r: Reader): Expr {
  const { kind, text, key } = r.token;
  if (kind === 'string')
    return literal(r, varchar(Math.max(1, text.length) > 8000 ? 'max' : Math.max(1, text.length)), text);
  if (kind === 'nstring')
    return literal(r, nvarchar(text.length > 4000 ? 'max' : Math.max(1, text.length)), text);
  if (kind === 'hex') {
    const bytes = Buffer.from((text.length % 2 ? '0' : '') + text.slice(2), 'hex');
    return literal(
      r,
      { name: 'varbinary', length: bytes.length > 8000 ? 'max' : Math.max(1, bytes.length) },
      new Uint8Array(bytes),
    );
  }
  if (kind === 'number') return parseNumber(r);
  if (kind === 'variable') {
    r.next();
    return text.startsWith('@@')
      ? { k: 'call', name: text.toUpperCase(), args: [] }
      : { k: 'variable', name: text };
  }
  if (r.take('(')) {
    const inner: Expr = r.isAny('SELECT', 'WITH') ? { k: 'subquery', query: r.query(r) } : parseExpression(r);
    r.expect(')');
    return inner;
  }
  if (kind === 'word') {
    if (key === 'NULL') {
      r.next();
      return { k: 'literal', type: int, value: null };
    }
    if (key === 'CASE') return parseCase(r);
    const special = specialForms[key];
    if (special && r.peek().key === '(') return special(r);
    if (
      key === 'CURRENT_TIMESTAMP' ||
      key === 'CURRENT_USER' ||
      key === 'SYSTEM_USER' ||
      key === 'SESSION_USER' ||
      key === 'USER'
    ) {
      r.next();
      return { k: 'call', name: key, args: [] };
    }
    if (r.peek().key === '(' && (r.isName() || ['LEFT', 'RIGHT', 'COALESCE', 'NULLIF'].includes(key))) {
      r.next();
      return parseCall(r, key);
    }
  }
  const name = r.qualifiedName();
  if (r.is('(')) refuse(`The function or method ${name.join('.')}`);
  return { k: 'column', name };
}

function literal(
  r: Reader,
  type: Extract<Expr, { k: 'literal' }>['type'],
  value: Extract<Expr, { k: 'literal' }>['value'],
): Expr {
  r.next();
  return { k: 'literal', type, value };
}

function parseNumber(r: Reader): Expr {
  const { text } = r.token;
  if (text.startsWith('$')) {
    const [whole = '0', fraction = ''] = text.slice(1).split('.');
    if (fraction.length > 4) refuse('A money literal with more than four decimals');
    return literal(r, { name: 'money' }, BigInt((whole || '0') + fraction.padEnd(4, '0')));
  }
  if (/e/i.test(text)) return literal(r, float, Number(text));
  const [whole = '', fraction = ''] = text.split('.');
  const digits = (whole + fraction).replace(/^0+(?=\d)/, '');
  const value = BigInt(digits || '0');
  if (!text.includes('.') && value <= 2_147_483_647n) return literal(r, int, Number(value));
  const precision = Math.max(digits.length, fraction.length, 1);
  if (precision > 38) fail(1007, text);
  return literal(r, decimal(precision, fraction.length), value);
}

function parseCase(r: Reader): Expr {
  r.next();
  const on = r.is('WHEN') ? undefined : parseExpression(r);
  const whens: [Expr, Expr][] = [];
  while (r.take('WHEN')) {
    const when = parseExpression(r);
    r.expect('THEN');
    whens.push([when, parseExpression(r)]);
  }
  if (whens.length === 0) r.fail();
  const otherwise = r.take('ELSE') ? parseExpression(r) : undefined;
  r.expect('END');
  return { k: 'case', on, whens, otherwise };
}

const specialForms: Readonly<Record<string, (r: Reader) => Expr>> = {
  CAST: (r) => parseCast(r, false),
  TRY_CAST: (r) => parseCast(r, true),
  CONVERT: (r) => parseConvert(r, false),
  TRY_CONVERT: (r) => parseConvert(r, true),
  IIF: (r) => {
    r.next();
    const [when, then, otherwise, more] = r.inParentheses(() => r.list(() => parseExpression(r)));
    if (!otherwise || more) fail(174, 'iif', 3);
    return { k: 'case', whens: [[when!, then!]], otherwise };
  },
};

function parseCast(r: Reader, safe: boolean): Expr {
  r.next();
  return r.inParentheses(() => {
    const a = parseExpression(r);
    r.expect('AS');
    return { k: 'cast', a, type: parseType(r, 30), safe };
  });
}

function parseConvert(r: Reader, safe: boolean): Expr {
  r.next();
  return r.inParentheses(() => {
    const type = parseType(r, 30);
    r.expect(',');
    const a = parseExpression(r);
    return { k: 'cast', a, type, style: r.take(',') ? parseExpression(r) : undefined, safe };
  });
}

/** Functions whose first argument is a date part, a bare word. */
const datePartFunctions = new Set([
  'DATEADD',
  'DATEDIFF',
  'DATEDIFF_BIG',
  'DATEPART',
  'DATENAME',
  'DATETRUNC',
  'DATE_BUCKET',
]);

function parseCall(r: Reader, name: string): Expr {
  if (refusedFunctions.has(name)) refuse(`The function ${name}`);
  r.expect('(');
  if (r.take('*')) {
    r.expect(')');
    return { k: 'call', name, args: [], star: true, over: parseOver(r) };
  }
  const distinct = r.take('DISTINCT');
  r.take('ALL');
  const args: Expr[] = [];
  if (datePartFunctions.has(name)) {
    args.push({ k: 'literal', type: varchar(30), value: r.name() });
    r.expect(',');
  }
  if (!r.is(')')) args.push(...r.list(() => parseExpression(r)));
  r.expect(')');
  if (r.is('WITHIN')) refuse('WITHIN GROUP');
  return { k: 'call', name, args, distinct, over: parseOver(r) };
}

function parseOver(r: Reader): Extract<Expr, { k: 'call' }>['over'] {
  if (!r.take('OVER')) return undefined;
  return r.inParentheses(() => {
    const partition = r.take('PARTITION', 'BY') ? r.list(() => parseExpression(r)) : [];
    const order = r.take('ORDER', 'BY') ? parseOrder(r) : [];
    if (r.isAny('ROWS', 'RANGE')) refuse('A window frame (ROWS, RANGE)');
    return { partition, order };
  });
}

export function parseOrder(r: Reader): OrderItem[] {
  return r.list(() => {
    const expr = parseExpression(r);
    const descending = r.take('DESC');
    if (!descending) r.take('ASC');
    return { expr, descending };
  });
}
