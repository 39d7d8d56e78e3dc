import { describe, expect, test } from 'vitest';
import { defineCommand, type RowSource } from '../../src/sql/index.js';
import { all, jsonWriter, ndjsonWriter, text, written } from '../helpers/sql-client.js';
import { serveRaw } from '../helpers/sql-raw-hooks.js';
import { colMetadata, done, nbcRow, row } from '../helpers/sql-raw-server.js';
import { nullBytes, wireCases } from '../helpers/sql-values.js';

const server = serveRaw((_request, session) => session.send(response, sizes));
let response: Buffer;
let sizes: readonly number[] = [4_088];

function open(formats = {}): Promise<RowSource> {
  const options = { commandText: 'select', connectionStringSetting: 'S', formats };
  const command = defineCommand(options, { S: server.connectionString });
  return command.open(command.values({}));
}

const columns = wireCases.map(({ typeInfo, userType = 0 }, index) => ({
  name: `c${index}`,
  typeInfo,
  userType,
}));
const rowOfAll = row(...wireCases.map(({ bytes }) => bytes));
const nullable = wireCases.map(({ typeInfo }) => nullBytes(typeInfo));
const nullRow = row(...wireCases.map(({ bytes }, index) => nullable[index] ?? bytes));
const bitmapRow = nbcRow(
  ...wireCases.map(({ bytes }, index) =>
    index % 2 === 1 && nullable[index] !== undefined ? undefined : bytes,
  ),
);
const object = (json: (index: number) => string) =>
  `{${wireCases.map((_, index) => `"c${index}":${json(index)}`).join(',')}}`;
const expectedJson = `[${[
  object((index) => wireCases[index]!.json),
  object((index) => (nullable[index] === undefined ? wireCases[index]!.json : 'null')),
  object((index) => (index % 2 === 1 && nullable[index] !== undefined ? 'null' : wireCases[index]!.json)),
].join(',')}]`;
const everything = Buffer.concat([colMetadata(columns), rowOfAll, nullRow, bitmapRow, done(3)]);

/** Names the place of the first difference: the whole of it would fill screens. */
function expectSame(actual: string, expected: string, when = ''): void {
  if (actual === expected) return;
  let at = 0;
  while (actual[at] === expected[at]) at++;
  expect(actual.slice(Math.max(0, at - 40), at + 40), `${when} at ${at}`).toBe(
    expected.slice(Math.max(0, at - 40), at + 40),
  );
  expect.fail(`${when}: ${actual.length} characters, not ${expected.length}`);
}

/** In a row, exact numbers of a sql_variant are text like any other, and so is their JSON when the row is sent on. */
const serializedJson = expectedJson.replaceAll(/("c1(?:06|07|08)":)([\d.]+)/g, '$1"$2"');

describe('each value', () => {
  test.each(wireCases.map((one) => [one.title, one] as const))('%s', async (_title, one) => {
    sizes = [4_088];
    response = Buffer.concat([
      colMetadata([{ name: 'v', typeInfo: one.typeInfo, userType: one.userType ?? 0 }]),
      row(one.bytes),
      done(1),
    ]);
    const source = await open();
    expect(source.columns[0]?.type).toBe(one.type);
    expect(await text(source.chunks(jsonWriter))).toBe(`[{"v":${one.json}}]`);
    const [only] = await all((await open()).rows());
    expect(only).toEqual({ v: one.value });
    // A row that is sent on untouched is written as on the direct path.
    const isVariantNumber =
      one.type === 'sql_variant' && typeof one.value === 'string' && !one.json.startsWith('"');
    expect(written(source, [only])).toBe(isVariantNumber ? `[{"v":"${one.json}"}]` : `[{"v":${one.json}}]`);
  });
});

test('ROW and NBCROW, with values and NULL in every type, come out the same way', async () => {
  response = everything;
  sizes = [4_088];
  expectSame(await text((await open()).chunks(jsonWriter)), expectedJson);
  const rows = await all((await open()).rows());
  const source = await open();
  expectSame(written(source, rows), serializedJson);
  await source.cancel();
});

test('values may be cut at any byte by the ends of packets', { timeout: 60_000 }, async () => {
  response = everything;
  const start = colMetadata(columns).length;
  for (let cut = start; cut < everything.length; cut++) {
    sizes = [cut, everything.length];
    expectSame(await text((await open()).chunks(jsonWriter)), expectedJson, `cut at byte ${cut}`);
  }
});

test.each([1, 2, 3, 5, 8, 13, 21, 512])(
  'packets of %i bytes give the same rows, as bytes and as objects',
  async (size) => {
    response = everything;
    sizes = [size];
    expectSame(await text((await open()).chunks(jsonWriter)), expectedJson);
    const rows = await all((await open()).rows());
    const source = await open();
    expectSame(written(source, rows), serializedJson);
    await source.cancel();
  },
);

test('bigint and decimal can be text in JSON, and decimals numbers in rows', async () => {
  sizes = [4_088];
  const [big, exact] = [wireCases[4]!, wireCases[14]!];
  response = Buffer.concat([
    colMetadata([
      { name: 'b', typeInfo: big.typeInfo },
      { name: 'd', typeInfo: exact.typeInfo },
    ]),
    row(big.bytes, exact.bytes),
    done(1),
  ]);
  const asText = await open({ bigint: 'string', decimal: 'string', rowDecimal: 'number' });
  expect(await text(asText.chunks(jsonWriter))).toBe('[{"b":"9007199254740993","d":"12.50"}]');
  const source = await open({ bigint: 'string', decimal: 'string', rowDecimal: 'number' });
  expect(await all(source.rows())).toEqual([{ b: 9007199254740993n, d: 12.5 }]);
  const rows = [
    { b: 1n, d: '2.50', x: [2n, Buffer.from([1])] },
    { b: 1n, d: 'é"' },
    1,
    { d: undefined },
    null,
  ];
  const json = ['{"b":"1","d":"2.50","x":[2,"AQ=="]}', '{"b":"1","d":"é\\""}', '1', '{}', 'null'];
  expect(written(source, rows)).toBe(`[${json.join(',')}]`);
  expect(written(source, rows, ndjsonWriter)).toBe(json.map((one) => `${one}\n`).join(''));
  expect(written(source, [])).toBe('[]');
});

test.each(['UTC', 'America/Sao_Paulo', 'Asia/Kolkata', 'Pacific/Kiritimati'])(
  'the time zone of the process, %s, changes nothing',
  async (zone) => {
    const before = process.env['TZ'];
    process.env['TZ'] = zone;
    try {
      expect(new Date(2026, 6, 1).getTimezoneOffset() === 0).toBe(zone === 'UTC');
      response = everything;
      sizes = [4_088];
      expectSame(await text((await open()).chunks(jsonWriter)), expectedJson);
      const source = await open();
      expectSame(written(source, await all(source.rows())), serializedJson);
    } finally {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    }
  },
);
