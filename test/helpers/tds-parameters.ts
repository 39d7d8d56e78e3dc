/** Values of every type, and RPC messages that carry them. */

import type { SqlType, SqlValue } from '../../src/dev/sql-engine.js';
import { ByteWriter } from '../../src/dev/tds/bytes.js';
import { codecOf } from '../../src/dev/tds/types.js';
import { allHeaders } from './tds-raw-client.js';

const day = 864_000_000_000n;
const noon = 739_000n * day + 432_001_234_567n;
const int32 = 2 ** 31;

/** Types with values at their edges. Those with `text` pointers go out, but not in as this encoding. */
export const samples: readonly (readonly [SqlType, readonly SqlValue[]])[] = [
  [{ name: 'bit' }, [true, false]],
  [{ name: 'tinyint' }, [0, 255]],
  [{ name: 'smallint' }, [-32_768, 0, 32_767]],
  [{ name: 'int' }, [-int32, -1, int32 - 1]],
  [{ name: 'bigint' }, [-(2n ** 63n), -1n, 2n ** 63n - 1n, 9_007_199_254_740_993n]],
  [{ name: 'decimal', precision: 1, scale: 0 }, [-9n, 0n, 9n]],
  [{ name: 'decimal', precision: 9, scale: 2 }, [-999_999_999n, 1n]],
  [{ name: 'decimal', precision: 19, scale: 19 }, [10n ** 19n - 1n, -1n]],
  [{ name: 'decimal', precision: 28, scale: 10 }, [10n ** 28n - 1n, -(10n ** 28n - 1n)]],
  [{ name: 'decimal', precision: 38, scale: 38 }, [10n ** 38n - 1n, -(10n ** 38n - 1n), 0n]],
  [{ name: 'money' }, [-(2n ** 63n), 2n ** 63n - 1n, -1n, 12_345n]],
  [{ name: 'smallmoney' }, [-(2n ** 31n), 2n ** 31n - 1n]],
  [{ name: 'real' }, [0, -0, 1.5, 3.4028234663852886e38]],
  [{ name: 'float' }, [0, 0.1, 5e-324, -1.7976931348623157e308]],
  [{ name: 'char', length: 5 }, ['abc  ', 'äöü€ ']],
  [{ name: 'varchar', length: 8000 }, ['', 'x'.repeat(8000)]],
  [{ name: 'varchar', length: 'max' }, ['', 'y'.repeat(20_000)]],
  [{ name: 'varchar', length: 20, collation: 'Cyrillic_General_CI_AS' }, ['Привет']],
  [{ name: 'varchar', length: 20, collation: 'Japanese_CI_AS' }, ['日本語ｱ']],
  [{ name: 'varchar', length: 40, collation: 'Latin1_General_100_CI_AS_SC_UTF8' }, ['日本 😀 é']],
  [{ name: 'nchar', length: 3 }, ['ab ']],
  [{ name: 'nvarchar', length: 4000 }, ['', '日本 😀', '\ud800', '\u0000\u2028', 'z'.repeat(4000)]],
  [{ name: 'nvarchar', length: 'max' }, ['', 'w'.repeat(50_000)]],
  [{ name: 'xml' }, ['<a>ä</a>']],
  [{ name: 'binary', length: 4 }, [Uint8Array.of(0, 1, 254, 255)]],
  [{ name: 'varbinary', length: 8000 }, [new Uint8Array(0), new Uint8Array(8000).fill(7)]],
  [{ name: 'varbinary', length: 'max' }, [new Uint8Array(0), new Uint8Array(70_000).fill(9)]],
  [{ name: 'uniqueidentifier' }, ['6F9619FF-8B86-D011-B42D-00C04FC964FF']],
  [{ name: 'date' }, [0, 3_652_058, 739_000]],
  [{ name: 'time', scale: 7 }, [0, 863_999_999_999]],
  [{ name: 'time', scale: 3 }, [863_999_990_000]],
  [{ name: 'time', scale: 0 }, [863_990_000_000]],
  [{ name: 'smalldatetime' }, [693_595n * day, (693_595n + 65_535n) * day + 863_400_000_000n]],
  [{ name: 'datetime' }, [639_905n * day, 3_652_058n * day + 863_999_966_667n, 739_000n * day + 33_333n]],
  [{ name: 'datetime2', scale: 7 }, [0n, 3_652_059n * day - 1n, noon]],
  [{ name: 'datetime2', scale: 0 }, [noon - (noon % 10_000_000n)]],
  [{ name: 'datetime2', scale: 4 }, [noon - (noon % 1_000n)]],
  [
    { name: 'datetimeoffset', scale: 7 },
    [
      { ticks: noon, offset: 840 },
      { ticks: noon, offset: -720 },
    ],
  ],
  [
    { name: 'sql_variant' },
    [
      { type: { name: 'int' }, value: -7 },
      { type: { name: 'nvarchar', length: 10 }, value: 'ä' },
      { type: { name: 'varchar', length: 10 }, value: 'ä' },
      { type: { name: 'decimal', precision: 20, scale: 3 }, value: -12_345_678_901_234_567_890n },
      { type: { name: 'datetime2', scale: 3 }, value: noon - (noon % 10_000n) },
      { type: { name: 'varbinary', length: 3 }, value: Uint8Array.of(1, 2, 3) },
      { type: { name: 'uniqueidentifier' }, value: '6F9619FF-8B86-D011-B42D-00C04FC964FF' },
      { type: { name: 'bit' }, value: true },
      { type: { name: 'money' }, value: -5n },
      { type: { name: 'date' }, value: 1 },
    ],
  ],
];

export interface Given {
  readonly type: SqlType;
  readonly value: SqlValue;
  readonly nullable?: boolean;
  readonly name?: string;
  readonly output?: boolean;
}

/** One call of an RPC message, without ALL_HEADERS. */
export function rpcCall(procedure: string | number, parameters: readonly Given[]): Buffer {
  const writer = new ByteWriter(1024);
  if (typeof procedure === 'string') writer.longText(procedure);
  else {
    writer.u16(0xffff);
    writer.u16(procedure);
  }
  writer.u16(0);
  for (const { type, value, nullable = true, name = '', output = false } of parameters) {
    writer.shortText(name);
    writer.u8(output ? 1 : 0);
    const codec = codecOf(type, nullable);
    codec.info(writer);
    codec.write(writer, value);
  }
  return Buffer.from(writer.buffer.subarray(0, writer.length));
}

export const longText = (value: string): Given => ({ type: { name: 'nvarchar', length: 'max' }, value });
export const int = (value: number | null): Given => ({ type: { name: 'int' }, value });

/** sp_executesql with these parameters, named @p0, @p1, ... */
export function rpc(sql: string, parameters: readonly Given[], procedure = 10): Buffer {
  const declarations = parameters.map((_, index) => `@p${index} int`).join();
  const named = parameters.map((parameter, index) => ({ name: `@p${index}`, ...parameter }));
  const call = rpcCall(procedure, [longText(sql), longText(declarations), ...named]);
  return Buffer.concat([allHeaders, call]);
}
