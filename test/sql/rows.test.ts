import { afterAll, beforeAll, expect, test } from 'vitest';
import { closePools, defineCommand, poolStats } from '../../src/sql/index.js';
import { jsonWriter, text } from '../helpers/sql-client.js';
import { colMetadata, done, RawServer, row } from '../helpers/sql-raw-server.js';

const int = Buffer.from([0x38]);
let server: RawServer;

beforeAll(async () => {
  server = await new RawServer((_request, session) =>
    session.send(
      Buffer.concat([
        colMetadata([{ name: 'Id', typeInfo: int, nullable: false }]),
        row(Buffer.from([1, 0, 0, 0])),
        row(Buffer.from([0xff, 0xff, 0xff, 0xff])),
        done(2),
      ]),
    ),
  ).listen();
});

afterAll(async () => {
  await closePools(0);
  await server.close();
});

test('chunks are the rows as JSON within the framing of the writer', async () => {
  const command = defineCommand(
    { commandText: 'select', connectionStringSetting: 'S' },
    { S: server.connectionString },
  );
  const source = await command.open(command.values({}));
  expect(source.columns).toEqual([{ name: 'Id', type: 'int', nullable: false }]);
  expect(await text(source.chunks(jsonWriter))).toBe('[{"Id":1},{"Id":-1}]');
  expect(source.stats).toMatchObject({ rows: 2, recordsets: 1, attempts: 1, bytes: 20 });
  expect(poolStats()).toMatchObject([{ used: 0, free: 1, pending: 0 }]);
});
