import type { Name } from './ast.js';
import type { SqlType } from './contract.js';
import { fail } from './errors.js';
import type { Node } from './node.js';

export interface SourceColumn {
  readonly name: string;
  readonly type: SqlType;
  readonly nullable: boolean;
  readonly identity?: boolean | undefined;
  readonly sql: string;
}

export interface Source {
  readonly alias: string;
  columns: readonly SourceColumn[];
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** The tables that the names of one SELECT may mean, and the SELECT around it. */
export class Scope {
  readonly sources: Source[] = [];
  readonly parent: Scope | undefined;
  /** Aggregates of this SELECT; undefined where they are not allowed. */
  aggregates: { count: number } | undefined;
  /** Window functions see rows, so they don't mix with groups here. */
  windows = false;
  /** Columns of this SELECT that subqueries in it use. */
  readonly outerUses: Node[] = [];

  constructor(parent?: Scope) {
    this.parent = parent;
  }

  /** The column of that name; 207, 209, 4104 when there is none or more than one. */
  resolve(name: Name): Node & { k: 'input' } {
    const column = name.at(-1)!;
    const qualifier = name.at(-2);
    for (let scope: Scope | undefined = this; scope; scope = scope.parent) {
      const found = scope.sources
        .filter((source) => !qualifier || same(source.alias, qualifier))
        .flatMap((source) => source.columns.filter((candidate) => same(candidate.name, column)));
      if (found.length > 1) fail(209, column);
      if (found[0]) {
        const node = inputOf(found[0], scope);
        if (scope !== this) scope.outerUses.push(node);
        return node;
      }
    }
    return qualifier ? fail(4104, name.join('.')) : fail(207, column);
  }

  /** The columns that `*` or `t.*` stands for. */
  star(table: Name): (Node & { k: 'input' })[] {
    const qualifier = table.at(-1);
    const sources = this.sources.filter((source) => !qualifier || same(source.alias, qualifier));
    if (sources.length === 0) fail(qualifier ? 107 : 263, qualifier ?? 'Must specify table to select from.');
    return sources.flatMap((source) => source.columns.map((column) => inputOf(column, this)));
  }
}

function inputOf(column: SourceColumn, owner: Scope): Node & { k: 'input' } {
  const { name, type, nullable, identity, sql } = column;
  return { k: 'input', name, type, nullable, identity, sql, owner };
}
