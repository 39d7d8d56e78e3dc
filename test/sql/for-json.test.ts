/** FOR JSON: SQL Server sends the text in rows of 2,033 UTF-16 units, under a name of its own, cut wherever that is. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closePools, defineCommand, type RowSource } from '../../src/sql/index.js';
import { all, jsonWriter, text, written } from '../helpers/sql-client.js';
import { colMetadata, done, RawServer, row } from '../helpers/sql-raw-server.js';
import { nvarcharMax, plp, utf16 } from '../helpers/sql-values.js';

const name = 'JSON_F52E2B61-18A1-11d1-B105-00805F49916B';
const rowUnits = 2_033;

let server: RawServer;
let sent = '';

beforeAll(async () => {
  server = await new RawServer((_request, session) => {
    const rows: Buffer[] = [];
    for (let at = 0; at < sent.length; at += rowUnits)
      rows.push(row(plp(utf16(sent.slice(at, at + rowUnits)), 4_066)));
    return session.send(
      Buffer.concat([colMetadata([{ name, typeInfo: nvarcharMax }]), ...rows, done(rows.length, 0x10)]),
    );
  }).listen();
});

afterAll(async () => {
  await closePools(0);
  await server.close();
});

function open(): Promise<RowSource> {
  const command = defineCommand(
    { commandText: 'select', connectionStringSetting: 'S' },
    { S: server.connectionString },
  );
  return command.open(command.values({}));
}

/** A JSON text of so many UTF-16 units. */
function jsonOf(units: number): string {
  const frame = '[{"Name":""}]';
  const filling = '😀é"\\\\x'.replaceAll('"', '\\"');
  const padding = 'x'.repeat((units - frame.length) % filling.length);
  const fill = filling.repeat(Math.floor((units - frame.length) / filling.length));
  const json = `[{"Name":"${padding}${fill}"}]`;
  expect(json).toHaveLength(units);
  JSON.parse(json);
  return json;
}

test.each([2_033, 2_034, 4_066, 100_000])(
  'the rows of a JSON text of %i units, put together, are that text',
  async (units) => {
    sent = jsonOf(units);
    const rows = await all((await open()).rows());
    expect(rows).toHaveLength(Math.ceil(units / rowUnits));
    expect(rows.map((one) => one[name]).join('')).toBe(sent);
    const source = await open();
    const body = await text(source.chunks(jsonWriter));
    const parsed = JSON.parse(body) as Record<string, string>[];
    expect(parsed.map((one) => one[name]).join('')).toBe(sent);
    expect(written(source, rows)).toBe(body);
  },
);

test('a character that is cut in two by the end of a row is whole again when they are put together', async () => {
  sent = `${'x'.repeat(rowUnits - 1)}😀`;
  const [first, second] = await all((await open()).rows());
  expect([first?.[name], second?.[name]]).toEqual([`${'x'.repeat(rowUnits - 1)}\ud83d`, '\ude00']);
  const parsed = JSON.parse(await text((await open()).chunks(jsonWriter))) as Record<string, string>[];
  expect(parsed.map((one) => one[name]).join('')).toBe(sent);
});

test('FOR JSON of no rows is no row', async () => {
  sent = '';
  expect(await all((await open()).rows())).toEqual([]);
  expect(await text((await open()).chunks(jsonWriter))).toBe('[]');
});
