import { overlap, type RunFigures, type Spread, spreadOf } from './logger-statistics.js';

const rows: readonly { readonly key: keyof RunFigures; readonly label: string; readonly digits: number }[] = [
  { key: 'requestsPerSecond', label: 'requests/s', digits: 0 },
  { key: 'mean', label: 'mean, ms', digits: 2 },
  { key: 'p50', label: 'p50, ms', digits: 2 },
  { key: 'p75', label: 'p75, ms', digits: 2 },
  { key: 'p90', label: 'p90, ms', digits: 2 },
  { key: 'p99', label: 'p99, ms', digits: 2 },
];

/** A table of medians with their spread (least to most) for both settings, and what it says. */
export function reportLines(cached: readonly RunFigures[], uncached: readonly RunFigures[]): string[] {
  const lines = [
    'median (least - most)'.padEnd(24) + 'with the cache'.padStart(26) + 'without'.padStart(26),
    ...rows.map(({ key, label, digits }) => {
      const text = (runs: readonly RunFigures[]) => spreadText(spread(runs, key), digits).padStart(26);
      return label.padEnd(24) + text(cached) + text(uncached);
    }),
    '',
  ];
  return [...lines, ...verdict(cached, uncached)];
}

function verdict(cached: readonly RunFigures[], uncached: readonly RunFigures[]): string[] {
  const apart = rows.filter(({ key }) => !overlap(spread(cached, key), spread(uncached, key)));
  if (apart.length === 0) {
    return [
      'The difference is within noise: for every figure the spreads of the two settings overlap, so these runs show no',
      'effect of the logger cache.',
    ];
  }
  const same = rows.filter((row) => !apart.includes(row)).map(({ label }) => label.split(',')[0]);
  return [
    ...apart.map(({ key, label }) => {
      const change = (spread(cached, key).median / spread(uncached, key).median - 1) * 100;
      const sense = key === 'requestsPerSecond' ? change > 0 : change < 0;
      return `${label.split(',')[0]}: the cache makes it ${sense ? 'better' : 'worse'} (${change > 0 ? '+' : ''}${change.toFixed(1)} %); the spreads do not overlap.`;
    }),
    ...(same.length === 0 ? [] : [`Within noise, since the spreads overlap: ${same.join(', ')}.`]),
  ];
}

function spread(runs: readonly RunFigures[], key: keyof RunFigures): Spread {
  return spreadOf(runs.map((run) => run[key]));
}

function spreadText({ median, min, max }: Spread, digits: number): string {
  const text = (value: number) =>
    value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${text(median)} (${text(min)} - ${text(max)})`;
}
