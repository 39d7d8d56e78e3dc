import type { SqlType, SqlValue } from './contract.js';
import type { Session } from './session.js';

export interface Variable {
  readonly type: SqlType;
  value: SqlValue;
}

/** An error that a CATCH block handles, for ERROR_NUMBER() and THROW. */
export interface CaughtError {
  readonly number: number;
  readonly class: number;
  readonly state: number;
  readonly message: string;
  readonly line: number;
  readonly procedure: string | undefined;
}

/** What an expression may read besides its row. Names of variables are lower-case. */
export interface Runtime {
  readonly variables: Map<string, Variable>;
  readonly session: Session;
  /** One clock per statement: GETDATE() is the same in all rows. */
  now: number;
  caught: CaughtError | undefined;
  readonly procedureId: number;
}
