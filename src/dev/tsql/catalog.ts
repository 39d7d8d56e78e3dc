import type { Expr, Name, ParameterDefinition, Statement } from './ast.js';
import type { SqlType } from './contract.js';
import { fail } from './errors.js';

export interface TableColumn {
  readonly name: string;
  readonly type: SqlType;
  readonly nullable: boolean;
  readonly identity: boolean;
  readonly fallback: Expr | undefined;
}

export interface TableKey {
  readonly name: string;
  readonly primary: boolean;
  readonly columns: readonly number[];
}

export interface Table {
  readonly id: number;
  readonly name: string;
  readonly columns: readonly TableColumn[];
  readonly keys: readonly TableKey[];
  /** The table's name in SQLite; its columns are c0, c1, ... */
  readonly storage: string;
  /** Not rolled back, as in SQL Server: numbers that were taken stay taken. */
  readonly identity:
    | { readonly seed: bigint; readonly increment: bigint; last: bigint | undefined }
    | undefined;
  readonly created: bigint;
}

export interface Procedure {
  readonly id: number;
  readonly name: string;
  readonly parameters: readonly ParameterDefinition[];
  readonly body: readonly Statement[];
  readonly text: string;
  readonly created: bigint;
  readonly modified: bigint;
}

/** Objects of one database by lower-case name, all of schema dbo. Maps are replaced whole by a rollback. */
export interface Database {
  readonly id: number;
  readonly name: string;
  readonly created: bigint;
  tables: Map<string, Table>;
  procedures: Map<string, Procedure>;
}

export class Catalog {
  readonly databases: readonly Database[];
  #nextId = 1_013_578_649;

  constructor(names: readonly string[], created: bigint) {
    this.databases = names.map((name, i) => ({
      id: i + 1,
      name,
      created,
      tables: new Map(),
      procedures: new Map(),
    }));
  }

  newId(): number {
    // SQL Server's ids look random; steps of 16 make sure that no code takes them for positions.
    this.#nextId += 16;
    return this.#nextId;
  }

  find(name: string): Database | undefined {
    return this.databases.find((database) => database.name.toLowerCase() === name.toLowerCase());
  }
}

export interface ObjectName {
  readonly database: string | undefined;
  readonly schema: string;
  readonly name: string;
}

/** Splits `database.schema.name`; schemas other than dbo, sys, dev and INFORMATION_SCHEMA hold nothing. */
export function objectName(parts: Name): ObjectName {
  const [name = '', schema = '', database, server] = [...parts].reverse();
  if (server)
    fail(
      7202,
      `Could not find server '${server}' in sys.servers. Verify that the correct server name was specified.`,
    );
  return { database: database || undefined, schema: (schema || 'dbo').toLowerCase(), name };
}

/** `[dbo].[x]` and `dbo.x` in a string, as OBJECT_ID takes them. */
export function splitName(text: string): string[] {
  const parts = text.match(/\[(?:[^\]]|\]\])*\]|"(?:[^"]|"")*"|[^.]+|(?<=\.)(?=\.)/g) ?? [];
  return parts.map((part) =>
    /^[["]/.test(part) ? part.slice(1, -1).replaceAll(']]', ']').replaceAll('""', '"') : part.trim(),
  );
}
