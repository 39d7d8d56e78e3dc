import type { ColumnDefinition, Expr, KeyDefinition, Statement } from './ast.js';
import { fail, refuse } from './errors.js';
import { parseExpression } from './parse-expression.js';
import { parseType } from './parse-types.js';
import type { Reader } from './reader.js';

type CreateTable = Omit<Extract<Statement, { k: 'createTable' }>, 'line'>;

/** `CREATE TABLE name (columns and keys)`, after the word TABLE. */
export function parseCreateTable(r: Reader): CreateTable {
  const name = r.qualifiedName();
  const columns: ColumnDefinition[] = [];
  const keys: KeyDefinition[] = [];
  r.expect('(');
  do {
    if (r.is(')')) break;
    if (r.isAny('CONSTRAINT', 'PRIMARY', 'UNIQUE', 'FOREIGN', 'CHECK', 'INDEX', 'PERIOD')) {
      const constraint = r.take('CONSTRAINT') ? r.name() : undefined;
      keys.push(parseKey(r, constraint));
    } else columns.push(parseColumn(r, keys));
  } while (r.take(','));
  r.expect(')');
  // A filegroup says where rows are stored, which nothing here depends on.
  if (r.take('ON')) r.name();
  if (r.is('WITH')) refuse('CREATE TABLE ... WITH');
  return { k: 'createTable', name, columns, keys };
}

function parseColumn(r: Reader, keys: KeyDefinition[]): ColumnDefinition {
  const name = r.name();
  if (r.is('AS')) refuse('A computed column');
  let type = parseType(r);
  if (type.name === 'rowversion' || type.name === 'sql_variant')
    refuse(`A table column of type ${type.name}`);
  let nullable: boolean | undefined;
  let identity: ColumnDefinition['identity'];
  let fallback: Expr | undefined;
  let constraint: string | undefined;
  for (;;) {
    if (r.take('NOT', 'NULL')) nullable = false;
    else if (r.take('NULL')) nullable = true;
    else if (r.take('COLLATE')) type = { ...type, collation: parseCollation(r) };
    else if (r.take('IDENTITY')) identity = parseIdentity(r);
    else if (r.take('CONSTRAINT')) constraint = r.name();
    else if (r.take('DEFAULT')) fallback = parseExpression(r);
    else if (r.isAny('PRIMARY', 'UNIQUE')) keys.push(parseKey(r, constraint, name));
    else if (r.isAny('CHECK', 'REFERENCES', 'FOREIGN', 'INDEX'))
      refuse(`The column constraint ${r.token.key}`);
    else if (r.isAny(',', ')')) return { name, type, nullable, identity, fallback };
    else if (r.isName()) refuse(`The column option ${r.token.text.toUpperCase()}`);
    else r.fail();
  }
}

function parseCollation(r: Reader): string {
  const collation = r.name();
  if (!/_(C[IS]_A[IS]|BIN2?)/i.test(collation)) fail(448, `Invalid collation '${collation}'.`);
  return collation;
}

function parseIdentity(r: Reader): { seed: bigint; increment: bigint } {
  if (!r.take('(')) return { seed: 1n, increment: 1n };
  const seed = BigInt(r.integer());
  r.expect(',');
  const increment = BigInt(r.integer());
  r.expect(')');
  return { seed, increment };
}

function parseKey(r: Reader, name: string | undefined, column?: string): KeyDefinition {
  const primary = r.take('PRIMARY', 'KEY');
  if (!primary && !r.take('UNIQUE')) refuse(`The constraint ${r.token.key}`);
  if (!r.take('CLUSTERED')) r.take('NONCLUSTERED');
  if (column && !r.is('(')) return { name, primary, columns: [column] };
  const columns = r.inParentheses(() =>
    r.list(() => {
      const key = r.name();
      if (!r.take('ASC')) r.take('DESC');
      return key;
    }),
  );
  if (r.is('WITH')) refuse('Index options (WITH) of a key');
  if (r.take('ON')) r.name();
  return { name, primary, columns };
}
