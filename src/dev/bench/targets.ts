import { mostTransactionsPerSecond, type RequestFigures } from './requests.js';
import { mebibyte, numberText } from './table.js';
import type { PathFigures } from './throughput.js';

/** What a figure should be at least or at most. */
export interface Target {
  readonly name: string;
  readonly value: number;
  readonly least?: number;
  readonly most?: number;
  readonly unit?: string;
  /** What the value can be at most, whatever is measured. */
  readonly ceiling?: { readonly value: number; readonly reason: string };
}

export function isReached({ value, least = -Infinity, most = Infinity }: Target): boolean {
  return value >= least && value <= most;
}

/** A target that is missed where it can't be reached says so: it is no finding about what was measured. */
export function targetLine(target: Target): string {
  const { name, value, least, most, unit = '' } = target;
  const wanted = least === undefined ? `at most ${numberText(most!, 2)}` : `at least ${numberText(least, 2)}`;
  return `${name}: ${numberText(value, 2)}${unit} (${wanted}${unit}), ${isReached(target) ? 'reached' : `MISSED${ceilingText(target)}`}`;
}

function ceilingText({ least, ceiling, unit = '' }: Target): string {
  if (least === undefined || ceiling === undefined || ceiling.value >= least) return '';
  return `; at most ${numberText(ceiling.value, 2)}${unit} possible: ${ceiling.reason}`;
}

/** Ratios of medians of the same run, against mssql's stream. */
export function throughputTargets(figures: readonly PathFigures[]): Target[] {
  const find = (path: PathFigures['path']) => figures.find((one) => one.path === path);
  const [respond, rows, stream] = [find('respond'), find('rows'), find('mssql-stream')];
  const targets: Target[] = [];
  if (respond && stream) {
    targets.push(
      {
        name: 'respond(), rows/s to mssql stream',
        value: respond.rowsPerSecond.median / stream.rowsPerSecond.median,
        least: 10,
      },
      {
        name: 'respond(), CPU to mssql stream',
        value: respond.cpuSecondsPerMillion.median / stream.cpuSecondsPerMillion.median,
        most: 1 / 8,
      },
    );
  }
  if (rows && stream) {
    targets.push({
      name: 'rows(), rows/s to mssql stream',
      value: rows.rowsPerSecond.median / stream.rowsPerSecond.median,
      least: 3,
    });
  }
  if (respond) {
    targets.push(peakTarget('respond(), peak RSS', respond.peakRssBytes.max), {
      name: 'respond(), event-loop delay p99',
      value: respond.loopP99Ms,
      most: 20,
      unit: ' ms',
    });
  }
  return targets;
}

export function peakTarget(name: string, bytes: number): Target {
  return { name, value: bytes / mebibyte, most: 130, unit: ' MiB' };
}

/**
 * Of one number of users. CPU is less that of the empty handler, so that what the platform costs is not in the ratio.
 * How many transactions the users make has an end, and mssql may be so near it that nothing can be faster by as much
 * as is wanted.
 */
export function requestTargets(figures: readonly RequestFigures[]): Target[] {
  const find = (name: RequestFigures['name']) => figures.find((one) => one.name === name);
  const [ours, theirs, empty] = [find('blog-ours'), find('blog-mssql'), find('blog-empty')];
  if (!ours || !theirs || !empty) return [];
  const above = ({ cpuMsPerRequest }: RequestFigures) =>
    cpuMsPerRequest.median - empty.cpuMsPerRequest.median;
  const { users } = theirs;
  const most = mostTransactionsPerSecond(users);
  return [
    {
      name: `CPU per request to mssql at ${numberText(users)} users, both less the empty handler`,
      // In a short run mssql may seem to cost less than nothing; a ratio to that would be reached by any cost.
      value: above(theirs) > 0 ? above(ours) / above(theirs) : Number.NaN,
      most: 0.6,
    },
    {
      name: `transactions/s to mssql at ${numberText(users)} users`,
      value: ours.transactionsPerSecond.median / theirs.transactionsPerSecond.median,
      least: 1.15,
      ceiling: {
        value: most / theirs.transactionsPerSecond.median,
        reason: `${numberText(users)} users of a one-second procedure make at most ${numberText(most)}/s`,
      },
    },
  ];
}
