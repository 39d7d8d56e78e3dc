import type { SqlType, SqlValue } from '../sql-engine.js';

/** A name of one to four parts, last part last. */
export type Name = readonly string[];

/** Operators, predicates and CASE are calls too, by their T-SQL names. */
export type Expr =
  | { readonly k: 'literal'; readonly type: SqlType; readonly value: SqlValue }
  | { readonly k: 'variable'; readonly name: string }
  | { readonly k: 'column'; readonly name: Name }
  | { readonly k: 'cast'; readonly a: Expr; readonly type: SqlType }
  | { readonly k: 'collate'; readonly a: Expr; readonly collation: string }
  | { readonly k: 'call'; readonly name: string; readonly args: readonly Expr[] };

/** A table, view or GENERATE_SERIES, and how it is joined to those before it. */
export interface Source {
  readonly name: Name;
  readonly alias: string;
  /** Of GENERATE_SERIES. */
  readonly args: readonly Expr[] | undefined;
  readonly isLeft: boolean;
  readonly on: Expr | undefined;
}

export interface Select {
  readonly top: Expr | undefined;
  readonly items: readonly {
    /** Absent for `*` and `t.*`. */
    readonly expr?: Expr;
    readonly star?: string;
    readonly alias?: string | undefined;
    /** `SELECT @v = ...` */
    readonly assign?: string | undefined;
  }[];
  readonly from: readonly Source[];
  readonly where: Expr | undefined;
  readonly groupBy: readonly Expr[];
  readonly orderBy: readonly { readonly expr: Expr; readonly isDescending: boolean }[];
}
