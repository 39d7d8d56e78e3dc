import type { Expr, OrderItem, Query, QueryBody, Select } from './ast.js';
import { sorted } from './bind-aggregate.js';
import { bindCondition, bindValue, type ExpressionContext } from './bind-expression.js';
import { bindFrom } from './bind-from.js';
import type { BinderHost, BoundQuery, CteBinding, Output, QueryBinder } from './bind-types.js';
import { type Codec, codecOf, collationOf } from './codec.js';
import type { SqlType } from './contract.js';
import { fail, refuse } from './errors.js';
import {
  type Compiled,
  childrenOf,
  coerce,
  compile,
  inputsOf,
  isNullLiteral,
  isRowFree,
  keyOf,
  type Node,
} from './node.js';
import { Plan } from './plan.js';
import { Scope } from './scope.js';
import { bigint, isLarge, unify } from './types.js';

/** What reads the rows of a query at the top of a statement. */
export interface RowReader {
  /** Undefined when there is nothing to ask SQLite: one row that expressions alone make. */
  readonly sql: string | undefined;
  readonly codecs: readonly Codec[];
  readonly values: readonly Compiled[];
}

/** Binds the queries of one statement: names to columns, expressions to types, all to SQLite text. */
export class Binder implements QueryBinder {
  readonly plan = new Plan();
  readonly host: BinderHost;

  constructor(host: BinderHost) {
    this.host = host;
  }

  variableType(name: string): SqlType {
    return this.host.variableType(name);
  }

  bindQuery(query: Query, parent?: Scope, outer: CteBinding | undefined = undefined): BoundQuery {
    let ctes = outer;
    for (const cte of query.ctes)
      ctes = { cte, outer: ctes, maxRecursion: query.maxRecursion ?? outer?.maxRecursion };
    if (query.body.k === 'select') return this.bindSelect(query.body, query, parent, ctes);
    const body = this.#bindBody(query.body, parent, ctes);
    const order = (types: readonly SqlType[]): string => {
      const terms = query.orderBy.map(({ expr, descending }) => {
        const i = ordinal(expr, body.outputs);
        if (i === undefined)
          return fail(
            104,
            'ORDER BY items must appear in the select list if the statement contains a UNION, INTERSECT or EXCEPT operator.',
          );
        const collation = collationOf(types[i]!);
        return `${i + 1}${collation ? ` COLLATE ${collation}` : ''}${descending ? ' DESC' : ''}`;
      });
      return terms.length > 0 ? ` ORDER BY ${terms.join(', ')}` : '';
    };
    return {
      outputs: body.outputs,
      single: false,
      emit: (types) => body.emit(types) + order(types) + this.#limit(query, undefined, parent),
    };
  }

  #bindBody(body: QueryBody, parent: Scope | undefined, ctes: CteBinding | undefined): BoundQuery {
    if (body.k === 'select') return this.bindSelect(body, undefined, parent, ctes);
    if (body.k === 'values') return this.#bindValues(body.rows, parent);
    const [left, right] = [this.#bindBody(body.left, parent, ctes), this.#bindBody(body.right, parent, ctes)];
    if (left.outputs.length !== right.outputs.length) fail(205);
    const outputs = left.outputs.map((output, i) => ({
      name: output.name,
      node: unified([output.node, right.outputs[i]!.node]),
    }));
    const distinct = body.op !== 'UNION ALL';
    if (distinct && outputs.some(({ node }) => isLarge(node.type))) fail(306);
    // SQLite compares rows of compounds by the collation of the left side; parentheses need a subquery there.
    const part = (query: BoundQuery, types: readonly SqlType[]): string => {
      const columns = types.map(
        (type, i) => `c${i}${distinct && collationOf(type) ? ` COLLATE ${collationOf(type)}` : ''} AS c${i}`,
      );
      return `SELECT ${columns.join(', ')} FROM (${query.emit(types)})`;
    };
    return {
      outputs,
      single: false,
      emit: (types) => `${part(left, types)} ${body.op} ${part(right, types)}`,
    };
  }

