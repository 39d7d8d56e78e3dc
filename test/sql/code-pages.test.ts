import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { codePageNamed } from '../../src/sql/rows/code-pages.js';

const file = new URL('../fixtures/sql/code-pages.json.gz', import.meta.url);
/** What .NET decodes; see code-pages.cs there. */
const pages = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Record<string, string>;

function* codesOf(text: string): Generator<number[]> {
  if (text.length === 128) for (let byte = 128; byte < 256; byte++) yield [byte];
  else
    for (let lead = 0x81; lead < 0xff; lead++)
      for (let trail = 0x30; trail < 0xff; trail++) yield [lead, trail];
}

test.each(Object.entries(pages))('%s is decoded as .NET decodes it', (name, text) => {
  const { decode, table } = codePageNamed(name);
  expect(table === undefined).toBe(text.length !== 128);
  const wrong: string[] = [];
  let at = 0;
  let defined = 0;
  for (const code of codesOf(text)) {
    const expected = text[at++]!;
    if (expected === '\ufffd') continue;
    defined++;
    const bytes = Buffer.from([0x41, ...code, 0x42]);
    if (decode(bytes) !== `A${expected}B`)
      wrong.push(`${bytes.toString('hex')} is ${expected}, not ${decode(bytes)}`);
  }
  expect(wrong).toEqual([]);
  expect(defined).toBeGreaterThan(text.length === 128 ? 110 : 7_000);
});

test('UTF-8 collations keep a byte order mark, and show what is no UTF-8', () => {
  const { decode } = codePageNamed('utf-8');
  expect(decode(Buffer.from('\ufeffé😀'))).toBe('\ufeffé😀');
  expect(decode(Buffer.from([0x61, 0xff, 0x62]))).toBe('a\ufffdb');
});

test.each([...Object.keys(pages), 'utf-8'])('%s has ASCII as it is', (name) => {
  const ascii = String.fromCharCode(...Array.from({ length: 128 }, (_, code) => code));
  expect(codePageNamed(name).decode(Buffer.from(ascii, 'latin1'))).toBe(ascii);
});
