import type { SqlType, SqlValue } from './contract.js';
import { fail } from './errors.js';
import type { Node } from './node.js';
import type { Runtime } from './runtime.js';

/** Makes the node of a call from its bound arguments. */
export type FunctionBinder = (args: readonly Node[], name: string) => Node;

/** A function that is NULL when any argument is. */
export function strictCall(
  name: string,
  type: SqlType,
  args: readonly Node[],
  run: (values: readonly SqlValue[], runtime: Runtime) => SqlValue,
): Node {
  return { k: 'call', name, type, args, run, nullable: true };
}

/** Checks the number of arguments: 174. */
export function arity(name: string, args: readonly Node[], min: number, max = min): void {
  if (args.length < min || args.length > max)
    fail(174, name.toLowerCase(), min === max ? min : `${min} to ${max}`);
}
