import type { Argument, Expr, ParameterDefinition, Statement } from './ast.js';
import { fail, refuse } from './errors.js';
import { atLine } from './lexer.js';
import { parseDelete, parseInsert, parseUpdate } from './parse-changes.js';
import { parseExpression } from './parse-expression.js';
import { parseCte, parseQuery, parseQueryAfterWith } from './parse-query.js';
import { parseCreateTable } from './parse-table.js';
import { parseType } from './parse-types.js';
import { Reader } from './reader.js';
import { refusedStatements } from './support.js';

// A plain Omit would merge the members of the union.
type Shape<T = Statement> = T extends Statement ? Omit<T, 'line'> : never;

/** Parses a whole batch before any of it runs. */
export function parseBatch(sql: string): Statement[] {
  const r = new Reader(sql, parseQuery);
  const statements: Statement[] = [];
  for (skip(r); r.token.kind !== 'end'; skip(r)) {
    const first = statements.length === 0;
    // A procedure may be called without EXEC at the start of a batch.
    statements.push(
      first && r.isName() && !(r.token.key in parsers) ? parseExec(r, r.token.line) : parseStatement(r),
    );
  }
  return statements;
}

/** The parameter list of sp_executesql: `@a int, @b nvarchar(10) OUTPUT`. */
export function parseDeclarations(text: string): ParameterDefinition[] {
  const r = new Reader(text, parseQuery);
  if (atEnd(r)) return [];
  const parameters = r.list(() => parseParameter(r));
  if (!atEnd(r)) r.fail();
  return parameters;
}

function skip(r: Reader): void {
  while (r.take(';'));
}

const atEnd = (r: Reader): boolean => r.token.kind === 'end';

function parseStatement(r: Reader): Statement {
  const { line, key } = r.token;
  return atLine(line, () => {
    const words = [0, 1, 2, 3].map((i) => r.peek(i).key);
    for (const n of [4, 2]) {
      const refused = refusedStatements[words.slice(0, n).join(' ')];
      if (refused) refuse(refused);
    }
    const parse = Object.hasOwn(parsers, key) ? parsers[key] : undefined;
    if (!parse) {
      const refused = Object.hasOwn(refusedStatements, key) ? refusedStatements[key] : undefined;
      if (refused) refuse(refused);
      r.fail();
    }
    const statement = { ...parse!(r), line } as Statement;
    r.take(';');
    return statement;
  });
}

/** Statements up to END; empty blocks are errors in T-SQL. */
function parseBody(r: Reader): Statement[] {
  const body: Statement[] = [];
  for (skip(r); !r.is('END'); skip(r)) {
    if (r.token.kind === 'end') r.fail();
    body.push(parseStatement(r));
  }
  return body;
}

