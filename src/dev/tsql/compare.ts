import { sensitivityOf } from './codec.js';
import type { OffsetDateTime, SqlType, SqlValue } from './contract.js';
import { serverCollation } from './types.js';

// The locale is fixed: results must not depend on the machine's.
const collators: Readonly<Record<string, Intl.Collator>> = {
  CI_AS: new Intl.Collator('en', { sensitivity: 'accent' }),
  CS_AS: new Intl.Collator('en', { sensitivity: 'variant', caseFirst: 'false' }),
  CI_AI: new Intl.Collator('en', { sensitivity: 'base' }),
  CS_AI: new Intl.Collator('en', { sensitivity: 'case' }),
};

const trim = (text: string): string => (text.endsWith(' ') ? text.replace(/ +$/, '') : text);

/** Compares as T-SQL does: trailing blanks don't count; case and accents as the collation says. */
function compareText(sensitivity: string, a: string, b: string): number {
  const x = trim(a);
  const y = trim(b);
  if (x === y) return 0;
  if (sensitivity === 'BIN') return x < y ? -1 : 1;
  return collators[sensitivity]!.compare(x, y);
}

/** Weights of blank, digits and letters in every collation here; 0 for what needs the full comparison. */
const weights = new Uint8Array(256);
weights[32] = 1;
for (let i = 0; i < 10; i++) weights[48 + i] = 2 + i;
for (let i = 0; i < 26; i++) weights[65 + i] = weights[97 + i] = 12 + i;

/**
 * The same on UTF-8 bytes, for sorting: strings of plain letters and digits are decided without decoding.
 * A primary difference between plain characters decides whatever follows it.
 */
export function compareBytes(sensitivity: string, a: Buffer, b: Buffer): number {
  const n = Math.min(a.length, b.length);
  if (sensitivity === 'CI_AS' || sensitivity === 'CI_AI') {
    let i = 0;
    for (; i < n; i++) {
      const x = weights[a[i]!]!;
      const y = weights[b[i]!]!;
      if (x === 0 || y === 0) break;
      if (x !== y) {
        // A blank may be a trailing one, which is ignored.
        if (x === 1 || y === 1) break;
        return x - y;
      }
    }
    if (i === n && a.length === b.length) return 0;
  }
  return compareText(sensitivity, a.toString('utf8', 0, a.length), b.toString('utf8', 0, b.length));
}

/** Compares two values of one type; null never gets here. */
export function compareValues(type: SqlType, a: NonNullable<SqlValue>, b: NonNullable<SqlValue>): number {
  if (typeof a === 'string' && typeof b === 'string') {
    if (type.name === 'uniqueidentifier') return compareGuids(a, b);
    return compareText(sensitivityOf(type.collation ?? serverCollation), a, b);
  }
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (type.name === 'datetimeoffset') {
    const [x, y] = [(a as OffsetDateTime).ticks, (b as OffsetDateTime).ticks];
    return x < y ? -1 : x > y ? 1 : 0;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareGuids(a: string, b: string): number {
  const key = (guid: string): string => guid.split('-').reverse().join('');
  const swap = (guid: string): string => {
    const [d1, d2, d3, d4, d5] = guid.toUpperCase().split('-') as [string, string, string, string, string];
    const flip = (hex: string): string => hex.match(/../g)!.reverse().join('');
    // The first three groups are little-endian in the bytes that are compared.
    return key([flip(d1), flip(d2), flip(d3), d4, d5].join('-'));
  };
  const [x, y] = [swap(a), swap(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

const likeCache = new Map<string, RegExp>();

/** LIKE: `%`, `_`, `[a-z]`, `[^a-z]` and the escape character; trailing blanks of varchar values don't count. */
export function likeMatches(
  sensitivity: string,
  text: string,
  pattern: string,
  escapeCharacter: string,
  unicode: boolean,
): boolean {
  const key = `${sensitivity}\0${unicode}\0${escapeCharacter}\0${pattern}`;
  let regex = likeCache.get(key);
  if (!regex) {
    regex = new RegExp(
      `^${likeSource(pattern, escapeCharacter)}$`,
      sensitivity.startsWith('CI') ? 'isu' : 'su',
    );
    if (likeCache.size > 500) likeCache.clear();
    likeCache.set(key, regex);
  }
  return regex.test(text);
}

const quote = (c: string): string => c.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');

function likeSource(pattern: string, escapeCharacter: string): string {
  let source = '';
  const chars = [...pattern];
  for (let i = 0; i < chars.length; i++) {
    const c = chars[i]!;
    if (escapeCharacter && c === escapeCharacter && i + 1 < chars.length) source += quote(chars[++i]!);
    else if (c === '%') source += '.*';
    else if (c === '_') source += '.';
    else if (c === '[') {
      const close = chars.indexOf(']', i + 1);
      if (close < 0) return '[]';
      const inner = chars.slice(i + 1, close);
      const not = inner[0] === '^';
      const set = (not ? inner.slice(1) : inner).map((x, j, all) =>
        x === '-' && j > 0 && j < all.length - 1 ? '-' : quote(x),
      );
      source += set.length === 0 ? '[]' : `[${not ? '^' : ''}${set.join('')}]`;
      i = close;
    } else source += quote(c);
  }
  return source;
}
