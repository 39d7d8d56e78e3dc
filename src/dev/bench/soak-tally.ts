import type { Outcome, Result } from './soak-user.js';
import { numberText } from './table.js';

const shown = 20;

/** Counts how requests ended. */
export class Tally {
  readonly #counts: Record<Outcome, number> = { whole: 0, refused: 0, broken: 0, left: 0, violation: 0 };
  readonly #refusals = new Map<string, number>();
  readonly #violations = new Map<string, number>();

  add({ outcome, detail }: Result): void {
    this.#counts[outcome]++;
    const details =
      outcome === 'refused' ? this.#refusals : outcome === 'violation' ? this.#violations : undefined;
    details?.set(detail, (details.get(detail) ?? 0) + 1);
  }

  count(outcome: Outcome): number {
    return this.#counts[outcome];
  }

  text(): string {
    const { whole, refused, broken, left, violation } = this.#counts;
    const codes = [...this.#refusals].map(([code, count]) => `${code}: ${count}`).join(', ');
    return (
      `${numberText(whole)} whole, ${numberText(left)} left by their clients, ${numberText(broken)} broken off, ` +
      `${numberText(refused)} refused${codes && ` (${codes})`}, ${violation} wrong`
    );
  }

  /** The first of them, and that there was something to judge at all. */
  violations(): string[] {
    const lines = [...this.#violations].slice(0, shown).map(([detail, count]) => `${count} times ${detail}`);
    if (this.#violations.size > shown) lines.push(`and ${this.#violations.size - shown} more kinds`);
    if (this.#counts.whole === 0) lines.push('not one body came whole');
    return lines;
  }
}
