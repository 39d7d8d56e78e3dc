import type { Spread } from './statistics.js';

/** A Markdown table, padded so that it also reads well in a terminal; the first column is text, the others numbers. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, index) =>
    Math.max(4, ...[title, ...rows.map((row) => row[index] ?? '')].map((cell) => cell.length)),
  );
  const pad = (cell: string, index: number) =>
    index === 0 ? cell.padEnd(widths[index]!) : cell.padStart(widths[index]!);
  const line = (cells: readonly string[]) =>
    `| ${header.map((_, i) => pad(cells[i] ?? '', i)).join(' | ')} |`;
  const rule = `|${widths.map((width, i) => (i === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(header), rule, ...rows.map(line)].join('\n');
}

/** `616,000 (590,000-640,000)`; without the spread when there was one run, or when it can't be seen. */
export function spreadText({ median, min, max }: Spread, digits = 0): string {
  const [middle, low, high] = [median, min, max].map((value) => numberText(value, digits));
  return low === high ? `${middle}` : `${middle} (${low}-${high})`;
}

/** Memory is counted as the kernel and Node.js count it. */
export const mebibyte = 1_048_576;

export function numberText(value: number, digits = 0): string {
  if (Number.isNaN(value)) return '-';
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
