/**
 * Code page 949, Unified Hangul Code: EUC-KR (KS X 1001) and the 8,822 Hangul syllables that it lacks. Some releases of Node.js decode only the former, whatever
 * the label. The extension needs no table of its own: the missing syllables stand in the order of Unicode in the places left free, by lead byte, then trail byte.
 */
const firstSyllable = 0xac00;
const lastSyllable = 0xd7a3;
const replacement = 0xfffd;

function isFreeTrail(lead: number, trail: number): boolean {
  const isLetter = (trail >= 0x41 && trail <= 0x5a) || (trail >= 0x61 && trail <= 0x7a);
  return isLetter || (trail >= 0x81 && trail <= (lead <= 0xa0 ? 0xfe : 0xa0));
}

function makeTable(): Uint16Array {
  const table = new Uint16Array(0x10000).fill(replacement);
  const decoder = new TextDecoder('euc-kr');
  const present = new Set<number>();
  for (let lead = 0xa1; lead <= 0xfe; lead++) {
    for (let trail = 0xa1; trail <= 0xfe; trail++) {
      const text = decoder.decode(Uint8Array.of(lead, trail));
      if (text.length !== 1) continue;
      table[(lead << 8) | trail] = text.charCodeAt(0);
      present.add(text.charCodeAt(0));
    }
  }
  // Added to the standard in 1998; older tables lack them.
  table[0xa2e6] = 0x20ac;
  table[0xa2e7] = 0xae;
  let syllable = firstSyllable;
  for (let lead = 0x81; lead <= 0xc6; lead++) {
    for (let trail = 0x41; trail <= 0xfe; trail++) {
      if (!isFreeTrail(lead, trail)) continue;
      while (present.has(syllable)) syllable++;
      if (syllable > lastSyllable) return table;
      table[(lead << 8) | trail] = syllable++;
    }
  }
  return table;
}

let table: Uint16Array | undefined;

export function decodeKorean(bytes: Buffer): string {
  table ??= makeTable();
  const units: number[] = [];
  let text = '';
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte < 0x81 || byte === 0xff || at + 1 >= bytes.length) units.push(byte < 0x81 ? byte : replacement);
    else units.push(table[(byte << 8) | bytes[++at]!]!);
    if (units.length >= 8_192) text += String.fromCharCode(...units.splice(0));
  }
  return text + String.fromCharCode(...units);
}
