import type { ByteWriter } from './byte-writer.js';
import { utf8CodePage } from './collations.js';

/** Names of Windows code pages in the WHATWG Encoding Standard, where they are not `windows-N`. */
const labels: Record<number, string> = { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5' };

/** Bytes 0x80 to 0xFF of the two that TextDecoder lacks (unicode.org, "CP437.TXT" and "CP850.TXT"). */
const upperHalf: Record<number, string> = {
  437: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  850: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
};

interface CodePage {
  decode(bytes: Uint8Array): string;
  /** Bytes of each UTF-16 unit, one or two; 0 where the code page has none. */
  readonly encoding: Uint16Array;
}

const replacement = '?'.charCodeAt(0);
const codePages = new Map<number, CodePage>();

/** Tables are made from the decoder when a code page is first used: all bytes, and all pairs where it has pairs. */
function codePage(number: number): CodePage {
  const known = codePages.get(number);
  if (known) return known;
  const upper = upperHalf[number];
  const decoder = upper
    ? undefined
    : new TextDecoder(labels[number] ?? `windows-${number}`, { ignoreBOM: true });
  const encoding = new Uint16Array(65_536);
  const put = (text: string, code: number): void => {
    if (text.length !== 1 || text === '\ufffd') return;
    const unit = text.charCodeAt(0);
    if (encoding[unit] === 0) encoding[unit] = code;
  };
  const one = (byte: number): string =>
    byte < 0x80 ? String.fromCharCode(byte) : (upper?.[byte - 0x80] ?? decoder!.decode(Uint8Array.of(byte)));
  for (let byte = 0; byte < 256; byte++) put(one(byte), byte);
  if (labels[number]) {
    for (let lead = 0x81; lead < 0xff; lead++) {
      for (let trail = 0x40; trail < 0xff; trail++)
        put(decoder!.decode(Uint8Array.of(lead, trail)), (lead << 8) | trail);
    }
  }
  const decode = decoder
    ? (bytes: Uint8Array) => decoder.decode(bytes)
    : (bytes: Uint8Array) => Array.from(bytes, one).join('');
  const made = { decode, encoding };
  codePages.set(number, made);
  return made;
}

export function decodeText(bytes: Buffer, number: number): string {
  return number === utf8CodePage ? bytes.toString('utf8') : codePage(number).decode(bytes);
}

/** Writes text in a code page; what it lacks becomes a question mark, as in SQL Server. */
export function encodeText(writer: ByteWriter, text: string, number: number): void {
  const size = text.length;
  if (number === utf8CodePage) {
    const at = writer.claim(3 * size);
    writer.length = at + writer.buffer.write(text, at, 'utf8');
    return;
  }
  const { encoding } = codePage(number);
  const at = writer.claim(2 * size);
  const { buffer } = writer;
  let to = at;
  for (let index = 0; index < size; index++) {
    const unit = text.charCodeAt(index);
    const code = unit === 0 ? 0 : encoding[unit]! || replacement;
    if (code > 0xff) buffer[to++] = code >> 8;
    buffer[to++] = code;
    // A pair of surrogates is one character, so one question mark.
    if (unit >= 0xd800 && unit < 0xdc00 && index + 1 < size) index++;
  }
  writer.length = to;
}
