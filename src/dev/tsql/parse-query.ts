import type { Cte, Expr, Name, Query, QueryBody, Select, SelectItem, TableSource } from './ast.js';
import { refuse } from './errors.js';
import { parseExpression, parseOrder } from './parse-expression.js';
import type { Reader } from './reader.js';

/** `WITH ... SELECT ... UNION ... ORDER BY ... OFFSET ... OPTION (...)`. */
export function parseQuery(r: Reader): Query {
  const ctes: Cte[] = r.take('WITH') ? r.list(() => parseCte(r)) : [];
  return parseQueryAfterWith(r, ctes);
}

export function parseQueryAfterWith(r: Reader, ctes: readonly Cte[]): Query {
  const body = parseCompound(r);
  const orderBy = r.take('ORDER', 'BY') ? parseOrder(r) : [];
  let offset: Expr | undefined;
  let fetch: Expr | undefined;
  if (r.take('OFFSET')) {
    offset = parseExpression(r);
    if (!r.take('ROWS')) r.expect('ROW');
    if (r.take('FETCH')) {
      if (!r.take('NEXT')) r.expect('FIRST');
      fetch = parseExpression(r);
      if (!r.take('ROWS')) r.expect('ROW');
      r.expect('ONLY');
    }
  }
  if (r.is('FOR')) refuse(`FOR ${r.peek().text.toUpperCase()}`);
  return { ctes, body, orderBy, offset, fetch, maxRecursion: parseOptions(r) };
}

/** Hints only change plans, so they are read and have no effect; MAXRECURSION has one. */
export function parseOptions(r: Reader): number | undefined {
  let maxRecursion: number | undefined;
  if (r.take('OPTION')) {
    r.expect('(');
    do {
      if (r.take('MAXRECURSION')) maxRecursion = r.integer();
      else {
        for (let depth = 0; depth > 0 || !(r.is(',') || r.is(')')); ) {
          if (r.token.kind === 'end') r.fail();
          const { key } = r.next();
          if (key === '(') depth++;
          if (key === ')') depth--;
        }
      }
    } while (r.take(','));
    r.expect(')');
  }
  return maxRecursion;
}

export function parseCte(r: Reader): Cte {
  const name = r.name();
  const columns = r.is('(') ? r.inParentheses(() => r.list(() => r.name())) : undefined;
  r.expect('AS');
  return { name, columns, query: r.inParentheses(() => parseQuery(r)) };
}

function parseCompound(r: Reader): QueryBody {
  let left = parseIntersect(r);
  while (r.isAny('UNION', 'EXCEPT')) {
    const op = r.next().key === 'EXCEPT' ? 'EXCEPT' : r.take('ALL') ? 'UNION ALL' : 'UNION';
    left = { k: 'compound', op, left, right: parseIntersect(r) };
  }
  return left;
}

function parseIntersect(r: Reader): QueryBody {
  let left = parseBody(r);
  while (r.take('INTERSECT')) left = { k: 'compound', op: 'INTERSECT', left, right: parseBody(r) };
  return left;
}

function parseBody(r: Reader): QueryBody {
  if (r.is('(')) return r.inParentheses(() => parseCompound(r));
  if (r.take('VALUES')) {
    return { k: 'values', rows: r.list(() => r.inParentheses(() => r.list(() => parseValue(r)))) };
  }
  return parseSelect(r);
}

/** A value of VALUES; the word DEFAULT stands for itself. */
function parseValue(r: Reader): Expr {
  return r.take('DEFAULT') ? { k: 'call', name: 'DEFAULT', args: [] } : parseExpression(r);
}

function parseSelect(r: Reader): Select {
  r.expect('SELECT');
  const distinct = r.take('DISTINCT');
  if (!distinct) r.take('ALL');
  const top = parseTop(r);
  const items = r.list(() => parseItem(r));
  const into: Name | undefined = r.take('INTO') ? r.qualifiedName() : undefined;
  const from = r.take('FROM') ? parseFrom(r) : undefined;
  const where = r.take('WHERE') ? parseExpression(r) : undefined;
  let groupBy: Expr[] = [];
  if (r.take('GROUP', 'BY')) {
    if (r.isAny('ROLLUP', 'CUBE', 'GROUPING')) refuse(`GROUP BY ${r.token.key}`);
    groupBy = r.list(() => parseExpression(r));
    if (r.is('WITH')) refuse(`GROUP BY ... WITH ${r.peek().text.toUpperCase()}`);
  }
  const having = r.take('HAVING') ? parseExpression(r) : undefined;
  if (r.is('WINDOW')) refuse('The WINDOW clause');
  return { k: 'select', distinct, top, items, into, from, where, groupBy, having };
}

export function parseTop(r: Reader): Expr | undefined {
  if (!r.take('TOP')) return undefined;
  const top: Expr = r.is('(')
    ? r.inParentheses(() => parseExpression(r))
    : { k: 'literal', type: { name: 'bigint' }, value: BigInt(r.integer()) };
  if (r.take('PERCENT')) refuse('TOP ... PERCENT');
  if (r.is('WITH', 'TIES')) refuse('TOP ... WITH TIES');
  return top;
}

