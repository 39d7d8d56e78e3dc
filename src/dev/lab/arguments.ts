import { type ParseArgsConfig, parseArgs } from 'node:util';

/** What was typed can't be understood. Exit code 2. */
export class UsageError extends Error {
  readonly code = 'EUSAGE';
  override readonly name = 'UsageError';
}

type Options = NonNullable<ParseArgsConfig['options']>;

/** @throws UsageError which ends in the help text. */
export function parseOptions<const T extends Options>(args: readonly string[], options: T, help: string) {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    // Node's sentence names the option; what follows the first period is advice for the programmer.
    throw new UsageError(`${error instanceof Error ? error.message.split('. ')[0] : error}\n\n${help}`);
  }
}

/** @throws UsageError unless the text is a whole number in the range. */
export function wholeNumber(option: string, text: string, least: number, most: number): number {
  if (/^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new UsageError(`${option} takes a whole number from ${least} to ${most}, not '${text}'.`);
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 };

/** `45s`, `2m`, `500ms`; a number alone means seconds. @throws UsageError */
export function durationMs(option: string, text: string): number {
  const [, digits, unit = 's'] = /^(\d{1,6})(ms|s|m)?$/.exec(text) ?? [];
  const ms = Number(digits) * (units[unit] ?? Number.NaN);
  if (ms >= 1 && ms <= 86_400_000) return ms;
  throw new UsageError(`${option} takes a time up to a day such as 45s, 2m or 500ms, not '${text}'.`);
}

/** @returns without a slash at its end. @throws UsageError unless it is an http or https URL. */
export function baseUrl(option: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  throw new UsageError(`${option} takes a URL such as http://127.0.0.1:7071, not '${text}'.`);
}

/** Runs a program: a usage error is its message and 2, any other failure its message and 1. */
export async function exitCode(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return error instanceof UsageError ? 2 : 1;
  }
}
