import { expect, test, vi } from 'vitest';
import { defineCommand, type RowSource, type SqlCommandOptions } from '../../src/sql/index.js';
import { all, jsonWriter, text, written } from '../helpers/sql-client.js';
import { serveRaw } from '../helpers/sql-raw-hooks.js';
import { colMetadata, done, nbcRow, type RawSession, row } from '../helpers/sql-raw-server.js';
import { nvarcharMax, plp, utf16 } from '../helpers/sql-values.js';

const int = Buffer.from([0x38]);
const four = (value: number) =>
  Buffer.from([value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, (value >> 24) & 0xff]);
const server = serveRaw();

function open(
  respond: (session: RawSession) => unknown,
  options: Partial<SqlCommandOptions> = {},
): Promise<RowSource> {
  server.respond = async (_request, session) => {
    await respond(session);
  };
  const command = defineCommand(
    { commandText: 'select', connectionStringSetting: 'S', ...options },
    { S: server.connectionString },
  );
  return command.open(command.values({}));
}

function oneRow(names: readonly string[]): (session: RawSession) => Promise<void> {
  const columns = names.map((name) => ({ name, typeInfo: int, nullable: false }));
  const values = names.map((_, index) => four(index));
  return (session) => session.send(Buffer.concat([colMetadata(columns), row(...values), done(1)]));
}

test.each([
  [
    ['a', 'b'],
    ['a', 'b'],
  ],
  [
    ['', ''],
    ['Column1', 'Column2'],
  ],
  [
    ['', 'Column1'],
    ['Column2', 'Column1'],
  ],
  [
    ['Id', 'Id', 'Id'],
    ['Id', 'Id1', 'Id2'],
  ],
  [
    ['Id', 'id'],
    ['Id', 'id1'],
  ],
  [
    ['a', 'a1', 'a'],
    ['a', 'a1', 'a2'],
  ],
  [
    ['__proto__', 'constructor', 'toString', 'hasOwnProperty'],
    ['__proto__', 'constructor', 'toString', 'hasOwnProperty'],
  ],
  [
    ['quote"', 'é\u2028', ' '],
    ['quote"', 'é\u2028', ' '],
  ],
])('columns named %j come out as %j', async (given, names) => {
  const source = await open(oneRow(given));
  expect(source.columns.map(({ name }) => name)).toEqual(names);
  const json = await text(source.chunks(jsonWriter));
  expect(json).toBe(`[{${names.map((name, index) => `${JSON.stringify(name)}:${index}`).join(',')}}]`);
  const again = await open(oneRow(given));
  const [only] = await all(again.rows());
  expect(Object.keys(only!)).toEqual(names);
  expect(Object.getPrototypeOf(only)).toBe(Object.prototype);
  expect(JSON.stringify([only])).toBe(json);
  expect(written(again, [only])).toBe(json);
});

test('1,024 columns, with and without NULL', async () => {
  const names = Array.from({ length: 1_024 }, (_, index) => `column_${index}`);
  const columns = names.map((name) => ({ name, typeInfo: Buffer.from([0x26, 4]) }));
  const value = (index: number) => Buffer.concat([Buffer.from([4]), four(index)]);
  const nulls = names.map((_, index) => (index % 3 === 0 ? undefined : value(index)));
  const source = await open((session) =>
    session.send(
      Buffer.concat([
        colMetadata(columns),
        row(...names.map((_, index) => value(index))),
        nbcRow(...nulls),
        done(2),
      ]),
    ),
  );
  const rows = JSON.parse(await text(source.chunks(jsonWriter)));
  expect(rows[0]).toEqual(Object.fromEntries(names.map((name, index) => [name, index])));
  expect(rows[1]).toEqual(
    Object.fromEntries(names.map((name, index) => [name, index % 3 === 0 ? null : index])),
  );
});

/** A value of `units` characters in pieces of 8 KB, without ever holding it whole. */
async function sendLong(session: RawSession, units: number): Promise<void> {
  const size = 4_096;
  const piece = Buffer.concat([four(2 * size), utf16('abcdefg\n'.repeat(size / 8))]);
  const head = Buffer.concat([
    colMetadata([{ name: 'v', typeInfo: nvarcharMax }]),
    Buffer.from([0xd1]),
    Buffer.from('feffffffffffffff', 'hex'),
  ]);
  await session.send(head, [4_088], false);
  for (let sent = 0; sent < units && !session.socket.destroyed; sent += size)
    await session.send(piece, [8_192], false);
  await session.send(Buffer.concat([four(0), done(1)]));
}

test('a value of 50 MB comes out whole', { timeout: 30_000 }, async () => {
  const units = 25 * 1_048_576;
  const source = await open((session) => sendLong(session, units));
  let bytes = 0;
  let newlines = 0;
  for await (const chunk of source.chunks(jsonWriter)) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(0x5c); at >= 0; at = chunk.indexOf(0x5c, at + 1)) newlines++;
  }
  expect(newlines).toBe(units / 8);
  expect(bytes).toBe('[{"v":""}]'.length + units + units / 8);
});

test('a longer value than maxValueBytes is an error that says so, and the connection lives on', async () => {
  const options = { maxValueBytes: 1_000_000 };
  const source = await open((session) => sendLong(session, 2_000_000), options);
  server.respond = async (request, session) => {
    if (request.type === 6) await session.send(done(0, 0x20));
  };
  await expect(text(source.chunks(jsonWriter))).rejects.toMatchObject({
    code: 'EValueTooLarge',
    message: 'A value is longer than 1000000 bytes: raise maxValueBytes, or select less of it.',
  });
});

test('a value whose length is known to be too long is refused before it is read', async () => {
  const long = plp(utf16('x'.repeat(60)), 50);
  const respond = (session: RawSession) =>
    session.send(Buffer.concat([colMetadata([{ name: 'v', typeInfo: nvarcharMax }]), row(long), done(1)]));
  const source = await open(respond, { maxValueBytes: 119 });
  await expect(all(source.rows())).rejects.toMatchObject({ code: 'EValueTooLarge' });
  expect(await all((await open(respond, { maxValueBytes: 120 })).rows())).toEqual([{ v: 'x'.repeat(60) }]);
});

test('a reader that stops makes the server stop', async () => {
  let sent = 0;
  const block = Buffer.concat(Array.from({ length: 1_000 }, (_, index) => row(four(index))));
  const source = await open(async (session) => {
    await session.send(colMetadata([{ name: 'Id', typeInfo: int }]), [4_088], false);
    for (let round = 0; round < 20_000 && !session.socket.destroyed; round++) {
      await session.send(block, [4_088], false);
      sent += block.length;
      if (round % 50 === 0) await new Promise(setImmediate);
    }
    await session.send(done(1));
  });
  const chunks = source.chunks(jsonWriter);
  await chunks.next();
  let before = -1;
  await vi.waitFor(
    () => {
      const stopped = sent === before;
      before = sent;
      expect(stopped).toBe(true);
    },
    { interval: 300, timeout: 10_000 },
  );
  // What the sockets of both sides hold, and far from the 100 MB of the whole.
  expect(sent).toBeLessThan(30_000_000);
  server.respond = async (request, session) => {
    if (request.type === 6) session.socket.destroy();
  };
  await chunks.return?.();
});
