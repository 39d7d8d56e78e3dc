/** Values at random, against what JavaScript itself makes of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { binary } from '../../src/sql/rows/bytes.js';
import { codePageNamed } from '../../src/sql/rows/code-pages.js';
import type { Codec } from '../../src/sql/rows/codec.js';
import { datetime2 } from '../../src/sql/rows/dates.js';
import { JsonOutput } from '../../src/sql/rows/json-output.js';
import { bigint, decimal, float, integer, money } from '../../src/sql/rows/numbers.js';
import { encoded, utf16 } from '../../src/sql/rows/text.js';
import { decimalBytes } from '../helpers/sql-values.js';

/** What is written between two bytes that must stay, wherever in a slab it begins. */
function jsonOf(codec: Codec, bytes: Buffer, output = new JsonOutput()): string {
  output.ascii('<');
  codec.json(bytes, 0, bytes.length, output);
  output.ascii('>');
  output.endRow();
  output.flush();
  const parts: Uint8Array[] = [];
  for (let part = output.takeReady(); part !== undefined; part = output.takeReady()) parts.push(part);
  const text = Buffer.concat(parts).toString();
  expect([text[0], text.at(-1)]).toEqual(['<', '>']);
  return text.slice(1, -1);
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc
    .array(
      fc.constantFrom('"', '\\', '\n', '\u0000', '\u001f', '\u007f', 'é', '\u2028', '\ud83d', '\ude00', 'a'),
    )
    .map((units) => units.join('')),
);

test('nvarchar is written as JSON.stringify writes it, and is the same text in a row', () => {
  const output = new JsonOutput();
  fc.assert(
    fc.property(anyText, (text) => {
      const bytes = Buffer.from(text, 'utf16le');
      expect(jsonOf(utf16, bytes, output)).toBe(JSON.stringify(text));
      expect(utf16.value(bytes, 0, bytes.length)).toBe(text);
    }),
    { numRuns: 2_000 },
  );
});

test('so are texts over several slabs', () => {
  for (const unit of ['a', '\u0001', '😀', '\ud800', 'aé']) {
    const text = unit.repeat(150_000);
    expect(jsonOf(utf16, Buffer.from(text, 'utf16le')) === JSON.stringify(text), unit).toBe(true);
  }
});

test.each(['CP1252', 'CP1251', 'CP437', 'CP932', 'CP949', 'utf-8'])(
  'varchar of %s is written as what it decodes to',
  (name) => {
    const page = codePageNamed(name);
    const codec = encoded(page);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (array) => {
        const bytes = Buffer.from(array);
        expect(jsonOf(codec, bytes)).toBe(JSON.stringify(page.decode(bytes)));
      }),
      { numRuns: 500 },
    );
  },
);

test('numbers have all their digits', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(value);
      expect(jsonOf(bigint('number'), bytes)).toBe(String(value));
      const swapped = Buffer.concat([bytes.subarray(4), bytes.subarray(0, 4)]);
      const digits = String(value < 0n ? -value : value).padStart(5, '0');
      const expected = `${value < 0n ? '-' : ''}${digits.slice(0, -4)}.${digits.slice(-4)}`;
      expect(jsonOf(money('number', 'string'), swapped)).toBe(expected);
      expect(money('number', 'string').value(swapped, 0, 8)).toBe(expected);
    }),
    { numRuns: 1_000 },
  );
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (value) => {
      const bytes = Buffer.alloc(4);
      bytes.writeInt32LE(value);
      expect(jsonOf(integer, bytes)).toBe(String(value));
    }),
  );
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }),
      fc.integer({ min: 0, max: 38 }),
      fc.boolean(),
      (value, scale, isNegative) => {
        const digits = String(value).padStart(scale + 1, '0');
        const unsigned = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
        const text = isNegative && value !== 0n ? `-${unsigned}` : unsigned;
        const bytes = decimalBytes(text, 16).subarray(1);
        expect(jsonOf(decimal(scale, 'number', 'string'), bytes)).toBe(text);
        expect(decimal(scale, 'string', 'string').value(bytes, 0, 17)).toBe(text);
      },
    ),
    { numRuns: 1_000 },
  );
});

test('float and real read back equal', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(value);
      const json = jsonOf(float, bytes);
      expect(json).toBe(JSON.stringify(value));
    }),
    { numRuns: 1_000 },
  );
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const bytes = Buffer.alloc(4);
      bytes.writeFloatLE(value);
      const json = jsonOf(float, bytes);
      expect(Math.fround(Number(json)) === value).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test('datetime2 is the ISO text of a Date, through all years', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: Date.parse('0001-01-01T00:00:00Z'), max: Date.parse('9999-12-31T23:59:59.999Z') }),
      (ms) => {
        const sinceYear1 = ms - Date.parse('0001-01-01T00:00:00Z');
        const bytes = Buffer.alloc(8);
        bytes.writeUIntLE((sinceYear1 % 86_400_000) * 10_000, 0, 5);
        bytes.writeUIntLE(Math.floor(sinceYear1 / 86_400_000), 5, 3);
        expect(jsonOf(datetime2(7), bytes)).toBe(JSON.stringify(new Date(ms)));
      },
    ),
    { numRuns: 3_000 },
  );
});

test('binary is base64, over several slabs too', () => {
  for (const length of [0, 1, 2, 3, 12_287, 12_288, 12_289, 300_000]) {
    const bytes = Buffer.from(Array.from({ length }, (_, index) => (index * 7) & 0xff));
    expect(jsonOf(binary, bytes) === `"${bytes.toString('base64')}"`, String(length)).toBe(true);
  }
});
