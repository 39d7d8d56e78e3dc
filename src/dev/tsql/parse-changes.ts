import type { Expr, Statement } from './ast.js';
import { refuse } from './errors.js';
import { parseExpression } from './parse-expression.js';
import { parseFrom, parseOptions, parseQuery, parseTop, skipTableHints } from './parse-query.js';
import type { Reader } from './reader.js';

type Shape<K extends Statement['k']> = Omit<Extract<Statement, { k: K }>, 'line'>;

export function parseInsert(r: Reader): Shape<'insert'> {
  r.expect('INSERT');
  if (r.is('TOP')) refuse('INSERT TOP');
  r.take('INTO');
  if (r.token.kind === 'variable') refuse('A table variable');
  const table = r.qualifiedName();
  skipTableHints(r);
  let columns: string[] | undefined;
  if (r.is('(') && r.peek().key !== 'SELECT') columns = r.inParentheses(() => r.list(() => r.name()));
  refuseOutput(r);
  if (r.take('DEFAULT', 'VALUES')) return { k: 'insert', table, columns: [] };
  if (r.isAny('EXEC', 'EXECUTE')) refuse('INSERT ... EXEC');
  return { k: 'insert', table, columns, source: parseQuery(r) };
}

export function parseUpdate(r: Reader): Shape<'update'> {
  r.expect('UPDATE');
  const top = parseTop(r);
  const target = r.qualifiedName();
  skipTableHints(r);
  r.expect('SET');
  const set = r.list(() => {
    if (r.token.kind === 'variable') refuse('UPDATE ... SET @variable');
    const column = r.qualifiedName().at(-1)!;
    const op = r.next().key;
    if (op === '(' || !/^[-+*/%&|^]?=$/.test(op)) r.fail();
    const value: Expr = r.take('DEFAULT') ? { k: 'call', name: 'DEFAULT', args: [] } : parseExpression(r);
    return { column, op: op.slice(0, -1), value };
  });
  refuseOutput(r);
  const from = r.take('FROM') ? parseFrom(r) : undefined;
  const where = parseWhere(r);
  return { k: 'update', target, set, from, where, top };
}

export function parseDelete(r: Reader): Shape<'delete'> {
  r.expect('DELETE');
  const top = parseTop(r);
  r.take('FROM');
  const target = r.qualifiedName();
  skipTableHints(r);
  refuseOutput(r);
  const from = r.take('FROM') ? parseFrom(r) : undefined;
  const where = parseWhere(r);
  return { k: 'delete', target, from, where, top };
}

function parseWhere(r: Reader): Expr | undefined {
  if (!r.take('WHERE')) return undefined;
  if (r.is('CURRENT', 'OF')) refuse('WHERE CURRENT OF');
  const where = parseExpression(r);
  parseOptions(r);
  return where;
}

function refuseOutput(r: Reader): void {
  if (r.is('OUTPUT')) refuse('The OUTPUT clause');
}
