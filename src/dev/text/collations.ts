/**
 * Collations: their names, their five bytes on the wire and their code pages (MS-TDS 2.2.5.1.2; LCIDs and sort ids as in
 * Transact-SQL's "Windows collation name" and "SQL Server collation name").
 */

export const serverCollation = 'SQL_Latin1_General_CP1_CI_AS';

export interface Collation {
  /** LCID (20 bits), flags (8 bits), version (4 bits), sort id (a byte). */
  readonly bytes: Uint8Array;
  readonly codePage: number;
}

export const utf8CodePage = 65_001;

/** Windows collations by code page: designators and LCID, in hexadecimal. */
const designators: Record<number, string> = {
  874: 'Thai:41e',
  932: 'Japanese/Japanese_XJIS/Japanese_Unicode/Japanese_Bushu_Kakusu:411',
  936: 'Chinese_PRC/Chinese_Simplified_Pinyin/Chinese_PRC_Stroke/Chinese_Simplified_Stroke_Order:804',
  949: 'Korean/Korean_Wansung:412',
  950: `Chinese_Taiwan_Stroke/Chinese_Traditional_Stroke_Count/Chinese_Taiwan_Bopomofo/Chinese_Traditional_Bopomofo:404
    Chinese_Hong_Kong_Stroke:c04 Chinese_Traditional_Pinyin/Chinese_Traditional_Stroke_Order:1404`,
  1250: `Czech:405 Hungarian/Hungarian_Technical:40e Polish:415 Romanian:418 Croatian:41a Slovak:41b
    Albanian:41c Slovenian:424 Turkmen:442 Serbian_Latin:81a Bosnian_Latin:141a`,
  1251: `Cyrillic_General/Cyrillic:419 Ukrainian:422 Macedonian_FYROM:42f Kazakh:43f Tatar:444 Bashkir:46d
    Yakut:485 Azeri_Cyrillic:82c Serbian_Cyrillic:c1a Bosnian_Cyrillic:201a`,
  1252: `Latin1_General:409 Danish_Greenlandic/Danish_Norwegian:406 Traditional_Spanish:40a Finnish_Swedish:40b
    French:40c Icelandic:40f Norwegian:414 Romansh:417 Upper_Sorbian:42e Sami_Norway:43b Welsh:452 Frisian:462
    Mapudungan:47a Mohawk:47c Breton:47e Corsican:483 Sami_Sweden_Finland:83b Tamazight:85f Modern_Spanish:c0a
    German/German_PhoneBook:407 Georgian_Modern_Sort:437`,
  1253: 'Greek:408',
  1254: 'Turkish:41f Azeri_Latin:42c Uzbek_Latin:443',
  1255: 'Hebrew:40d',
  1256: 'Arabic:401 Urdu:420 Persian:429 Uighur:480 Dari:48c',
  1257: 'Estonian:425 Latvian:426 Lithuanian:427',
  1258: 'Vietnamese:42a',
};

/**
 * SQL collations, LCID/name:sort id, without SQL_; the code page is in the name (CP1 is 1252). What ends in it stands for
 * two: with _CS_AS and, at the next sort id, with _CI_AS.
 */
const sqlCollations = `
  409/Latin1_General_CP437_BIN:30 409/Latin1_General_CP437:31 409/Latin1_General_Pref_CP437_CI_AS:33
  409/Latin1_General_CP437_CI_AI:34 409/Latin1_General_CP850_BIN:40 409/Latin1_General_CP850:41
  409/Latin1_General_Pref_CP850_CI_AS:43 409/Latin1_General_CP850_CI_AI:44 409/1xCompat_CP850_CI_AS:49
  409/Latin1_General_CP1:51 409/Latin1_General_Pref_CP1_CI_AS:53 409/Latin1_General_CP1_CI_AI:54
  409/AltDiction_CP850_CS_AS:55 409/AltDiction_Pref_CP850_CI_AS:56 409/AltDiction_CP850_CI_AI:57
  409/Scandinavian_Pref_CP850_CI_AS:58 409/Scandinavian_CP850:59 409/AltDiction_CP850_CI_AS:61
  409/Latin1_General_CP1250:81 405/Czech_CP1250:83 40e/Hungarian_CP1250:85 415/Polish_CP1250:87
  418/Romanian_CP1250:89 41a/Croatian_CP1250:91 41b/Slovak_CP1250:93 424/Slovenian_CP1250:95
  419/Latin1_General_CP1251:105 422/Ukrainian_CP1251:107 408/Latin1_General_CP1253:113
  408/MixDiction_CP1253_CS_AS:120 408/AltDiction_CP1253_CS_AS:121 408/Latin1_General_CP1253_CI_AI:124
  41f/Latin1_General_CP1254:129 40d/Latin1_General_CP1255:137 401/Latin1_General_CP1256:145
  425/Latin1_General_CP1257:153 425/Estonian_CP1257:155 426/Latvian_CP1257:157 427/Lithuanian_CP1257:159
  406/Danish_Pref_CP1_CI_AS:183 41d/SwedishPhone_Pref_CP1_CI_AS:184 41d/SwedishStd_Pref_CP1_CI_AS:185
  40f/Icelandic_Pref_CP1_CI_AS:186`;

