import type { SqlType, SqlValue } from './contract.js';

/** A name of one to four parts, last part last. */
export type Name = readonly string[];

export interface SelectItem {
  readonly expr: Expr;
  readonly alias?: string | undefined;
  /** `SELECT @v = ...` */
  readonly assign?: string | undefined;
}

export interface OrderItem {
  readonly expr: Expr;
  readonly descending: boolean;
}

export type Expr =
  | { readonly k: 'literal'; readonly type: SqlType; readonly value: SqlValue }
  | { readonly k: 'variable'; readonly name: string }
  | { readonly k: 'column'; readonly name: Name }
  | { readonly k: 'star'; readonly table: Name }
  | { readonly k: 'unary'; readonly op: '-' | '+' | '~' | 'NOT'; readonly a: Expr }
  | { readonly k: 'binary'; readonly op: string; readonly a: Expr; readonly b: Expr }
  | { readonly k: 'isNull'; readonly a: Expr; readonly not: boolean }
  | {
      readonly k: 'in';
      readonly a: Expr;
      readonly list?: readonly Expr[];
      readonly query?: Query;
      readonly not: boolean;
    }
  | {
      readonly k: 'between';
      readonly a: Expr;
      readonly low: Expr;
      readonly high: Expr;
      readonly not: boolean;
    }
  | {
      readonly k: 'like';
      readonly a: Expr;
      readonly pattern: Expr;
      readonly escape?: Expr;
      readonly not: boolean;
    }
  | { readonly k: 'exists'; readonly query: Query }
  | { readonly k: 'subquery'; readonly query: Query }
  | {
      readonly k: 'case';
      readonly on?: Expr | undefined;
      readonly whens: readonly (readonly [Expr, Expr])[];
      readonly otherwise?: Expr | undefined;
    }
  | {
      readonly k: 'cast';
      readonly a: Expr;
      readonly type: SqlType;
      readonly style?: Expr | undefined;
      readonly safe: boolean;
    }
  | { readonly k: 'collate'; readonly a: Expr; readonly collation: string }
  | {
      readonly k: 'call';
      readonly name: string;
      readonly args: readonly Expr[];
      readonly star?: boolean;
      readonly distinct?: boolean;
      readonly over?:
        | { readonly partition: readonly Expr[]; readonly order: readonly OrderItem[] }
        | undefined;
    };

export type TableSource =
  | { readonly k: 'table'; readonly name: Name; readonly alias: string }
  | {
      readonly k: 'derived';
      readonly query: Query;
      readonly alias: string;
      readonly columns?: readonly string[] | undefined;
    }
  | {
      readonly k: 'series';
      readonly args: readonly Expr[];
      readonly alias: string;
      readonly columns?: readonly string[] | undefined;
    }
  | {
      readonly k: 'join';
      readonly kind: 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' | 'CROSS';
      readonly left: TableSource;
      readonly right: TableSource;
      readonly on?: Expr | undefined;
    };

export interface Select {
  readonly k: 'select';
  readonly distinct: boolean;
  readonly top?: Expr | undefined;
  readonly items: readonly SelectItem[];
  readonly into?: Name | undefined;
  readonly from?: TableSource | undefined;
  readonly where?: Expr | undefined;
  readonly groupBy: readonly Expr[];
  readonly having?: Expr | undefined;
}

export type QueryBody =
  | Select
  | { readonly k: 'values'; readonly rows: readonly (readonly Expr[])[] }
  | {
      readonly k: 'compound';
      readonly op: 'UNION' | 'UNION ALL' | 'EXCEPT' | 'INTERSECT';
      readonly left: QueryBody;
      readonly right: QueryBody;
    };

export interface Cte {
  readonly name: string;
  readonly columns?: readonly string[] | undefined;
  readonly query: Query;
}

export interface Query {
  readonly ctes: readonly Cte[];
  readonly body: QueryBody;
  readonly orderBy: readonly OrderItem[];
  readonly offset?: Expr | undefined;
  readonly fetch?: Expr | undefined;
  readonly maxRecursion?: number | undefined;
}