const parsers: Readonly<Record<string, (r: Reader) => Shape>> = {
  SELECT: (r) => ({ k: 'select', query: parseQuery(r) }),
  '(': (r) => ({ k: 'select', query: parseQuery(r) }),
  WITH: (r) => {
    r.next();
    const ctes = r.list(() => parseCte(r));
    if (r.isAny('INSERT', 'UPDATE', 'DELETE', 'MERGE')) refuse(`WITH before ${r.token.key}`);
    return { k: 'select', query: parseQueryAfterWith(r, ctes) };
  },
  INSERT: parseInsert,
  UPDATE: parseUpdate,
  DELETE: parseDelete,
  TRUNCATE: (r) => {
    r.expect('TRUNCATE', 'TABLE');
    return { k: 'truncate', table: r.qualifiedName() };
  },
  CREATE: (r) => {
    r.next();
    if (r.take('TABLE')) return parseCreateTable(r);
    const orAlter = r.take('OR', 'ALTER');
    if (!r.take('PROCEDURE') && !r.take('PROC')) refuse(refusedStatements['CREATE']!);
    return parseProcedure(r, orAlter ? 'CREATE OR ALTER' : 'CREATE');
  },
  ALTER: (r) => {
    r.next();
    if (!r.take('PROCEDURE') && !r.take('PROC')) refuse(refusedStatements['ALTER']!);
    return parseProcedure(r, 'ALTER');
  },
  DROP: (r) => {
    r.next();
    const object = r.take('TABLE')
      ? 'table'
      : r.take('PROCEDURE') || r.take('PROC')
        ? 'procedure'
        : refuse(refusedStatements['DROP']!);
    const ifExists = r.take('IF', 'EXISTS');
    return { k: 'drop', object, ifExists, names: r.list(() => r.qualifiedName()) };
  },
  DECLARE: (r) => {
    r.next();
    const variables = r.list(() => {
      if (r.isName()) refuse('A cursor');
      const name = r.variable();
      r.take('AS');
      if (r.is('TABLE')) refuse('A table variable');
      const type = parseType(r);
      return { name, type, value: r.take('=') ? parseExpression(r) : undefined };
    });
    return { k: 'declare', variables };
  },
  SET: parseSet,
  IF: (r) => {
    r.next();
    const condition = parseExpression(r);
    const then = parseStatement(r);
    skip(r);
    return { k: 'if', condition, then, otherwise: r.take('ELSE') ? parseStatement(r) : undefined };
  },
  WHILE: (r) => {
    r.next();
    return { k: 'while', condition: parseExpression(r), body: parseStatement(r) };
  },
  BEGIN: parseBegin,
  BREAK: (r) => word(r, 'break'),
  CONTINUE: (r) => word(r, 'continue'),
  RETURN: (r) => {
    r.next();
    const ends =
      r.token.kind === 'end' || r.token.key === ';' || r.token.key in parsers || r.is('END') || r.is('ELSE');
    return { k: 'return', value: ends && !r.is('(') ? undefined : parseExpression(r) };
  },
  THROW: (r) => {
    r.next();
    const rethrow = !['number', 'variable'].includes(r.token.kind);
    return { k: 'throw', args: rethrow ? [] : r.list(() => parseExpression(r)) };
  },
  RAISERROR: (r) => {
    r.next();
    const args = r.inParentheses(() => r.list(() => parseExpression(r)));
    return { k: 'raiserror', args, options: r.take('WITH') ? r.list(() => r.next().key) : [] };
  },
  PRINT: (r) => {
    r.next();
    return { k: 'print', value: parseExpression(r) };
  },
  WAITFOR: (r) => {
    r.next();
    const kind = r.take('DELAY')
      ? 'DELAY'
      : r.take('TIME')
        ? 'TIME'
        : refuse('WAITFOR of anything but DELAY and TIME');
    return { k: 'waitfor', kind, value: parseExpression(r) };
  },
  EXEC: (r) => parseExec(r, r.token.line),
  EXECUTE: (r) => parseExec(r, r.token.line),
  COMMIT: parseTransactionEnd,
  ROLLBACK: parseTransactionEnd,
  USE: (r) => {
    r.next();
    return { k: 'use', database: r.name() };
  },
};

function word(r: Reader, k: 'break' | 'continue'): Shape {
  r.next();
  return { k };
}

function parseBegin(r: Reader): Shape {
  r.next();
  if (r.take('TRAN') || r.take('TRANSACTION')) {
    const name = transactionName(r);
    if (r.is('WITH', 'MARK')) refuse('BEGIN TRANSACTION ... WITH MARK');
    return { k: 'begin', name };
  }
  if (r.take('ATOMIC')) refuse('BEGIN ATOMIC');
  if (r.take('TRY')) {
    const body = parseBody(r);
    r.expect('END', 'TRY');
    skip(r);
    r.expect('BEGIN', 'CATCH');
    const handler = parseBody(r);
    r.expect('END', 'CATCH');
    return { k: 'try', body, handler };
  }
  const body = parseBody(r);
  r.expect('END');
  return { k: 'block', body };
}

function parseTransactionEnd(r: Reader): Shape {
  const k = r.next().key === 'COMMIT' ? 'commit' : 'rollback';
  if (r.take('TRAN') || r.take('TRANSACTION')) return { k, name: transactionName(r) };
  r.take('WORK');
  return { k, name: '' };
}

function transactionName(r: Reader): string {
  if (r.token.kind === 'variable') refuse('A transaction name in a variable');
  return r.isName() && !(r.token.key in parsers) ? r.name() : '';
}

