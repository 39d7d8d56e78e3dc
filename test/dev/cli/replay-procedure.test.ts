import { TYPES } from 'tedious';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { replayProcedure } from '../../../src/dev/cli/replay-procedure.js';
import { Faults } from '../../../src/dev/faults/faults.js';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { createDatabase } from '../../../src/dev/tsql/database.js';
import { within } from '../../helpers/sql-client.js';
import { connect, run } from '../../helpers/tds-client.js';
import { credentials } from '../../helpers/tds-engine.js';

const faults = new Faults();
let server: TdsServer;
beforeAll(async () => {
  const database = await createDatabase({ ...credentials, procedures: { 'dev.replay': replayProcedure } });
  server = await startTdsServer({ engine: faults.wrap(database), port: 0 });
});
afterAll(() => server.close());

test('dev.replay sends as many rows as asked, as a batch, a statement and a procedure, in both mixes', async () => {
  const connection = await connect(server.port);
  for (const mix of ['strings', 'numbers']) {
    const batch = await run(connection, `exec dev.replay @rows = 1000, @mix = '${mix}'`);
    const statement = await run(
      connection,
      'EXEC [dev].[replay] @rows = @n, @mix=@m;',
      'execSql',
      (request) => {
        request.addParameter('n', TYPES.Int, 1000);
        request.addParameter('m', TYPES.VarChar, mix);
      },
    );
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
  await expect(run(connection, "exec dev.replay @rows = 'few'")).rejects.toThrow(/whole number; it is 'few'/);
  expect((await run(connection, 'exec dev.replay @rows = 0')).rows).toEqual([]);
  connection.close();
});

test('a replay is cancelled amid its rows, and the session goes on', async () => {
  const connection = await connect(server.port);
  const cancelled = run(connection, 'exec dev.replay @rows = 2000000000', 'execSqlBatch', (request) => {
    request.once('row', () => connection.cancel());
  });
  await expect(within(10_000, 'the cancel', cancelled)).rejects.toMatchObject({ code: 'ECANCEL' });
  expect((await run(connection, 'select 5')).rows).toEqual([[5]]);
  connection.close();
});

test('a fault that waits for a row strikes at that row', async () => {
  faults.add({ at: 'rows', rows: 300, action: 'error', number: 8134, times: 1 });
  const connection = await connect(server.port);
  let count = 0;
  const failed = run(connection, 'exec dev.replay @rows = 1000', 'execSqlBatch', (request) => {
    request.on('row', () => count++);
  });
  await expect(failed).rejects.toMatchObject({ number: 8134 });
  expect(count).toBe(300);
  expect((await run(connection, 'exec dev.replay @rows = 1000')).rows).toHaveLength(1000);
  connection.close();
});