export interface ColumnDefinition {
  readonly name: string;
  readonly type: SqlType;
  readonly nullable: boolean | undefined;
  readonly identity?: { readonly seed: bigint; readonly increment: bigint } | undefined;
  readonly fallback?: Expr | undefined;
}

export interface KeyDefinition {
  readonly name?: string | undefined;
  readonly primary: boolean;
  readonly columns: readonly string[];
}

export interface ParameterDefinition {
  readonly name: string;
  readonly type: SqlType;
  readonly fallback?: Expr | undefined;
  readonly output: boolean;
}

export interface Argument {
  readonly name?: string | undefined;
  readonly value: Expr;
  readonly output: boolean;
  /** The word DEFAULT stands for the parameter's default. */
  readonly useDefault?: boolean;
}

type StatementShape =
  | { readonly k: 'select'; readonly query: Query }
  | {
      readonly k: 'insert';
      readonly table: Name;
      readonly columns?: readonly string[] | undefined;
      readonly source?: Query | undefined;
    }
  | {
      readonly k: 'update';
      readonly target: Name;
      readonly set: readonly { readonly column: string; readonly op: string; readonly value: Expr }[];
      readonly from?: TableSource | undefined;
      readonly where?: Expr | undefined;
      readonly top?: Expr | undefined;
    }
  | {
      readonly k: 'delete';
      readonly target: Name;
      readonly from?: TableSource | undefined;
      readonly where?: Expr | undefined;
      readonly top?: Expr | undefined;
    }
  | { readonly k: 'truncate'; readonly table: Name }
  | {
      readonly k: 'createTable';
      readonly name: Name;
      readonly columns: readonly ColumnDefinition[];
      readonly keys: readonly KeyDefinition[];
    }
  | {
      readonly k: 'createProcedure';
      readonly name: Name;
      readonly parameters: readonly ParameterDefinition[];
      readonly body: readonly Statement[];
      readonly text: string;
      readonly mode: 'CREATE' | 'ALTER' | 'CREATE OR ALTER';
    }
  | {
      readonly k: 'drop';
      readonly object: 'table' | 'procedure';
      readonly names: readonly Name[];
      readonly ifExists: boolean;
    }
  | {
      readonly k: 'declare';
      readonly variables: readonly {
        readonly name: string;
        readonly type: SqlType;
        readonly value?: Expr | undefined;
      }[];
    }
  | { readonly k: 'assign'; readonly name: string; readonly op: string; readonly value: Expr }
  | { readonly k: 'option'; readonly names: readonly string[]; readonly value: string }
  | { readonly k: 'block'; readonly body: readonly Statement[] }
  | {
      readonly k: 'if';
      readonly condition: Expr;
      readonly then: Statement;
      readonly otherwise?: Statement | undefined;
    }
  | { readonly k: 'while'; readonly condition: Expr; readonly body: Statement }
  | { readonly k: 'break' }
  | { readonly k: 'continue' }
  | { readonly k: 'return'; readonly value?: Expr | undefined }
  | { readonly k: 'try'; readonly body: readonly Statement[]; readonly handler: readonly Statement[] }
  | { readonly k: 'throw'; readonly args: readonly Expr[] }
  | { readonly k: 'raiserror'; readonly args: readonly Expr[]; readonly options: readonly string[] }
  | { readonly k: 'print'; readonly value: Expr }
  | { readonly k: 'waitfor'; readonly kind: 'DELAY' | 'TIME'; readonly value: Expr }
  | {
      readonly k: 'exec';
      readonly name: Name;
      readonly args: readonly Argument[];
      readonly result?: string | undefined;
    }
  | { readonly k: 'execText'; readonly text: Expr }
  | { readonly k: 'begin' | 'commit' | 'rollback'; readonly name: string }
  | { readonly k: 'use'; readonly database: string };

export type Statement = StatementShape & { readonly line: number };