function parseSet(r: Reader): Shape {
  r.next();
  if (r.token.kind === 'variable') {
    const name = r.variable();
    const op = r.next().key;
    if (!/^[-+*/%&|^]?=$/.test(op)) r.fail();
    return { k: 'assign', name, op: op.slice(0, -1), value: parseExpression(r) };
  }
  if (r.take('TRANSACTION')) {
    if (!r.is('ISOLATION')) r.fail();
    const words: string[] = [];
    while (r.token.kind === 'word' && words.length < 4) words.push(r.next().key);
    if (words[2] !== 'READ' && words[2] !== 'REPEATABLE') while (words.length > 3) r.fail();
    return { k: 'option', names: ['TRANSACTION ISOLATION LEVEL'], value: words.slice(2).join(' ') };
  }
  if (r.take('IDENTITY_INSERT')) {
    const table = r.qualifiedName().at(-1)!;
    return { k: 'option', names: ['IDENTITY_INSERT', table], value: r.next().key };
  }
  const names = r.list(() => r.next().key || r.fail());
  const negative = r.take('-');
  const token = r.next();
  if (!['word', 'number', 'string', 'nstring', 'quoted'].includes(token.kind)) r.fail();
  return { k: 'option', names, value: (negative ? '-' : '') + (token.key || token.text) };
}

function parseExec(r: Reader, line: number): Statement {
  if (!r.take('EXEC')) r.take('EXECUTE');
  if (r.take('(')) {
    const text = parseExpression(r);
    r.expect(')');
    if (r.is('AS') || r.is('AT')) refuse(`EXECUTE (...) ${r.token.key}`);
    return { k: 'execText', text, line };
  }
  let result: string | undefined;
  if (r.token.kind === 'variable') {
    result = r.variable();
    if (!r.is('=')) refuse('A procedure name in a variable');
    r.next();
  }
  const name = r.qualifiedName();
  const ends = (): boolean =>
    r.token.kind === 'end' || r.token.key === ';' || r.token.key in parsers || r.isAny('END', 'ELSE', 'WITH');
  const args = ends() ? [] : r.list(() => parseArgument(r));
  if (r.take('WITH') && !r.take('RECOMPILE')) refuse('EXECUTE ... WITH');
  return { k: 'exec', name, args, result, line };
}

function parseArgument(r: Reader): Argument {
  let name: string | undefined;
  if (r.token.kind === 'variable' && r.peek().key === '=') {
    name = r.variable();
    r.next();
  }
  const none: Expr = { k: 'literal', type: { name: 'int' }, value: null };
  if (r.take('DEFAULT')) return { name, value: none, output: false, useDefault: true };
  // A bare word is a string, as in `sp_help Blogs`.
  const value: Expr =
    r.isName() && r.peek().key !== '('
      ? { k: 'literal', type: { name: 'nvarchar', length: 128 }, value: r.name() }
      : parseExpression(r);
  const output = r.take('OUTPUT') || r.take('OUT');
  if (output && value.k !== 'variable')
    fail(179, 'Cannot use the OUTPUT option when passing a constant to a stored procedure.');
  return { name, value, output };
}

function parseParameter(r: Reader): ParameterDefinition {
  const name = r.variable();
  r.take('AS');
  const type = parseType(r);
  let fallback: Expr | undefined;
  if (r.take('=')) {
    fallback = parseExpression(r);
    const constant = fallback.k === 'unary' ? fallback.a : fallback;
    if (constant.k !== 'literal') refuse('A parameter default that is not a constant');
  }
  const output = r.take('OUTPUT') || r.take('OUT');
  if (r.take('READONLY')) refuse('A table-valued parameter');
  return { name, type, fallback, output };
}

function parseProcedure(r: Reader, mode: 'CREATE' | 'ALTER' | 'CREATE OR ALTER'): Shape {
  const name = r.qualifiedName();
  const parenthesised = r.take('(');
  const parameters = r.token.kind === 'variable' ? r.list(() => parseParameter(r)) : [];
  if (parenthesised) r.expect(')');
  if (r.take('WITH') && !r.take('RECOMPILE')) refuse(`CREATE PROCEDURE ... WITH ${r.token.key}`);
  if (r.take('FOR', 'REPLICATION')) refuse('FOR REPLICATION');
  r.expect('AS');
  const body: Statement[] = [];
  for (skip(r); r.token.kind !== 'end'; skip(r)) body.push(parseStatement(r));
  return { k: 'createProcedure', name, parameters, body, text: r.sql.trim(), mode };
}