function parseItem(r: Reader): SelectItem {
  if (r.take('*')) return { expr: { k: 'star', table: [] } };
  if (r.token.kind === 'variable' && r.peek().key.endsWith('=') && !r.token.text.startsWith('@@')) {
    if (r.peek().key !== '=') refuse(`SELECT with ${r.peek().key}`);
    const assign = r.variable();
    r.next();
    return { expr: parseExpression(r), assign };
  }
  const star = starPrefix(r);
  if (star) return { expr: { k: 'star', table: star } };
  if (r.isName() && r.peek().key === '=') {
    const alias = r.name();
    r.next();
    return { expr: parseExpression(r), alias };
  }
  const expr = parseExpression(r);
  return { expr, alias: parseAlias(r) };
}

function starPrefix(r: Reader): Name | undefined {
  const parts: string[] = [];
  for (let i = 0; r.peek(i).kind === 'word' || r.peek(i).kind === 'quoted'; i += 2) {
    if (r.peek(i + 1).key !== '.') return undefined;
    parts.push(r.peek(i).text);
    if (r.peek(i + 2).key === '*') {
      for (let j = 0; j < i + 3; j++) r.next();
      return parts;
    }
  }
  return undefined;
}

function parseAlias(r: Reader): string | undefined {
  if (r.take('AS')) {
    if (r.token.kind === 'string' || r.token.kind === 'nstring') return r.next().text;
    return r.name();
  }
  if (r.token.kind === 'string') return r.next().text;
  return r.isName() && !r.isAny('OFFSET', 'EXCEPT', 'WINDOW', 'THROW', 'GO') ? r.next().text : undefined;
}

export function parseFrom(r: Reader): TableSource {
  let left = parseJoins(r);
  while (r.take(',')) left = { k: 'join', kind: 'CROSS', left, right: parseJoins(r) };
  return left;
}

function parseJoins(r: Reader): TableSource {
  let left = parseSource(r);
  for (;;) {
    if (r.isAny('CROSS', 'OUTER') && r.peek().key === 'APPLY') refuse(`${r.token.key} APPLY`);
    if (r.take('CROSS', 'JOIN')) {
      left = { k: 'join', kind: 'CROSS', left, right: parseSource(r) };
      continue;
    }
    const kind = joinKind(r);
    if (!kind) {
      if (r.isAny('PIVOT', 'UNPIVOT', 'TABLESAMPLE')) refuse(r.token.key);
      return left;
    }
    const right = parseJoins(r);
    r.expect('ON');
    left = { k: 'join', kind, left, right, on: parseExpression(r) };
  }
}

function joinKind(r: Reader): 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' | undefined {
  if (r.take('JOIN')) return 'INNER';
  if (!r.isAny('INNER', 'LEFT', 'RIGHT', 'FULL')) return undefined;
  const kind = r.next().key as 'INNER' | 'LEFT' | 'RIGHT' | 'FULL';
  if (kind !== 'INNER') r.take('OUTER');
  // Join hints choose an algorithm only.
  if (!r.take('LOOP') && !r.take('HASH')) r.take('MERGE');
  r.expect('JOIN');
  return kind;
}

function parseSource(r: Reader): TableSource {
  if (r.take('(')) {
    if (!r.isAny('SELECT', 'WITH', 'VALUES', '(')) {
      const inner = parseJoins(r);
      r.expect(')');
      return inner;
    }
    const query = parseQuery(r);
    r.expect(')');
    r.take('AS');
    const alias = r.name();
    return { k: 'derived', query, alias, columns: columnAliases(r) };
  }
  if (r.token.kind === 'variable') refuse('A table variable');
  const name = r.qualifiedName();
  if (r.is('(')) {
    if (name.at(-1)!.toUpperCase() !== 'GENERATE_SERIES') refuse(`The table function ${name.join('.')}`);
    const args = r.inParentheses(() => r.list(() => parseExpression(r)));
    const alias = tableAlias(r) ?? name.at(-1)!;
    return { k: 'series', args, alias, columns: columnAliases(r) };
  }
  if (r.is('FOR') && r.peek().key === 'SYSTEM_TIME') refuse('FOR SYSTEM_TIME');
  const alias = tableAlias(r) ?? name.at(-1)!;
  skipTableHints(r);
  return { k: 'table', name, alias };
}

function tableAlias(r: Reader): string | undefined {
  if (r.take('AS')) return r.name();
  return r.isName() && !r.isAny('OFFSET', 'LOOP', 'HASH', 'WINDOW', 'THROW', 'GO')
    ? r.next().text
    : undefined;
}

const columnAliases = (r: Reader): string[] | undefined =>
  r.is('(') ? r.inParentheses(() => r.list(() => r.name())) : undefined;

/** NOLOCK and the like: locking is by whole database here, so they have no effect. */
export function skipTableHints(r: Reader): void {
  if (
    r.is('WITH', '(') ||
    (r.is('(') && /^(NOLOCK|READPAST|UPDLOCK|HOLDLOCK|ROWLOCK|TABLOCKX?)$/.test(r.peek().key))
  ) {
    r.take('WITH');
    while (!r.take(')')) if (r.next().kind === 'end') r.fail();
  }
}
