import { utf8CodePage } from './collations.js';

/** Names of Windows code pages in the WHATWG Encoding Standard, where they are not `windows-N`. */
const labels: Record<number, string> = { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5' };

/**
 * Bytes from 0x80 of code pages that TextDecoder lacks (unicode.org, "CP437.TXT" and "CP850.TXT"), and the first 32
 * of 1252, which Node 20 decodes as Latin-1.
 */
const upperHalf: Record<number, string> = {
  437: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  850: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  1252: '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ',
};

interface CodePage {
  decode(bytes: Uint8Array): string;
  /** Bytes of each UTF-16 unit, one or two; 0 where the code page has none. */
  readonly encoding: Uint16Array;
}

const replacement = '?'.charCodeAt(0);
const unknown = '\ufffd';
const codePages = new Map<number, CodePage>();

/** ICU has three control characters of 932 in a circle, as IBM's code page does. */
const circle: Record<string, string> = { '\u001c': '\u001a', '\u007f': '\u001c', '\u001a': '\u007f' };

/** Bytes that are characters alone, then pairs. */
function pairDecoder(number: number): (bytes: Uint8Array) => string {
  const decoder = new TextDecoder(labels[number], { ignoreBOM: true });
  if (number !== 932) return (bytes) => decoder.decode(bytes);
  return (bytes) => decoder.decode(bytes).replace(/\p{Cc}/gu, (control) => circle[control] ?? control);
}

function singleDecoder(number: number): (bytes: Uint8Array) => string {
  const known = upperHalf[number] ?? '';
  const rest = Uint8Array.from({ length: 128 - known.length }, (_, index) => 128 + known.length + index);
  const upper = known + (rest.length > 0 ? new TextDecoder(`windows-${number}`).decode(rest) : '');
  return (bytes) => {
    const units = Buffer.allocUnsafe(2 * bytes.length);
    for (const [index, byte] of bytes.entries()) {
      units.writeUInt16LE(byte < 128 ? byte : upper.charCodeAt(byte - 128), 2 * index);
    }
    return units.toString('utf16le');
  };
}

/** Tables are made from the decoder when a code page is first used: all bytes, and all pairs where it has pairs. */
function codePage(number: number): CodePage {
  const known = codePages.get(number);
  if (known) return known;
  const hasPairs = labels[number] !== undefined;
  const decode = hasPairs ? pairDecoder(number) : singleDecoder(number);
  const encoding = new Uint16Array(65_536);
  const put = (code: number, ...bytes: number[]): void => {
    const text = decode(Uint8Array.from(bytes));
    const unit = text.charCodeAt(0);
    if (text.length === 1 && text !== unknown && encoding[unit] === 0) encoding[unit] = code;
  };
  for (let byte = 0; byte < 256; byte++) put(byte, byte);
  for (let lead = 0x81; hasPairs && lead < 0xff; lead++) {
    for (let trail = 0x40; trail < 0xff; trail++) put((lead << 8) | trail, lead, trail);
  }
  const made = { decode, encoding };
  codePages.set(number, made);
  return made;
}

export function decodeText(bytes: Buffer, number: number): string {
  return number === utf8CodePage ? bytes.toString('utf8') : codePage(number).decode(bytes);
}

/** Bytes that a text takes in a code page, and the first of its characters that the code page has not. */
export function measure(text: string, number: number): { readonly size: number; readonly lacking?: string } {
  if (!/[^\0-\x7f]/.test(text)) return { size: text.length };
  if (number === utf8CodePage) {
    const [lacking] = /\p{Surrogate}/u.exec(text) ?? [];
    return { size: Buffer.byteLength(text), ...(lacking && { lacking }) };
  }
  const { encoding } = codePage(number);
  let size = 0;
  let lacking: string | undefined;
  for (const character of text) {
    const code = character.length === 1 ? encoding[character.charCodeAt(0)]! : 0;
    if (code === 0 && character !== '\0') lacking ??= character;
    size += code > 0xff ? 2 : 1;
  }
  return { size, ...(lacking && { lacking }) };
}

/** Where bytes are written. */
interface Sink {
  readonly buffer: Buffer;
  length: number;
  claim(size: number): number;
}

/** Writes text in a code page; what it lacks becomes a question mark, as in SQL Server. */
export function encodeText(writer: Sink, text: string, number: number): void {
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
