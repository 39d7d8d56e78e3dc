import type { Statement } from './ast.js';
import type { ResponseSink } from './contract.js';
import { type Execution, Slice } from './execute.js';
import type { Runtime, Variable } from './runtime.js';
import type { Session } from './session.js';

/** How a list of statements ended. */
export type Flow = undefined | 'break' | 'continue' | { readonly status: number };

export interface Scope extends Execution {
  readonly procedure: string | undefined;
  /** CATCH blocks around: with XACT_ABORT, an error inside dooms the transaction instead of rolling it back. */
  readonly tries: number;
  /** The interpreter, for procedures' bodies. */
  readonly run: (statements: readonly Statement[], scope: Scope) => Promise<Flow>;
}

export function newScope(
  session: Session,
  response: ResponseSink,
  signal: AbortSignal,
  run: Scope['run'],
  options: Partial<Scope> & { variables?: Map<string, Variable>; procedureId?: number } = {},
): Scope {
  const runtime: Runtime = {
    variables: options.variables ?? new Map(),
    session,
    now: Date.now(),
    caught: options.runtime?.caught,
    procedureId: options.procedureId ?? 0,
  };
  return {
    runtime,
    response,
    signal,
    slice: options.slice ?? new Slice(signal),
    procedure: options.procedure,
    tries: options.tries ?? 0,
    run,
  };
}
