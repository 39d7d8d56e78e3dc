import type { Cte, Query } from './ast.js';
import type { ExpressionContext } from './bind-expression.js';
import type { SqlType } from './contract.js';
import type { Node } from './node.js';
import type { Plan } from './plan.js';
import type { Scope, Source } from './scope.js';

export interface Output {
  readonly name: string;
  readonly node: Node;
  readonly assign?: string | undefined;
}

/** A query whose columns are known; its SQLite text is made once the wanted types are. */
export interface BoundQuery {
  readonly outputs: readonly Output[];
  /** A SELECT whose result columns c0, c1, ... hold the outputs in the stored form of the types. */
  emit(types: readonly SqlType[], extra?: string): string;
  readonly single: boolean;
}

export interface BinderHost {
  variableType(name: string): SqlType;
  /** Columns and SQLite text of a table or view; 208 when there is none. */
  source(
    name: readonly string[],
    plan: Plan,
  ): { readonly sql: string; readonly columns: readonly Omit<Source['columns'][number], 'sql'>[] };
}

/** A common table expression in reach, and those before it. */
export interface CteBinding {
  readonly cte: Cte;
  readonly outer: CteBinding | undefined;
  readonly maxRecursion: number | undefined;
  /** Set while its recursive part is bound: what its own name means there. */
  readonly self?: {
    readonly sql: string;
    readonly columns: readonly { name: string; type: SqlType }[];
    alias: string;
  };
}

/** What FROM needs of the binder of queries. */
export interface QueryBinder extends ExpressionContext {
  readonly host: BinderHost;
  bindQuery(query: Query, parent?: Scope, outer?: CteBinding): BoundQuery;
}
