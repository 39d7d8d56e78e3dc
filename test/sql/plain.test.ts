import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { all, jsonWriter, text } from '../helpers/sql-client.js';
import { colMetadata, done, RawServer, row } from '../helpers/sql-raw-server.js';
import { counts, script } from '../helpers/sql-script.js';
import { wireCases } from '../helpers/sql-values.js';

/** A tedious without the internals: what is left is its public API. */
vi.mock('../../src/sql/tedious/internals.js', async (original) => ({
  ...(await original<typeof import('../../src/sql/tedious/internals.js')>()),
  internals: undefined,
}));

const { closePools, defineCommand } = await import('../../src/sql/index.js');
let server: RawServer;

beforeAll(async () => {
  server = await new RawServer(script).listen();
});

afterAll(async () => {
  await closePools(0);
  await server.close();
});

const lines: string[] = [];

function open(commandText: string) {
  const command = defineCommand(
    { commandText, connectionStringSetting: 'S' },
    { S: server.connectionString },
  );
  return command.open(command.values({}), { log: (level, message) => lines.push(`${level}: ${message}`) });
}

test('rows come through the public API, with one warning', async () => {
  expect(await text((await open('ids 1,2')).chunks(jsonWriter))).toBe('[{"Id":1},{"Id":2}]');
  expect(await text((await open('empty')).chunks(jsonWriter))).toBe('[]');
  expect(await all((await open('ids 3')).rows())).toEqual([{ Id: 3 }]);
  expect(lines.filter((line) => line.startsWith('warn: The installed version of tedious'))).toHaveLength(1);
});

test('errors, cancels and slow readers are as they should be', async () => {
  await expect(open('error 208')).rejects.toMatchObject({ code: 'EServer', number: 208 });
  const before = counts.attentions;
  let seen = 0;
  for await (const one of (await open('stream')).rows()) {
    expect(one).toHaveProperty('Id');
    if (++seen === 1_000) break;
  }
  expect(counts.attentions).toBe(before + 1);
  expect(await all((await open('ids 4')).rows())).toEqual([{ Id: 4 }]);
});

test('values that doubles and Dates can hold are written as always', async () => {
  const lossy = new Set(['datetimeoffset', 'sql_variant', 'xml', 'udt', 'char']);
  const cases = wireCases.filter(
    ({ type, json, typeInfo }) =>
      !lossy.has(type) &&
      !/\d{16}/.test(json) &&
      typeInfo[0] !== 0x7a &&
      !json.includes('922337203685477') &&
      !/\d\.\d{8,}/.test(json) &&
      type !== 'real',
  );
  server.respond = (_request, session) =>
    session.send(
      Buffer.concat([
        colMetadata(
          cases.map(({ typeInfo, userType = 0 }, index) => ({ name: `c${index}`, typeInfo, userType })),
        ),
        row(...cases.map(({ bytes }) => bytes)),
        done(1),
      ]),
    );
  const json = await text((await open('values')).chunks(jsonWriter));
  const parts = cases.map(({ json: value }, index) => `"c${index}":${value}`);
  for (const [index, part] of parts.entries()) expect(json, cases[index]!.title).toContain(part);
});