  #bindValues(rows: readonly (readonly Expr[])[], parent: Scope | undefined): BoundQuery {
    const scope = new Scope(parent);
    const bound = rows.map((row) => row.map((expr) => bindValue(expr, scope, this)));
    const width = bound[0]!.length;
    if (bound.some((row) => row.length !== width))
      fail(10709, 'The number of columns for each row in a table value constructor must be the same.');
    const outputs = bound[0]!.map((_, i) => ({ name: '', node: unified(bound.map((row) => row[i]!)) }));
    return {
      outputs,
      single: rows.length === 1,
      emit: (types) => {
        const list = bound.map(
          (row) => `(${row.map((node, i) => this.plan.sqlOf(coerce(node, types[i]!))).join(', ')})`,
        );
        return `SELECT ${types.map((_, i) => `column${i + 1} AS c${i}`).join(', ')} FROM (VALUES ${list.join(', ')})`;
      },
    };
  }

  bindSelect(
    select: Select,
    query: Query | undefined,
    parent: Scope | undefined,
    ctes: CteBinding | undefined,
  ): BoundQuery & { reader(): RowReader } {
    const scope = new Scope(parent);
    const from = select.from && bindFrom(select.from, scope, this, ctes);
    const cteContext = this.#within(ctes);
    const where = select.where && bindCondition(select.where, scope, cteContext);
    scope.aggregates = { count: 0 };
    scope.outerUses.length = 0;
    let outputs = select.items.flatMap((item) => bindItem(item, scope, cteContext));
    const keys = select.groupBy
      .map((expr) => bindValue(expr, scope, cteContext))
      .filter((node) => !isRowFree(node));
    let having = select.having && bindCondition(select.having, scope, cteContext);
    const order = (query?.orderBy ?? []).map((item) => ({
      ...item,
      node: this.#orderNode(item, outputs, scope, cteContext),
    }));
    const grouped =
      keys.length > 0 || select.groupBy.length > 0 || having !== undefined || scope.aggregates.count > 0;
    if (grouped) {
      if (scope.windows) refuse('A window function in a query with groups');
      const groups = new Map(keys.map((key) => [keyOf(key), key] as const));
      const regroup = (node: Node): Node => this.#regroup(node, groups, scope);
      outputs = outputs.map((output) => ({ ...output, node: regroup(output.node) }));
      having &&= regroup(having);
      for (const term of order) term.node = regroup(term.node);
      for (const use of scope.outerUses) regroup(use);
    }
    if (select.distinct) {
      if (outputs.some(({ node }) => isLarge(node.type)))
        fail(421, 'The data type cannot be selected as DISTINCT because it is not comparable.');
      const listed = new Set(outputs.map(({ node }) => keyOf(node)));
      if (order.some(({ node }) => !listed.has(keyOf(node)))) fail(145);
    }
    const tail = (): string => {
      const orderBy = order
        .filter(({ node }) => !isRowFree(node))
        .map(({ node, descending }) => sorted(node, this.plan) + (descending ? ' DESC' : ''));
      return [
        from ? ` FROM ${from()}` : '',
        where ? ` WHERE ${this.plan.sqlOf(where)}` : '',
        keys.length > 0 ? ` GROUP BY ${keys.map((key) => sorted(key, this.plan)).join(', ')}` : '',
        // HAVING without GROUP BY is one group; SQLite wants it said.
        having ? `${keys.length === 0 ? ' GROUP BY NULL' : ''} HAVING ${this.plan.sqlOf(having)}` : '',
        orderBy.length > 0 ? ` ORDER BY ${orderBy.join(', ')}` : '',
        this.#limit(query, select.top, parent),
      ].join('');
    };
    const emit = (types: readonly SqlType[], extra?: string): string => {
      const list = outputs.map(({ node }, i) => {
        const collation = select.distinct ? collationOf(types[i]!) : undefined;
        return `${this.plan.sqlOf(coerce(node, types[i]!))}${collation ? ` COLLATE ${collation}` : ''} AS c${i}`;
      });
      return `SELECT ${select.distinct ? 'DISTINCT ' : ''}${extra ? [...list, extra].join(', ') : list.join(', ')}${tail()}`;
    };
    const reader = (): RowReader => {
      if (select.distinct) return encodedReader(emit(outputs.map(({ node }) => node.type)), outputs);
      const inputs = [...new Map(outputs.flatMap(({ node }) => [...inputsOf(node)])).values()];
      const slots = new Map(inputs.map((input, i) => [input.sql, i]));
      const values = outputs.map(({ node }) => compile(node, slots));
      const bare = inputs.length === 0 && !from && !where && !grouped && !select.top && !query?.offset;
      const list = inputs.length > 0 ? inputs.map((input) => input.sql) : ['1'];
      return {
        sql: bare ? undefined : `SELECT ${list.join(', ')}${tail()}`,
        codecs: inputs.map((input) => codecOf(input.type)),
        values,
      };
    };
    return {
      outputs,
      emit,
      reader,
      single: !from || (grouped && keys.length === 0 && select.groupBy.length === 0),
    };
  }

  /** Replaces what equals a group key; any other column of the same SELECT has no one value per group: 8120. */
  #regroup(node: Node, groups: ReadonlyMap<string, Node>, scope: Scope): Node {
    const key = groups.get(keyOf(node));
    if (key) return { k: 'input', sql: this.plan.sqlOf(key), type: key.type, nullable: key.nullable };
    if (node.k === 'input') return node.owner === scope ? fail(8120, node.name ?? node.sql) : node;
    const children = childrenOf(node).map((child) => this.#regroup(child, groups, scope));
    if (node.k === 'call' || node.k === 'logic') return { ...node, args: children };
    if (node.k !== 'case') return node;
    const whens = node.whens.map((_, i) => [children[2 * i]!, children[2 * i + 1]!] as const);
    return { ...node, whens, otherwise: children.at(-1)! };
  }

  #orderNode(item: OrderItem, outputs: readonly Output[], scope: Scope, context: ExpressionContext): Node {
    const i = ordinal(item.expr, outputs);
    return i === undefined ? bindValue(item.expr, scope, context) : outputs[i]!.node;
  }

  #limit(query: Query | undefined, top: Expr | undefined, parent: Scope | undefined): string {
    const count = (expr: Expr): string => {
      const node = coerce(bindValue(expr, new Scope(parent), this), bigint);
      const check: Node = {
        k: 'call',
        name: 'limit',
        type: bigint,
        nullable: false,
        args: [node],
        lenient: true,
        run: ([n]) =>
          n === null || (n as bigint) < 0n
            ? fail(
                1060,
                'The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.',
              )
            : n!,
      };
      return this.plan.sqlOf(check);
    };
    const rows = top ?? query?.fetch;
    if (!rows && !query?.offset) return '';
    return ` LIMIT ${rows ? count(rows) : '-1'}${query?.offset ? ` OFFSET ${count(query.offset)}` : ''}`;
  }

  subquery(
    query: Query,
    scope: Scope,
    use: 'scalar' | 'list' | 'exists',
    ctes?: CteBinding,
  ): ReturnType<ExpressionContext['subquery']> {
    const bound = this.bindQuery(query, scope, ctes);
    if (use !== 'exists' && bound.outputs.length !== 1) fail(116);
    const types = bound.outputs.map(({ node }) => node.type);
    const text = use === 'list' ? '' : bound.emit(types);
    const type = types[0]!;
    if (use !== 'scalar' || bound.single)
      return { sql: use === 'scalar' ? `(${text})` : text, type, emit: (wanted) => bound.emit([wanted]) };
    // SQLite would take the first of several rows.
    const more = this.plan.failure(() => fail(512));
    return {
      sql: `(SELECT CASE WHEN COUNT(*) < 2 THEN MAX(c0) ELSE ${more} END FROM (SELECT c0 FROM (${text}) LIMIT 2))`,
      type,
      emit: (wanted) => bound.emit([wanted]),
    };
  }

  /** The same context, with the common table expressions that subqueries may name. */
  #within(ctes: CteBinding | undefined): ExpressionContext {
    if (!ctes) return this;
    return {
      plan: this.plan,
      variableType: (name) => this.host.variableType(name),
      subquery: (query, scope, use) => this.subquery(query, scope, use, ctes),
    };
  }
}

