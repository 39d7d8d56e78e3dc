import { type ParseArgsConfig, parseArgs } from 'node:util';

/** One command of the development tools, `node .build/dev/cli.js NAME`. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** @returns the exit code. */
  run(args: readonly string[]): Promise<number>;
}

/** What was typed can't be understood; the message says which part, and what would be. Exit code 2. */
export class UsageError extends Error {
  readonly code = 'EUSAGE';

  constructor(message: string, help: string) {
    super(`${message}\n\n${help}`);
    this.name = 'UsageError';
  }
}

type Options = NonNullable<ParseArgsConfig['options']>;

/**
 * Parses options, all of which must be known; positional arguments are refused.
 *
 * @throws UsageError which ends in the help text.
 */
export function parseOptions<const T extends Options>(args: readonly string[], options: T, help: string) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    // Node's sentence names the option; what follows the first period is advice for the programmer.
    const message = error instanceof Error ? (error.message.split('. ')[0] as string) : String(error);
    throw new UsageError(message, help);
  }
}

/** @throws UsageError unless the text is a port number; 0 picks a free port. */
export function parsePort(option: string, text: string, help: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new UsageError(`${option} takes a port from 0 (any free one) to 65535, not '${text}'.`, help);
}

/** @throws UsageError unless the text is a whole number from 1 on. */
export function parseCount(option: string, text: string, help: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`${option} takes a whole number from 1 on, not '${text}'.`, help);
}
