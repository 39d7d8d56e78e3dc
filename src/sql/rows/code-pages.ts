import { decodeKorean } from './korean.js';

/**
 * Bytes 0x80 to 0xFF of the code pages that TextDecoder can't be asked for: 437 and 850 are no WHATWG encodings, and some releases of Node.js
 * decode windows-1252 as ISO 8859-1.
 */
const upperHalf: Record<string, string> = {
  CP437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  CP850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  CP1252:
    '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ\u00a0¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ',
};

/** The WHATWG names of Windows code pages (encoding.spec.whatwg.org, "Names and labels"). */
const labels: Record<string, string> = {
  CP874: 'windows-874',
  CP932: 'shift_jis',
  CP936: 'gbk',
  CP950: 'big5',
};

/** Node's shift_jis gives three control characters for each other, as an old code page of IBM has them. */
const turned: Record<string, string> = { '\x1c': '\x1a', '\x7f': '\x1c', '\x1a': '\x7f' };
const turnedPattern = new RegExp(`[${Object.keys(turned).join('')}]`, 'g');

const singleByte = /^CP(437|850|874|125[0-8])$/;

function makeTable(name: string): Uint16Array {
  const table = new Uint16Array(256);
  for (let byte = 0; byte < 128; byte++) table[byte] = byte;
  const upper =
    upperHalf[name] ??
    new TextDecoder(labels[name] ?? `windows-${name.slice(2)}`).decode(
      Uint8Array.from({ length: 128 }, (_, index) => 128 + index),
    );
  for (let index = 0; index < 128; index++) table[128 + index] = upper.charCodeAt(index);
  // HOLAM HASER FOR VAV, which Windows has and the WHATWG's table leaves out.
  if (name === 'CP1255') table[0xca] = 0x5ba;
  return table;
}

export interface CodePage {
  /** The UTF-16 unit of each byte; only of code pages where one byte is one character. */
  readonly table: Uint16Array | undefined;
  decode(bytes: Buffer): string;
}

function fromTable(table: Uint16Array): CodePage {
  return {
    table,
    decode(bytes) {
      const units = Buffer.allocUnsafe(2 * bytes.length);
      for (let index = 0; index < bytes.length; index++)
        units.writeUInt16LE(table[bytes[index]!]!, 2 * index);
      return units.toString('utf16le');
    },
  };
}

function make(name: string): CodePage {
  if (singleByte.test(name)) return fromTable(makeTable(name));
  if (name === 'CP949') return { table: undefined, decode: decodeKorean };
  if (name === 'utf-8') return { table: undefined, decode: (bytes) => bytes.toString('utf8') };
  const label = labels[name];
  if (label === undefined) return make('CP1252');
  const decoder = new TextDecoder(label);
  const decode = (bytes: Buffer) => decoder.decode(bytes);
  if (name !== 'CP932') return { table: undefined, decode };
  return {
    table: undefined,
    decode: (bytes) => decode(bytes).replace(turnedPattern, (found) => turned[found]!),
  };
}

const cache = new Map<string, CodePage>();

/** Named as tedious names the code page of a collation: `CP1252`, `utf-8`. One that it does not know is read as CP1252. */
export function codePageNamed(name = 'CP1252'): CodePage {
  let page = cache.get(name);
  if (page === undefined) {
    page = make(name);
    cache.set(name, page);
  }
  return page;
}
