/** Parameters that can't be: by whichever of its bytes, each is an error of its own, or the end of its connection alone. */
import { afterAll, expect, test } from 'vitest';
import { within } from '../../helpers/run.js';
import { TestEngine } from '../../helpers/tds-engine.js';
import { allHeaders, batch, packets } from '../../helpers/tds-raw-client.js';
import { serveRawClient } from '../../helpers/tds-server.js';

const lines: string[] = [];
const wire = serveRawClient(new TestEngine(), {}, { log: (line) => lines.push(line) });
const { send } = wire;
afterAll(() => {
  expect(lines.filter((line) => line.includes('Internal error'))).toEqual([]);
});

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const parameter = (typeInfo: string, value: string) =>
  Buffer.concat([allHeaders, hex('ffff 0a00 0000'), hex(`00 00 ${typeInfo} ${value}`)]);
/** A sql_variant with an `inner` type of these properties. */
const variant = (inner: string, properties: string, value: string) => {
  const content = hex(
    `${inner} ${hex(properties).length.toString(16).padStart(2, '0')} ${properties} ${value}`,
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(content.length);
  return parameter('62 49 1f 00 00', Buffer.concat([length, content]).toString('hex'));
};
const supplied = 'Parameter 1 (""): The supplied';
test.each<[string, Buffer, number, string]>([
  ['an unknown type', parameter('99', '00'), 8009, 'Data type 0x99 is unknown.'],
  ['a length that the type has not', parameter('26 03', '00'), 8016, '0x26 has an invalid data length'],
  [
    'a value longer than its type',
    parameter('a5 0200', '0300 010203'),
    8016,
    '0xA5 has an invalid data length',
  ],
  [
    'a decimal of precision 39',
    parameter('6a 11 27 00', '00'),
    8017,
    '0x6A has an invalid precision or scale.',
  ],
  ['a decimal beyond its precision', parameter('6a 05 01 00', '05 01 ffffffff'), 8023, 'data type decimal.'],
  ['a numeric beyond its precision', parameter('6c 05 01 00', '05 01 ffffffff'), 8023, 'data type numeric.'],
  ['a decimal of 38 digits and more', parameter('6a 11 26 00', `11 00 ${'ff'.repeat(16)}`), 8023, 'decimal.'],
  [
    'a decimal with a sign of its own',
    parameter('6a 05 09 00', '05 02 01000000'),
    8023,
    'data type decimal.',
  ],
  ['a date after 9999', parameter('28', '03 ffffff'), 8023, 'data type date.'],
  ['a time of 24 hours', parameter('29 00', '03 805101'), 8023, 'data type time.'],
  ['a datetime before 1753', parameter('6f 08', '08 000000ff 00000000'), 8023, 'data type datetime.'],
  ['a datetime after 9999', parameter('3d', 'ffffff7f 00000000'), 8023, 'data type datetime.'],
  ['a datetime of 24 hours', parameter('6f 08', '08 00000000 00828b01'), 8023, 'data type datetime.'],
  ['a smalldatetime of 24 hours', parameter('6f 04', '04 0000 a005'), 8023, 'data type smalldatetime.'],
  ['a datetime2 of 24 hours', parameter('2a 00', '06 805101 000000'), 8023, 'data type datetime2.'],
  ['an offset of 15 hours', parameter('2b 00', '08 000000 010000 8403'), 8023, 'data type datetimeoffset.'],
  ['a local time before year 1', parameter('2b 00', '08 000000 000000 c4ff'), 8023, 'datetimeoffset.'],
  ['a local time after 9999', parameter('2b 00', '08 7f5101 dab937 0100'), 8023, 'datetimeoffset.'],
  [
    'half a UTF-16 unit',
    parameter('e7 0800 0904d00034', '0300 616161'),
    8028,
    'length is not valid for data type nvarchar.',
  ],
  [
    'xml of half a UTF-16 unit',
    parameter('f1 00', 'feffffffffffffff 01000000 61 00000000'),
    8023,
    'data type xml.',
  ],
  [
    'a float that is no number',
    parameter('6d 08', '08 000000000000f87f'),
    8023,
    `${supplied} value is not a valid instance of data type float. Check the source data for invalid values. An example of an invalid value is data of numeric type with scale greater than precision.`,
  ],
  ['an infinite float', parameter('3e', '000000000000f07f'), 8023, 'data type float.'],
  ['a real that is no number', parameter('3b', '0000c07f'), 8023, 'data type real.'],
  ['an infinite real', parameter('6d 04', '04 000080ff'), 8023, 'data type real.'],
  [
    'a variant of a float that is no number',
    variant('3e', '', '000000000000f87f'),
    8023,
    'data type sql_variant.',
  ],
  ['a variant of a date after 9999', variant('28', '', 'ffffff'), 8023, 'data type sql_variant.'],
  ['a variant of an unknown type', variant('99', '', ''), 8014, '0x62 (sql_variant) has an invalid type for'],
  ['a variant of a type that it has not', variant('26', '', '01'), 8014, 'invalid type for'],
  ['a variant of a CLR type', variant('f0', '', ''), 8014, 'invalid type for'],
  ['a variant of text', variant('23', '', '01'), 8014, 'invalid type for'],
  [
    'a variant of precision 39',
    variant('6a', '2700', '01 01000000'),
    8012,
    'precision or scale for type-specific metadata.',
  ],
  [
    'a variant of a text of 9,000 bytes',
    variant('a7', '0904d00034 2823', '61'),
    8011,
    'length for type-specific metadata.',
  ],
  [
    'a variant with too many properties',
    variant('38', '00', '01000000'),
    8011,
    'length for type-specific metadata.',
  ],
  [
    'a variant with too few properties',
    variant('a7', '0904', '61'),
    8011,
    'length for type-specific metadata.',
  ],
  [
    'a variant that is longer than its type',
    variant('a7', '0904d00034 0200', '616161'),
    8013,
    'instance length.',
  ],
  ['a variant that is longer than an int', variant('38', '', '0100000000'), 8013, 'instance length.'],
  ['a variant of half a decimal', variant('6a', '0501', '01 ff'), 8013, 'invalid instance length.'],
  ['a table-valued parameter', parameter('f3', '00 00 00'), 40510, 'A table-valued parameter'],
  ['a CLR type', parameter('f0', '00'), 40510, 'A parameter of a CLR type'],
])('%s in a parameter is its error, and the connection goes on', async (_, payload, number, text) => {
  expect((await send(3, payload))[0]).toMatchObject({ number, text: expect.stringContaining(text) });
  expect(await send(1, batch('select 5'))).toContainEqual({ kind: 'row', values: [5] });
});

test.each([
  ['chunks that are not there', parameter('a5 ffff', 'feffffffffffffff ffffff7f 00')],
  ['a huge total', parameter('a5 ffff', '00000000000000f0 ffffffef 0000')],
  ['a short value', parameter('e7 401f 0904d00034', '401f 61')],
  ['headers that end nowhere', hex('ffffff7f 00000000')],
  ['headers of nothing', hex('08000000 00000000')],
])('%s: the connection ends, and nothing is allocated for what was only declared', async (_, payload) => {
  wire.client.send(packets(3, payload));
  expect(await within(3_000, 'the connection closes', wire.client.answer())).toBeUndefined();
});
