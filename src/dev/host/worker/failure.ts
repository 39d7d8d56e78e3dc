import { inspect } from 'node:util';
import type { InvocationFailure } from '../protocol.js';

/** A frame of the app's own code: not of Node.js, nor of a package. */
const appFrame =
  /^\s+at (?!.*(?:node:|\(<anonymous>\)|\/node_modules\/|\\node_modules\\|\/worker\/invoke\.js))(.+)$/m;

/** Whatever was thrown, as plain data. */
export function toFailure(error: unknown): InvocationFailure {
  if (!(error instanceof Error)) {
    const text = typeof error === 'string' ? error : inspect(error, { depth: 2, breakLength: Infinity });
    return { message: text, at: undefined, stack: undefined };
  }
  const stack = typeof error.stack === 'string' ? error.stack : undefined;
  const at = stack === undefined ? undefined : appFrame.exec(stack)?.[1];
  const name = error.name && error.name !== 'Error' ? `${error.name}: ` : '';
  return { message: `${name}${error.message}`, at: at?.replace('file://', ''), stack };
}
