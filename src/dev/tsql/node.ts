import type { SqlType, SqlValue } from './contract.js';
import { checkImplicit, convert } from './convert.js';
import type { Runtime } from './runtime.js';
import { rank } from './types.js';

/**
 * A bound expression: every node knows its T-SQL type. It runs either as a closure over a row of values, or
 * inside SQLite, where anything that SQLite does not do as T-SQL does becomes a call back into that closure.
 */
export type Node =
  | { readonly k: 'const'; readonly type: SqlType; readonly nullable: boolean; readonly value: SqlValue }
  | {
      /** What SQLite evaluates, in the stored form of the type: a column, an aggregate, a subquery. */
      readonly k: 'input';
      readonly type: SqlType;
      readonly nullable: boolean;
      readonly sql: string;
      /** The scope whose row it depends on; none for aggregates, group keys and uncorrelated subqueries. */
      readonly owner?: object | undefined;
      readonly name?: string;
      readonly identity?: boolean | undefined;
    }
  | {
      readonly k: 'call';
      readonly type: SqlType;
      readonly nullable: boolean;
      readonly name: string;
      readonly args: readonly Node[];
      /** Gets no NULL unless `lenient`: a NULL argument is a NULL result. */
      readonly run: (args: readonly SqlValue[], runtime: Runtime) => SqlValue;
      readonly lenient?: boolean;
      /** Differs from row to row without any input. */
      readonly volatile?: boolean;
      /** SQLite text with the same meaning on stored values. */
      readonly native?: ((args: readonly string[]) => string) | undefined;
    }
  | {
      readonly k: 'logic';
      readonly type: SqlType;
      readonly nullable: boolean;
      readonly op: 'AND' | 'OR' | 'NOT';
      readonly args: readonly Node[];
    }
  | {
      readonly k: 'case';
      readonly type: SqlType;
      readonly nullable: boolean;
      readonly whens: readonly (readonly [Node, Node])[];
      readonly otherwise: Node;
    };

export type Compiled = (row: readonly SqlValue[], runtime: Runtime) => SqlValue;

export const constant = (type: SqlType, value: SqlValue): Node => ({
  k: 'const',
  type,
  value,
  nullable: value === null,
});

export const isNullLiteral = (node: Node): boolean => node.k === 'const' && node.value === null;

export function childrenOf(node: Node): readonly Node[] {
  switch (node.k) {
    case 'call':
    case 'logic':
      return node.args;
    case 'case':
      return [...node.whens.flat(), node.otherwise];
    default:
      return [];
  }
}

/** True when the value is the same for all rows of a statement. */
export const isRowFree = (node: Node): boolean =>
  node.k !== 'input' && !(node.k === 'call' && node.volatile) && childrenOf(node).every(isRowFree);

export function inputsOf(
  node: Node,
  found = new Map<string, Node & { k: 'input' }>(),
): Map<string, Node & { k: 'input' }> {
  if (node.k === 'input') found.set(node.sql, node);
  for (const child of childrenOf(node)) inputsOf(child, found);
  return found;
}

/** Equal for expressions that mean the same, as GROUP BY compares them. */
export function keyOf(node: Node): string {
  if (node.k === 'const') return `#${node.type.name}:${String(node.value)}`;
  if (node.k === 'input') return node.sql.toLowerCase();
  const name = node.k === 'call' ? `${node.name}:${node.type.name}` : node.k === 'logic' ? node.op : 'CASE';
  return `${name}(${childrenOf(node).map(keyOf).join(',')})`;
}

/** Makes the closure; `slots` says where in the row each input is. */
export function compile(node: Node, slots: ReadonlyMap<string, number>): Compiled {
  switch (node.k) {
    case 'const': {
      const { value } = node;
      return () => value;
    }
    case 'input': {
      const slot = slots.get(node.sql)!;
      return (row) => row[slot]!;
    }
    case 'call':
      return compileCall(node, slots);
    case 'logic':
      return compileLogic(node, slots);
    default: {
      const whens = node.whens.map(([when, then]) => [compile(when, slots), compile(then, slots)] as const);
      const otherwise = compile(node.otherwise, slots);
      return (row, runtime) => {
        for (const [when, then] of whens) if (when(row, runtime) === true) return then(row, runtime);
        return otherwise(row, runtime);
      };
    }
  }
}

function compileCall(node: Node & { k: 'call' }, slots: ReadonlyMap<string, number>): Compiled {
  const args = node.args.map((arg) => compile(arg, slots));
  const { run, lenient } = node;
  return (row, runtime) => {
    const values: SqlValue[] = new Array(args.length);
    for (let i = 0; i < args.length; i++) {
      const value = args[i]!(row, runtime);
      if (value === null && !lenient) return null;
      values[i] = value;
    }
    return run(values, runtime);
  };
}

function compileLogic(node: Node & { k: 'logic' }, slots: ReadonlyMap<string, number>): Compiled {
  const [a, b] = node.args.map((arg) => compile(arg, slots));
  if (node.op === 'NOT') {
    return (row, runtime) => {
      const x = a!(row, runtime);
      return x === null ? null : !x;
    };
  }
  const decisive = node.op === 'OR';
  return (row, runtime) => {
    const x = a!(row, runtime);
    if (x === decisive) return decisive;
    const y = b!(row, runtime);
    if (y === decisive) return decisive;
    return x === null || y === null ? null : !decisive;
  };
}

export const sameType = (a: SqlType, b: SqlType): boolean =>
  a.name === b.name && a.length === b.length && a.precision === b.precision && a.scale === b.scale;

/** Implicit conversion; NULL takes any type. */
export function coerce(node: Node, type: SqlType): Node {
  if (sameType(node.type, type)) return node;
  if (isNullLiteral(node)) return constant(type, null);
  checkImplicit(node.type, type);
  return converted(node, type, 0);
}

export function converted(node: Node, type: SqlType, style: number): Node {
  const from = node.type;
  return {
    k: 'call',
    name: `convert:${JSON.stringify(type)}:${style}`,
    type,
    nullable: node.nullable,
    args: [node],
    run: ([value]) => convert(value!, from, type, style),
  };
}

export const higher = (a: Node, b: Node): SqlType => (rank(a.type) >= rank(b.type) ? a.type : b.type);
