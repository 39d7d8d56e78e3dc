import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SqlType, SqlValue } from '../../../src/dev/sql-engine.js';
import { ByteReader, ByteWriter } from '../../../src/dev/tds/bytes.js';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { codecOf, readTypeInfo } from '../../../src/dev/tds/types.js';
import { decodeText, encodeText } from '../../../src/dev/text/code-pages.js';
import { codePageOf, collationOf } from '../../../src/dev/text/collations.js';
import { TestEngine } from '../../helpers/tds-engine.js';
import { rpc, samples } from '../../helpers/tds-parameters.js';
import { packets, RawClient } from '../../helpers/tds-raw-client.js';

const name = ({ name, length, precision, scale, collation }: SqlType) =>
  [name, length, precision, scale, collation].filter((part) => part !== undefined).join(' ');

function written(type: SqlType, nullable: boolean, value: SqlValue): Buffer {
  const writer = new ByteWriter(16);
  const codec = codecOf(type, nullable);
  codec.info(writer);
  codec.write(writer, value);
  return Buffer.from(writer.buffer.subarray(0, writer.length));
}

describe.each(samples.map(([type, values]) => [name(type), type, values] as const))(
  '%s',
  (_, type, values) => {
    test('every value reads back the same, nullable and not, and NULL', () => {
      for (const nullable of [true, false]) {
        for (const value of nullable ? [...values, null] : values) {
          const reader = new ByteReader(written(type, nullable, value));
          const typed = readTypeInfo(reader);
          expect(typed.read(reader)).toEqual(value);
          expect(reader.left).toBe(0);
          expect(typed.type.name).toBe(type.name);
        }
      }
    });
  },
);

describe('through a server', () => {
  const engine = new TestEngine();
  let server: TdsServer;
  beforeAll(async () => {
    server = await startTdsServer({ engine, port: 0 });
  });
  afterAll(() => server.close());

  test('every value arrives in the engine as it was sent, in packets of any size', async () => {
    const given = samples.flatMap(([type, values]) => values.map((value) => ({ type, value })));
    const client = await RawClient.login(server.port);
    for (const size of [512, 1000, 4096, 32_767]) {
      client.send(packets(3, rpc('nothing', given), size));
      await client.answer();
      const got = engine.executions.at(-1)!.parameters.map(({ value }) => value);
      expect(got).toEqual(given.map(({ value }) => value));
    }
    await client.close();
  });

  test('rows with many NULLs come as NBCROW, rows without as ROW', async () => {
    const client = await RawClient.login(server.port);
    const type: SqlType = { name: 'nvarchar', length: 10 };
    const markerOf = async (value: SqlValue) => {
      const given = Array.from({ length: 10 }, () => ({ type, value }));
      client.send(packets(3, rpc('echo', given)));
      const { payload } = (await client.answer())!;
      const name = Buffer.from('p9', 'utf16le');
      return payload[payload.lastIndexOf(name) + name.length];
    };
    expect([await markerOf('x'), await markerOf(null)]).toEqual([0xd1, 0xd2]);
    await client.close();
  });
});

test.each<[SqlType, SqlValue]>([
  [{ name: 'tinyint' }, 256],
  [{ name: 'int' }, 1.5],
  [{ name: 'int' }, 2 ** 31],
  [{ name: 'bigint' }, 2n ** 63n],
  [{ name: 'decimal', precision: 5, scale: 0 }, 100_000n],
  [{ name: 'smallmoney' }, 2n ** 31n],
  [{ name: 'varchar', length: 2 }, 'abc'],
  [{ name: 'nvarchar', length: 2 }, 'abc'],
  [{ name: 'varbinary', length: 1 }, Uint8Array.of(1, 2)],
  [{ name: 'uniqueidentifier' }, 'none'],
  [{ name: 'date' }, 3_652_059],
  [{ name: 'time', scale: 3 }, 1],
  [{ name: 'smalldatetime' }, 0n],
  [{ name: 'datetimeoffset' }, { ticks: 0n, offset: 841 }],
])('%o does not hold %s: refused, not cut', (type, value) => {
  expect(() => written(type, true, value)).toThrow();
});

test.each([
  ['SQL_Latin1_General_CP1_CI_AS', '0904d00034', 1252],
  ['Latin1_General_CI_AS', '0904d00000', 1252],
  ['Latin1_General_BIN', '0904000100', 1252],
  ['Latin1_General_100_CI_AS_SC_UTF8', '0904d02400', 65001],
  ['SQL_Latin1_General_CP850_CI_AS', '0904d0002a', 850],
  ['Japanese_XJIS_140_CI_AS', '1104d03000', 932],
  ['Cyrillic_General_CI_AS', '1904d00000', 1251],
  ['Thai_CI_AS', '1e04d00000', 874],
])('the collation %s is %s on the wire, code page %i', (collation, bytes, codePage) => {
  expect(Buffer.from(collationOf(collation).bytes).toString('hex')).toBe(bytes);
  expect(collationOf(collation).codePage).toBe(codePage);
  expect(codePageOf(collationOf(collation).bytes)).toBe(codePage);
});

test.each([437, 850, 874, 932, 936, 949, 950, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258])(
  'what code page %i decodes, it encodes to the same text',
  (codePage) => {
    for (let byte = 0; byte < 256; byte++) {
      const text = decodeText(Buffer.from([byte]), codePage);
      if (text.includes('\ufffd') || text === '') continue;
      const writer = new ByteWriter(8);
      encodeText(writer, text, codePage);
      expect(decodeText(writer.buffer.subarray(0, writer.length), codePage)).toBe(text);
    }
  },
);

test('the euro sign is 0x80 in code page 1252, and what a code page lacks is a question mark', () => {
  const encoded = (text: string, codePage: number) => {
    const writer = new ByteWriter(8);
    encodeText(writer, text, codePage);
    return writer.buffer.subarray(0, writer.length).toString('hex');
  };
  expect(encoded('€', 1252)).toBe('80');
  expect(encoded('a日😀b', 1252)).toBe('613f3f62');
  expect(encoded('日本', 932)).toBe('93fa967b');
  expect(encoded('é', 437)).toBe('82');
});
