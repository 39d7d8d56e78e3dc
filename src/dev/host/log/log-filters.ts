import type { RpcLogLevel } from '../rpc.js';

const levels: readonly RpcLogLevel[] = [
  'trace',
  'debug',
  'information',
  'warning',
  'error',
  'critical',
  'none',
];

/** One entry of `logging.logLevel` in host.json. */
export interface LogFilter {
  /** The beginning of categories, in any case, with at most one `*`; undefined for `default`. */
  readonly category: string | undefined;
  /** Lines below it are not written; `none`: no line is. */
  readonly level: RpcLogLevel;
}

/** @returns undefined for a word that is no level; case does not matter. */
export function parseLogLevel(text: string): RpcLogLevel | undefined {
  return levels.find((level) => level === text.toLowerCase());
}

export function isLogged(level: RpcLogLevel, least: RpcLogLevel): boolean {
  return level !== 'none' && levels.indexOf(level) >= levels.indexOf(least);
}

/**
 * The filter with the longest category that fits, else `default`; of equal ones the last. As LoggerRuleSelector of
 * Microsoft.Extensions.Logging chooses.
 */
export function selectFilter(filters: readonly LogFilter[], category: string): LogFilter | undefined {
  let selected: LogFilter | undefined;
  for (const filter of filters) {
    if (!fits(filter, category)) continue;
    if ((filter.category?.length ?? -1) >= (selected?.category?.length ?? -1)) selected = filter;
  }
  return selected;
}

function fits({ category: pattern }: LogFilter, category: string): boolean {
  if (pattern === undefined) return true;
  const [prefix = '', suffix = ''] = pattern.toLowerCase().split('*');
  const name = category.toLowerCase();
  return name.startsWith(prefix) && name.endsWith(suffix);
}
