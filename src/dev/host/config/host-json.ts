import { defaultTotalMs } from '../../../sql/index.js';
import { type LogFilter, parseLogLevel } from '../log/log-filters.js';
import { type JsonFile, readJsonFile } from './json-file.js';

export interface HostJson {
  /** Without slashes at its ends; empty when functions are at the root. */
  readonly routePrefix: string;
  /** Undefined: no limit, which is the local default. */
  readonly functionTimeoutMs: number | undefined;
  /** HTTP invocations that run at once; the rest waits. */
  readonly maxConcurrentRequests: number | undefined;
  /** HTTP invocations that run or wait; the rest gets 429. */
  readonly maxOutstandingRequests: number | undefined;
  /** Added to each response of a function. */
  readonly customHeaders: Readonly<Record<string, string>>;
  /** `logging.logLevel`. */
  readonly logFilters: readonly LogFilter[];
  /** What is in the file without effect, or has an effect that nobody wants. */
  readonly warnings: readonly string[];
}

/** @throws HostStartError `EJson`, `EConfig` with file and line */
export function readHostJson(appDir: string): HostJson {
  const file = readJsonFile(appDir, 'host.json');
  if (file === undefined) {
    return {
      routePrefix: 'api',
      functionTimeoutMs: undefined,
      maxConcurrentRequests: undefined,
      maxOutstandingRequests: undefined,
      customHeaders: {},
      logFilters: [],
      warnings: ['The app has no host.json; Azure needs one with at least { "version": "2.0" }.'],
    };
  }
  checkVersion(file);
  const http = ['extensions', 'http'];
  return {
    routePrefix: (file.string(...http, 'routePrefix') ?? 'api').replace(/^\/+|\/+$/g, ''),
    functionTimeoutMs: timeoutMs(file),
    maxConcurrentRequests: file.limit(...http, 'maxConcurrentRequests'),
    maxOutstandingRequests: file.limit(...http, 'maxOutstandingRequests'),
    customHeaders: Object.fromEntries(
      [...file.object(...http, 'customHeaders')].map(([name, node]) => {
        if (typeof node.value === 'string') return [name, node.value];
        throw file.wrong(node, [...http, 'customHeaders', name], 'must be a string');
      }),
    ),
    logFilters: logFilters(file),
    warnings: [...misplaced(file), ...shortTimeout(file)],
  };
}

function checkVersion(file: JsonFile): void {
  const version = file.node('version');
  if (version === undefined || version.value === '2.0') return;
  throw file.wrong(version, ['version'], 'must be "2.0", the only version that Functions 2 and later know');
}

/** `hh:mm:ss` or `d.hh:mm:ss`; -1 is no limit. */
function timeoutMs(file: JsonFile): number | undefined {
  const node = file.node('functionTimeout');
  const text = file.string('functionTimeout');
  if (node === undefined || text === undefined || text === '-1') return undefined;
  const match = /^(?:(\d+)\.)?(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?$/.exec(text);
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = (match ?? [])
    .slice(1)
    .map((part) => Number(part ?? 0));
  const ms = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000;
  if (ms > 0) return ms;
  throw file.wrong(node, ['functionTimeout'], 'must be a time such as "00:05:00", or "-1" for no limit');
}

/** A deadline that comes first is an answer with a reason; a host that comes first breaks off a response, in Azure that of every request in its worker. */
function shortTimeout(file: JsonFile): string[] {
  const ms = timeoutMs(file);
  if (ms === undefined || ms >= defaultTotalMs) return [];
  return [
    `${file.path}:${file.node('functionTimeout')?.line}: functionTimeout is ${ms / 1_000} s, less than the ${defaultTotalMs / 1_000} s that a sqlStream may take, so the host can break off its responses. ` +
      `Raise functionTimeout, or give each sqlStream a deadlines.totalMs below ${ms}.`,
  ];
}

function logFilters(file: JsonFile): LogFilter[] {
  const place = ['logging', 'logLevel'];
  return [...file.object(...place)].map(([category, node]) => {
    const level = typeof node.value === 'string' ? parseLogLevel(node.value) : undefined;
    if (level === undefined) {
      const levels = 'Trace, Debug, Information, Warning, Error, Critical or None';
      throw file.wrong(node, [...place, category], `must be ${levels}`);
    }
    if (category.split('*').length > 2) throw file.wrong(node, [...place, category], 'may have one * only');
    return { category: category.toLowerCase() === 'default' ? undefined : category, level };
  });
}

/** Places where people put settings of the HTTP extension, and where the host ignores them. */
function misplaced(file: JsonFile): string[] {
  const names = ['routePrefix', 'maxConcurrentRequests', 'maxOutstandingRequests', 'customHeaders'];
  const places: string[][] = [[], ['http'], ['extensions']];
  return places.flatMap((place) =>
    names.flatMap((name) => {
      const node = file.node(...place, name);
      return node === undefined
        ? []
        : [
            `${file.path}:${node.line}: ${[...place, name].join('.')} has no effect; its place is extensions.http.${name}.`,
          ];
    }),
  );
}
