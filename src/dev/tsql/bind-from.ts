import type { Expr, Query, TableSource } from './ast.js';
import { bindCondition, bindValue } from './bind-expression.js';
import type { BoundQuery, CteBinding, QueryBinder } from './bind-types.js';
import { codecOf } from './codec.js';
import type { SqlType } from './contract.js';
import { fail, refuse } from './errors.js';
import { coerce, sameType } from './node.js';
import type { Scope, Source } from './scope.js';
import { bigint, int, isInteger, unify } from './types.js';

/** Adds the sources of FROM to the scope; the result makes their SQLite text. */
export function bindFrom(
  source: TableSource,
  scope: Scope,
  binder: QueryBinder,
  ctes: CteBinding | undefined,
): () => string {
  switch (source.k) {
    case 'join': {
      const first = scope.sources.length;
      const left = bindFrom(source.left, scope, binder, ctes);
      const middle = scope.sources.length;
      const right = bindFrom(source.right, scope, binder, ctes);
      if (source.kind === 'CROSS')
        return () => `${left()} JOIN ${source.right.k === 'join' ? `(${right()})` : right()}`;
      const on = bindCondition(source.on!, scope, binder);
      // The side that may be missing has NULLs.
      if (source.kind !== 'INNER' && source.kind !== 'RIGHT') optional(scope, middle, scope.sources.length);
      if (source.kind === 'RIGHT' || source.kind === 'FULL') optional(scope, first, middle);
      const parenthesised = source.right.k === 'join' ? () => `(${right()})` : right;
      return () => `${left()} ${source.kind} JOIN ${parenthesised()} ON ${binder.plan.sqlOf(on)}`;
    }
    case 'derived':
      return derived(
        source.alias,
        bindDerived(source.query, source.columns, source.alias, scope.parent, binder, ctes),
        scope,
        binder,
      );
    case 'series':
      return series(source, scope, binder);
    default: {
      const cte = source.name.length === 1 ? findCte(ctes, source.name[0]!) : undefined;
      if (cte) return bindCte(cte, source.alias, scope, binder);
      const { sql, columns } = binder.host.source(source.name, binder.plan);
      return derived(source.alias, { sql: () => sql, columns }, scope, binder);
    }
  }
}

function optional(scope: Scope, from: number, to: number): void {
  for (const source of scope.sources.slice(from, to))
    source.columns = source.columns.map((column) => ({ ...column, nullable: true }));
}

interface Derived {
  readonly sql: () => string;
  readonly columns: readonly Omit<Source['columns'][number], 'sql'>[];
}

function derived(alias: string, { sql, columns }: Derived, scope: Scope, binder: QueryBinder): () => string {
  const used = scope.sources.some((other) => other.alias.toLowerCase() === alias.toLowerCase());
  if (used)
    fail(
      1013,
      `The objects "${alias}" and "${alias}" in the FROM clause have the same exposed names. Use correlation names to distinguish them.`,
    );
  const name = binder.plan.alias('a');
  scope.sources.push({ alias, columns: columns.map((column, i) => ({ ...column, sql: `${name}.c${i}` })) });
  return () => `${sql()} AS ${name}`;
}

function bindDerived(
  query: Query,
  names: readonly string[] | undefined,
  alias: string,
  parent: Scope | undefined,
  binder: QueryBinder,
  ctes: CteBinding | undefined,
): Derived {
  if (query.orderBy.length > 0 && !(query.body.k === 'select' && query.body.top) && !query.offset) {
    fail(
      1033,
      'The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, and common table expressions, unless TOP, OFFSET or FOR XML is also specified.',
    );
  }
  const bound = binder.bindQuery(query, parent, ctes);
  return { sql: () => `(${bound.emit(typesOf(bound))})`, columns: named(bound, names, alias) };
}

const typesOf = (bound: BoundQuery): SqlType[] => bound.outputs.map(({ node }) => node.type);

function named(bound: BoundQuery, names: readonly string[] | undefined, alias: string): Derived['columns'] {
  if (names && names.length < bound.outputs.length) fail(8158, alias);
  if (names && names.length > bound.outputs.length) fail(8159, alias);
  const columns = bound.outputs.map(({ name, node }, i) => {
    const column = names?.[i] ?? name;
    if (!column) fail(8155, i + 1, alias);
    return { name: column, type: node.type, nullable: node.nullable };
  });
  const seen = new Set<string>();
  for (const { name } of columns) {
    if (seen.has(name.toLowerCase())) fail(8156, name, alias);
    seen.add(name.toLowerCase());
  }
  return columns;
}

function findCte(ctes: CteBinding | undefined, name: string): CteBinding | undefined {
  for (let c = ctes; c; c = c.outer) if (c.cte.name.toLowerCase() === name.toLowerCase()) return c;
  return undefined;
}

