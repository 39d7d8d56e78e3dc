const zero = 0x30;
const billion = 1_000_000_000;

/** `00` to `99`, as words of two bytes for a little-endian store. */
const pairs = Uint16Array.from(
  { length: 100 },
  (_, value) => zero + ((value / 10) | 0) + ((zero + (value % 10)) << 8),
);

/** Writes a number from 0 to 99 as two digits; returns where they end. */
export function writePair(target: DataView, at: number, value: number): number {
  target.setUint16(at, pairs[value]!, true);
  return at + 2;
}

/** Digits of a whole number below 10^9. */
export function countDigits(value: number): number {
  if (value < 1_000) return value < 10 ? 1 : value < 100 ? 2 : 3;
  if (value < 1_000_000) return value < 10_000 ? 4 : value < 100_000 ? 5 : 6;
  return value < 10_000_000 ? 7 : value < 100_000_000 ? 8 : 9;
}

/** Writes the last `digits` digits of a whole number below 10^9, with zeros before a shorter one; returns where they end. */
export function writeDigits(target: DataView, at: number, value: number, digits: number): number {
  let rest = value | 0;
  let from = at + digits;
  for (; from >= at + 2; from -= 2) {
    const next = (rest / 100) | 0;
    target.setUint16(from - 2, pairs[rest - next * 100]!, true);
    rest = next;
  }
  if (from > at) target.setUint8(at, zero + rest);
  return at + digits;
}

/** Writes a whole number up to 2^53; returns where it ends. */
function writeSafe(target: DataView, at: number, value: number): number {
  if (value < billion) return writeDigits(target, at, value, countDigits(value));
  const upper = Math.floor(value / billion);
  return writeDigits(target, writeDigits(target, at, upper, countDigits(upper)), value - upper * billion, 9);
}

/** Writes a whole number of 64 bits, given as two of 32 without sign; returns where it ends. A BigInt would take ten times as long. */
export function writeWhole(target: DataView, at: number, high: number, low: number): number {
  if (high < 0x200000) return writeSafe(target, at, high * 4_294_967_296 + low);
  // Long division by 10^9, the last 32 bits in two halves, so that each remainder with what comes next is exact as a double.
  const first = Math.floor(high / billion);
  const second = (high - first * billion) * 65_536 + (low >>> 16);
  const third = (second % billion) * 65_536 + (low & 0xffff);
  const quotient = (first * 65_536 + Math.floor(second / billion)) * 65_536 + Math.floor(third / billion);
  const remainder = third % billion;
  return writeDigits(target, writeSafe(target, at, quotient), remainder, 9);
}