export function encodedReader(sql: string, outputs: readonly Output[]): RowReader {
  return {
    sql,
    codecs: outputs.map(({ node }) => codecOf(node.type)),
    values: outputs.map((_, i) => (row) => row[i]!),
  };
}

function bindItem(item: Select['items'][number], scope: Scope, context: ExpressionContext): Output[] {
  if (item.expr.k === 'star') return scope.star(item.expr.table).map((node) => ({ name: node.name!, node }));
  const node = bindValue(item.expr, scope, context);
  const name = item.alias ?? (item.expr.k === 'column' && node.k === 'input' ? node.name! : '');
  return [{ name, node, assign: item.assign }];
}

/** ORDER BY 2 and ORDER BY alias mean a column of the result. */
function ordinal(expr: Expr, outputs: readonly Output[]): number | undefined {
  if (expr.k === 'literal' && typeof expr.value === 'number') {
    if (expr.value < 1 || expr.value > outputs.length)
      fail(
        108,
        `The ORDER BY position number ${expr.value} is out of range of the number of items in the select list.`,
      );
    return expr.value - 1;
  }
  if (expr.k !== 'column' || expr.name.length !== 1) return undefined;
  const i = outputs.findIndex(
    ({ name }) => name !== '' && name.toLowerCase() === expr.name[0]!.toLowerCase(),
  );
  return i < 0 ? undefined : i;
}

/** Stands for a column of a compound: the type that both sides convert to. */
function unified(nodes: readonly Node[]): Node {
  const typed = nodes.filter((node) => !isNullLiteral(node));
  const type = (typed.length > 0 ? typed : nodes).map((node) => node.type).reduce(unify);
  return { k: 'input', sql: '', type, nullable: nodes.some((node) => node.nullable) };
}