function bindCte(binding: CteBinding, alias: string, scope: Scope, binder: QueryBinder): () => string {
  const { cte, self } = binding;
  if (self) {
    const text = derived(
      alias,
      { sql: () => self.sql, columns: self.columns.map((column) => ({ ...column, nullable: true })) },
      scope,
      binder,
    );
    self.alias = scope.sources.at(-1)!.columns[0]!.sql.split('.')[0]!;
    return text;
  }
  const body = cte.query.body;
  if (body.k === 'compound' && refersTo(body.right, cte.name))
    return recursive(binding, alias, scope, binder);
  return derived(
    alias,
    bindDerived(cte.query, cte.columns, cte.name, undefined, binder, binding.outer),
    scope,
    binder,
  );
}

/** True when a FROM somewhere in the syntax names the table. */
function refersTo(part: unknown, name: string): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const { k, name: parts } = part as { k?: string; name?: unknown };
  if (
    k === 'table' &&
    Array.isArray(parts) &&
    parts.length === 1 &&
    String(parts[0]).toLowerCase() === name.toLowerCase()
  )
    return true;
  return Object.values(part).some((inner) => refersTo(inner, name));
}

/** Anchor UNION ALL recursive part, with the depth counted beside the columns for MAXRECURSION (error 530). */
function recursive(binding: CteBinding, alias: string, scope: Scope, binder: QueryBinder): () => string {
  const { cte, outer } = binding;
  const body = cte.query.body as Extract<Query['body'], { k: 'compound' }>;
  if (body.op !== 'UNION ALL')
    fail(
      252,
      `Recursive common table expression '${cte.name}' does not contain a top-level UNION ALL operator.`,
    );
  if (refersTo(body.left, cte.name)) refuse('A recursive query with several recursive parts');
  const query = (part: Query['body']): Query => ({ ctes: [], body: part, orderBy: [] });
  const anchor = binder.bindQuery(query(body.left), undefined, outer);
  const columns = named(anchor, cte.columns, cte.name);
  const table = binder.plan.alias('r');
  const inside: CteBinding = {
    ...binding,
    self: { sql: table, columns: columns.map(({ name, type }) => ({ name, type })), alias: '' },
  };
  if (body.right.k !== 'select' || body.right.distinct || body.right.groupBy.length > 0 || body.right.top)
    refuse('GROUP BY, DISTINCT, TOP or UNION in the recursive part of a query');
  const step = binder.bindQuery(query(body.right), undefined, inside);
  const types = typesOf(anchor);
  step.outputs.forEach(({ node }, i) => {
    if (!sameType(node.type, types[i]!)) fail(240, columns[i]!.name, cte.name);
  });
  const limit = binding.maxRecursion ?? 100;
  const sql = (): string => {
    const depth = binder.plan.callback(
      [codecOf(int)],
      codecOf(int),
      ([n]) => (limit > 0 && (n as number) >= limit ? fail(530, limit) : (n as number) + 1),
      [`${inside.self!.alias}.depth`],
    );
    const names = columns.map((_, i) => `c${i}`).join(', ');
    const text = step.emit(types, depth);
    return `(WITH RECURSIVE ${table}(${names}, depth) AS (SELECT *, 0 FROM (${anchor.emit(types)}) UNION ALL ${text}) SELECT ${names} FROM ${table})`;
  };
  return derived(alias, { sql, columns }, scope, binder);
}

/** GENERATE_SERIES(start, stop [, step]) of integers. */
function series(source: TableSource & { k: 'series' }, scope: Scope, binder: QueryBinder): () => string {
  const [start, stop, step, more] = source.args.map((arg: Expr) => bindValue(arg, scope, binder));
  if (!start || !stop || more) fail(174, 'generate_series', '2 to 3');
  const type = unify(start!.type, stop!.type);
  if (!isInteger(type)) refuse(`GENERATE_SERIES of ${type.name}`);
  const { plan } = binder;
  const g = plan.alias('g');
  const sql = (): string => {
    const [first, last] = [plan.sqlOf(coerce(start!, bigint)), plan.sqlOf(coerce(stop!, bigint))];
    const by = step ? plan.sqlOf(coerce(step, bigint)) : `(CASE WHEN ${first} <= ${last} THEN 1 ELSE -1 END)`;
    const zero = plan.failure(() =>
      fail(4199, 'Argument value 0 is invalid for argument 3 of generate_series function.'),
    );
    const next = (from: string): string =>
      `CASE WHEN ${by} > 0 THEN ${from} <= ${last} WHEN ${by} < 0 THEN ${from} >= ${last} WHEN ${by} = 0 THEN ${zero} END`;
    return `(WITH RECURSIVE ${g}(c0) AS (SELECT ${first} WHERE ${next(first)} UNION ALL SELECT c0 + ${by} FROM ${g} WHERE ${next(`c0 + ${by}`)}) SELECT c0 FROM ${g})`;
  };
  const column = { name: source.columns?.[0] ?? 'value', type, nullable: false };
  return derived(source.alias, { sql, columns: [column] }, scope, binder);
}
