import { TYPES } from 'tedious';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withReplay } from '../../../src/dev/tds/replay.js';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { within } from '../../helpers/sql-client.js';
import { connect, run } from '../../helpers/tds-client.js';
import { TestEngine } from '../../helpers/tds-engine.js';

let server: TdsServer;
beforeAll(async () => {
  server = await startTdsServer({ engine: withReplay(new TestEngine()), port: 0 });
});
afterAll(() => server.close());

test('dev.replay sends as many rows as asked, as a batch, a statement and a procedure, in both mixes', async () => {
  const connection = await connect(server.port);
  for (const mix of ['strings', 'numbers']) {
    const batch = await run(connection, `exec dev.replay @rows = 1000, @mix = '${mix}'`);
    const statement = await run(connection, 'EXEC [dev].[replay] @n, @mix=@m;', 'execSql', (request) => {
      request.addParameter('n', TYPES.Int, 1000);
      request.addParameter('m', TYPES.VarChar, mix);
    });
    const procedure = await run(connection, 'dev.replay', 'callProcedure', (request) => {
      request.addParameter('mix', TYPES.NVarChar, mix);
      request.addParameter('rows', TYPES.NVarChar, '1000');
    });
    for (const { rows, columns } of [batch, statement, procedure]) {
      expect(rows).toHaveLength(1000);
      expect(columns).toHaveLength(6);
      expect(rows[999]![0]).toBe(1000 - 3 * 256);
    }
    expect(statement.rows).toEqual(batch.rows);
    expect(procedure.rows).toEqual(batch.rows);
  }
  connection.close();
});

test('what dev.replay cannot do is said by name', async () => {
  const connection = await connect(server.port);
  await expect(run(connection, "exec dev.replay @mix = 'dates'")).rejects.toThrow(/'strings' or 'numbers'/);
  await expect(run(connection, 'exec dev.replay @row = 1')).rejects.toThrow(/no parameter @row/);
  connection.close();
});

test('other statements go to the engine behind, and a replay is cancelled amid its rows', async () => {
  const connection = await connect(server.port);
  expect((await run(connection, 'select 4')).rows).toEqual([[4]]);
  const cancelled = run(connection, 'exec dev.replay @rows = 2000000000', 'execSqlBatch', (request) => {
    request.once('row', () => connection.cancel());
  });
  await expect(within(10_000, 'the cancel', cancelled)).rejects.toMatchObject({ code: 'ECANCEL' });
  expect((await run(connection, 'select 5')).rows).toEqual([[5]]);
  connection.close();
});
