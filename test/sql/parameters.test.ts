import { describe, expect, test } from 'vitest';
import { defineCommand, type ParameterRecord, SqlStreamError } from '../../src/sql/index.js';
import type { Binding } from '../../src/sql/parameters/binding.js';
import { bindTemplate, parseParameters } from '../../src/sql/parameters/template.js';
import { bindValues } from '../../src/sql/parameters/values.js';

const request = {
  params: { id: '7', Empty: '' },
  query: new URLSearchParams(
    'name=a%2Cb%3Dc&null=Null&twice=1&twice=2&inject=1%2C%40b%3D2&quote=%27%3B%20DROP',
  ),
  headers: [['x-tenant', 'contoso']] as [string, string][],
};

function textOf({ value }: Binding): string | null {
  if (value.bytes.readUInt16LE(0) === 0xffff) return null;
  return value.bytes.subarray(2).toString('utf16le');
}

function bind(template: string, environment = {}): Record<string, string | null> {
  const bindings = bindTemplate(parseParameters(template, environment), request);
  return Object.fromEntries(bindings.map((binding) => [binding.name, textOf(binding)]));
}

describe('the binding string', () => {
  test.each([
    ['@id={id}', { id: '7' }],
    ['@id={ID},@name={Query.name}', { id: '7', name: 'a,b=c' }],
    ['@name={query.NAME}, @t={Headers.X-Tenant}', { name: 'a,b=c', t: 'contoso' }],
    ['@a={Query.inject}', { a: '1,@b=2' }],
    ['@a={Query.quote}', { a: "'; DROP" }],
    ['@a={Query.null}', { a: 'Null' }],
    ['@a=null,@b=NULL', { a: null, b: null }],
    ['@a=', { a: '' }],
    ['@a={empty}', { a: '' }],
    ['@a=x{id}y', { a: 'x7y' }],
    ['@a=%greeting%', { a: 'hi, = there' }],
    ['', {}],
  ])('%s', (template, expected) => {
    expect(bind(template, { greeting: 'hi, = there' })).toEqual(expected);
  });

  test.each([
    ['@a={Query.absent}', 'Query.absent'],
    ['@a={absent}', 'absent'],
    ['@a={Query.twice}', 'Query.twice'],
    ['@a={Headers.absent}', 'Headers.absent'],
  ])('%s has no value in the request: EParameter names it', (template, subject) => {
    expect(() => bind(template)).toThrow(expect.objectContaining({ code: 'EParameter', subject }));
  });

  test.each([
    '@a',
    'a=1',
    '@a=1=2',
    '@a=1,',
    '@a={x',
    '@a=%missing%',
    '@a=%open',
    '@a=1,@A=2',
    '@a b=1',
    '@=1',
  ])('%s is refused when the app loads', (template) => {
    expect(() => parseParameters(template, {})).toThrow(expect.objectContaining({ code: 'EOptions' }));
  });
});

