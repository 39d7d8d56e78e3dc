import type { OffsetDateTime, SqlType, SqlValue } from '../sql-engine.js';
import { findCollation, serverCollation } from '../text/collations.js';
import { fail } from './errors.js';
import { isString } from './types.js';

// The locale is fixed: results must not depend on the machine's.
const collators: Readonly<Record<string, Intl.Collator>> = {
  CI_AS: new Intl.Collator('en', { sensitivity: 'accent' }),
  CS_AS: new Intl.Collator('en', { sensitivity: 'variant', caseFirst: 'false' }),
  CI_AI: new Intl.Collator('en', { sensitivity: 'base' }),
  CS_AI: new Intl.Collator('en', { sensitivity: 'case' }),
};
/** The sensitivities of collations; the names under which SQLite knows them. */
export const sensitivities = [...Object.keys(collators), 'BIN'];

/** CI_AS, CS_AS, CI_AI, CS_AI or BIN; undefined for types other than text. */
export function sensitivityOf(type: SqlType): string | undefined {
  if (!isString(type)) return undefined;
  const collation = type.collation ?? serverCollation;
  return /_BIN2?(_|$)/i.test(collation) ? 'BIN' : /_(C[IS]_A[IS])/i.exec(collation)![1]!.toUpperCase();
}

export function checkCollation(name: string): string {
  return findCollation(name) ? name : fail(448, name);
}

/** Compares as T-SQL does: trailing blanks don't count; case and accents as the collation says. */
export function compareText(sensitivity: string, a: string, b: string): number {
  const [x, y] = [a.endsWith(' ') ? a.replace(/ +$/, '') : a, b.endsWith(' ') ? b.replace(/ +$/, '') : b];
  if (x === y) return 0;
  return sensitivity === 'BIN' ? (x < y ? -1 : 1) : collators[sensitivity]!.compare(x, y);
}

/** Compares two values of one type. */
export function compareValues(type: SqlType, a: SqlValue, b: SqlValue): number {
  const sensitivity = sensitivityOf(type);
  if (sensitivity) return compareText(sensitivity, a as string, b as string);
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array);
  const [x, y] =
    type.name === 'datetimeoffset'
      ? [(a as OffsetDateTime).ticks, (b as OffsetDateTime).ticks]
      : [a as bigint, b as bigint];
  return x < y ? -1 : x > y ? 1 : 0;
}