const codePageByLcid = new Map<number, number>();
const lcidByDesignator = new Map<string, number>();
for (const [codePage, list] of Object.entries(designators)) {
  for (const entry of list.split(/\s+/)) {
    const [names = '', lcid = ''] = entry.split(':');
    codePageByLcid.set(Number.parseInt(lcid, 16), Number(codePage));
    for (const name of names.split('/')) lcidByDesignator.set(name.toLowerCase(), Number.parseInt(lcid, 16));
  }
}

const sqlByName = new Map<string, { readonly lcid: number; readonly sortId: number }>();
const codePageBySortId = new Map<number, number>();
for (const [, lcid = '', name = '', first = ''] of sqlCollations.matchAll(/(\w+)\/(\w+):(\d+)/g)) {
  const suffixes = /_CP\d+$/.test(name) ? ['_cs_as', '_ci_as'] : [''];
  for (const [index, suffix] of suffixes.entries()) {
    const sortId = Number(first) + index;
    sqlByName.set(`sql_${name.toLowerCase()}${suffix}`, { lcid: Number.parseInt(lcid, 16), sortId });
    const codePage = Number(/_CP(\d+)/.exec(name)?.[1]);
    codePageBySortId.set(sortId, codePage === 1 ? 1252 : codePage);
  }
}

const utf8Flag = 64;
const versions: Record<string, number> = { 90: 1, 100: 2, 140: 3, 160: 4 };

/** Ignore case 1, accents 2, width 4, kana 8; BIN 16, BIN2 32; UTF-8 64. */
function flagsOf(name: string): number {
  const words = new Set(name.split('_'));
  const ifHas = (word: string, yes: number, no = 0): number => (words.has(word) ? yes : no);
  const binary = ifHas('bin', 16) | ifHas('bin2', 32);
  const ignored = ifHas('ci', 1) | ifHas('ai', 2) | ifHas('ws', 0, 4) | ifHas('ks', 0, 8);
  return (binary || ignored) | ifHas('utf8', utf8Flag);
}

/** A designator, a version, and what the order looks at ("Windows collation name"). */
const windowsName =
  /^(.+?)(?:_(90|100|140|160))?_(?:c[is]_a[is](?:_ks)?(?:_ws)?(?:_vss)?(?:_sc)?(?:_utf8)?|bin2?(?:_utf8)?)$/;

function make(name: string): Collation | undefined {
  const sql = sqlByName.get(name);
  const [, designator = '', version = ''] = windowsName.exec(name) ?? [];
  const lcid = sql?.lcid ?? lcidByDesignator.get(designator);
  if (lcid === undefined) return undefined;
  const flags = flagsOf(name);
  const bits = lcid | (flags << 20);
  const top = ((flags >> 4) & 0x0f) | ((versions[version] ?? 0) << 4);
  const bytes = Uint8Array.of(bits, bits >> 8, (bits >> 16) & 0xff, top, sql?.sortId ?? 0);
  return { bytes, codePage: codePageOf(bytes) };
}

/** By lower-case name. Only names that there are: others would fill the memory. */
const byName = new Map<string, Collation>();

/** The collation of a name, in whichever case; undefined for a name that there is not. */
export function findCollation(name: string): Collation | undefined {
  const key = name.toLowerCase();
  const collation = byName.get(key) ?? make(key);
  if (collation) byName.set(key, collation);
  return collation;
}

const ofServer = findCollation(serverCollation)!;

/** The collation of a name or of five bytes in hexadecimal; that of the server for a name that is unknown or absent. */
export function collationOf(name: string = serverCollation): Collation {
  if (!/^[0-9a-f]{10}$/.test(name)) return findCollation(name) ?? ofServer;
  const bytes = Buffer.from(name, 'hex');
  return { bytes, codePage: codePageOf(bytes) };
}

/** What `collationOf` knows five bytes by; undefined for the server's collation, and for zeros, which stand for it. */
export function collationNameOf(bytes: Uint8Array): string | undefined {
  const isServers = Buffer.compare(bytes, collationOf().bytes) === 0 || bytes.every((byte) => byte === 0);
  return isServers ? undefined : Buffer.from(bytes).toString('hex');
}

/** The code page that text of a collation, given by its five bytes, is written in. */
export function codePageOf(bytes: Uint8Array): number {
  if ((bytes[3]! & (utf8Flag >> 4)) !== 0) return utf8CodePage;
  const sortId = bytes[4]!;
  if (sortId !== 0) return codePageBySortId.get(sortId) ?? 1252;
  return codePageByLcid.get(bytes[0]! | (bytes[1]! << 8)) ?? 1252;
}