describe('typed values', () => {
  function sent(value: ParameterRecord[string]): string {
    const [binding] = bindValues({ p: value });
    const { declaration, typeInfo, bytes } = binding!.value;
    return `${declaration} ${typeInfo.toString('hex')} ${bytes.toString('hex')}`;
  }

  test.each<[string, ParameterRecord[string], string]>([
    ['an int', 5, 'int 2604 0405000000'],
    ['a large number', 2 ** 40, 'bigint 2608 080000000000010000'],
    ['a fraction', 0.5, 'float 6d08 08000000000000e03f'],
    ['a bigint', -1n, 'bigint 2608 08ffffffffffffffff'],
    [
      'a huge bigint',
      2n ** 64n,
      'decimal(38,0) 6a112600 110100000000000000000100000000000000'.replace(
        / 0100000000000000$/,
        '0100000000000000',
      ),
    ],
    ['true', true, 'bit 6801 0101'],
    ['text', 'é', 'nvarchar(4000) e7401f0000000000 0200e900'],
    ['null', null, 'nvarchar(4000) e7401f0000000000 ffff'],
    ['bytes', Buffer.from([1, 2]), 'varbinary(8000) a5401f 02000102'],
    ['a Date', new Date('2026-11-30T10:20:30.123Z'), 'datetime2(7) 2a07 08b0efe1ae566d4a0b'],
    ['a decimal', { type: 'decimal(9,2)', value: '12.50' }, 'decimal(9,2) 6a050902 0501e2040000'],
    ['a decimal of its own size', { type: 'decimal', value: '-0.001' }, 'decimal(3,3) 6a050303 050001000000'],
    ['money', { type: 'money', value: '333.34' }, 'money 6a091304 090118dd320000000000'],
    [
      'a guid',
      { type: 'uniqueidentifier', value: '00112233-4455-6677-8899-AABBCCDDEEFF' },
      'uniqueidentifier 2410 1033221100554477668899aabbccddeeff',
    ],
    ['a date', { type: 'date', value: '0001-01-02' }, 'date 28 03010000'],
    ['a time', { type: 'time', value: '00:00:00.0000001' }, 'time 2907 050100000000'],
    [
      'datetimeoffset',
      { type: 'datetimeoffset', value: '0001-01-02T00:00:00+14:00' },
      'datetimeoffset 2b07 0a0010acd1530000004803',
    ],
    ['typed NULL', { type: 'int', value: null }, 'int 2604 00'],
    ['varchar', { type: 'varchar(10)', value: 'ab' }, 'varchar(10) e7401f0000000000 040061006200'],
    [
      'empty nvarchar(max)',
      { type: 'nvarchar(max)', value: '' },
      'nvarchar(max) e7ffff0000000000 000000000000000000000000',
    ],
  ])('%s', (_title, value, expected) => {
    expect(sent(value)).toBe(expected);
  });

  test('long texts and bytes become (max), whole', () => {
    expect(sent('x'.repeat(4_001))).toMatch(/^nvarchar\(max\) e7ffff0000000000 421f000000000000421f0000/);
    expect(sent(Buffer.alloc(8_001))).toMatch(/^varbinary\(max\) a5ffff 411f000000000000411f0000/);
  });

  test.each<[string, ParameterRecord[string]]>([
    ['undefined', undefined],
    ['a fraction as int', { type: 'int', value: 1.5 }],
    ['too much for tinyint', { type: 'tinyint', value: 256 }],
    ['NaN', Number.NaN],
    ['Infinity', { type: 'float', value: 'Infinity' }],
    ['a decimal that would be rounded', { type: 'decimal(9,2)', value: '1.005' }],
    ['a decimal with too many digits', { type: 'decimal(3,0)', value: '1000' }],
    ['money with five digits', { type: 'money', value: '1.00001' }],
    ['text too long for its type', { type: 'nvarchar(2)', value: 'abc' }],
    ['a day that does not exist', { type: 'date', value: '2026-02-30' }],
    ['an invalid Date', new Date('x')],
    ['an offset for datetime2', { type: 'datetime2', value: '2026-01-01T00:00:00+01:00' }],
    ['no offset for datetimeoffset', { type: 'datetimeoffset', value: '2026-01-01T00:00:00' }],
    ['half a guid', { type: 'uniqueidentifier', value: '0011' }],
    ['an unknown type', { type: 'geometry', value: 'x' }],
    ['a type with more in it', { type: 'int; DROP TABLE x', value: 1 }],
    ['an object', {} as never],
  ])('%s is refused, by name and without the value', (_title, value) => {
    expect(() => bindValues({ given: value })).toThrow(
      expect.objectContaining({
        code: 'EParameter',
        subject: 'given',
        message: expect.stringMatching(/^@given /),
      }),
    );
  });

  test('names that are no identifiers, and too many, are refused', () => {
    expect(() => bindValues({ 'a int; DROP TABLE x --': 1 })).toThrow(SqlStreamError);
    const many = Object.fromEntries(Array.from({ length: 2_099 }, (_, index) => [`p${index}`, index]));
    expect(() => bindValues(many)).toThrow(/2099 parameters are too many: 2098/);
  });
});

describe('options', () => {
  const environment = { S: 'Server=x;User Id=a;Password=b' };
  test.each([
    [{ commandText: '' }, 'commandText'],
    [{ commandType: 'TableDirect' }, 'commandType'],
    [{ connectionStringSetting: '' }, 'connectionStringSetting'],
    [{ pool: { max: 0 } }, 'pool.max'],
    [{ deadlines: { totalMs: -1 } }, 'deadlines.totalMs'],
    [{ retry: { retries: 1.5 } }, 'retry.retries'],
    [{ formats: { bigint: 'text' } }, 'formats.bigint'],
    [{ maxValueBytes: 0 }, 'maxValueBytes'],
  ])('%o is refused by name', (wrong, subject) => {
    const options = { commandText: 'x', connectionStringSetting: 'S', ...wrong };
    expect(() => defineCommand(options as never, environment)).toThrow(
      expect.objectContaining({ code: 'EOptions', subject }),
    );
  });

  test('a setting that is missing or empty is named', () => {
    const options = { commandText: 'x', connectionStringSetting: 'Missing' };
    for (const Missing of [undefined, '', '  ']) {
      expect(() => defineCommand(options, { Missing } as never)).toThrow(
        expect.objectContaining({ code: 'ESetting', subject: 'Missing' }),
      );
    }
  });
});
