import { type ParseArgsConfig, parseArgs } from 'node:util';

/** What was typed can't be understood. Exit code 2. */
export class BenchUsageError extends Error {
  readonly code = 'EUSAGE';
  override readonly name = 'BenchUsageError';
}

type Options = NonNullable<ParseArgsConfig['options']>;

/** @throws BenchUsageError which ends in the help text. */
export function parseOptions<const T extends Options>(args: readonly string[], options: T, help: string) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    // Node's sentence names the option; what follows the first period is advice for the programmer.
    throw new BenchUsageError(`${error instanceof Error ? error.message.split('. ')[0] : error}\n\n${help}`);
  }
}

/** @throws BenchUsageError unless the text is a whole number in the range. */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  if (isWholeNumber(text, least, most)) return Number(text);
  throw new BenchUsageError(`${option} takes a whole number from ${least} to ${most}, not '${text}'.`);
}

/** @returns the numbers of a list with commas, each once. @throws BenchUsageError unless each is a whole number in the range. */
export function wholeNumbers(option: string, text: string, least: number, most: number): number[] {
  const parts = partsOf(text);
  for (const part of parts) {
    if (!isWholeNumber(part, least, most))
      throw new BenchUsageError(
        `${option} takes one or more whole numbers from ${least} to ${most}, not '${part}'.`,
      );
  }
  return [...new Set(parts.map(Number))];
}

function isWholeNumber(text: string, least: number, most: number): boolean {
  return /^\d{1,12}$/.test(text) && Number(text) >= least && Number(text) <= most;
}

/** A number with an optional fraction, such as 0.1. @throws BenchUsageError unless it is in the range. */
export function decimalNumber(option: string, text: string, least: number, most: number): number {
  if (/^\d{1,6}(\.\d{1,4})?$/.test(text) && Number(text) >= least && Number(text) <= most)
    return Number(text);
  throw new BenchUsageError(`${option} takes a number from ${least} to ${most}, not '${text}'.`);
}

/** @returns the parts of a list with commas. @throws BenchUsageError when one is not known. */
export function oneOrMoreOf<const T extends string>(option: string, text: string, known: readonly T[]): T[] {
  const parts = partsOf(text);
  for (const part of parts) {
    if (!known.includes(part as T))
      throw new BenchUsageError(`${option} takes one or more of ${known.join(',')}, not '${part}'.`);
  }
  return known.filter((name) => parts.includes(name));
}

const partsOf = (list: string): string[] => list.split(',').map((part) => part.trim());
