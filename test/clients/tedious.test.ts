import { type Connection, TYPES } from 'tedious';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSqlServer, type SqlServer } from '../helpers/sql-server.js';
import { connect, run } from '../helpers/tds-client.js';

let server: SqlServer;
let connection: Connection;
beforeAll(async () => {
  server = await openSqlServer();
  const options = { database: server.database, encrypt: server.encrypt };
  connection = await connect(
    server.port,
    options,
    { userName: server.user, password: server.password },
    server.host,
  );
});
afterAll(async () => {
  connection.close();
  await server.close();
});

test('prints, counts and recordsets come in order', async () => {
  const result = await run(
    connection,
    "PRINT 'hello'; CREATE TABLE #t (n int); INSERT INTO #t VALUES (1), (2); SELECT n FROM #t",
  );
  expect(result.messages).toContain('hello');
  expect(result.rows).toEqual([[1], [2]]);
  expect(result.done.map(({ rowCount }) => rowCount).filter((count) => count !== undefined)).toEqual([2, 2]);
});

test('a procedure gives rows, outputs and its return value', async () => {
  await run(
    connection,
    'CREATE OR ALTER PROCEDURE dbo.TediousClient @a int, @b int OUTPUT AS BEGIN SET @b = @a * 2; SELECT @a AS a; RETURN 3; END',
  );
  const result = await run(connection, 'dbo.TediousClient', 'callProcedure', (request) => {
    request.addParameter('a', TYPES.Int, 21);
    request.addOutputParameter('b', TYPES.Int);
  });
  expect([result.rows, result.outputs, result.returnStatus]).toEqual([[[21]], { b: 42 }, 3]);
  await run(connection, 'DROP PROCEDURE dbo.TediousClient');
});

test('dates keep their digits', async () => {
  const { rows } = await run(
    connection,
    "SELECT CAST('2026-11-30T10:20:30.1234567' AS datetime2(7)), CAST('2026-11-30' AS date)",
  );
  const [moment, day] = rows[0] as [Date & { nanosecondsDelta: number }, Date];
  expect(moment.toISOString()).toBe('2026-11-30T10:20:30.123Z');
  expect(moment.nanosecondsDelta).toBeCloseTo(0.0004567, 9);
  expect(day.toISOString()).toBe('2026-11-30T00:00:00.000Z');
});

test('a wrong password is refused', async () => {
  const wrong = connect(
    server.port,
    { encrypt: server.encrypt },
    { userName: server.user, password: 'wrong' },
    server.host,
  );
  await expect(wrong).rejects.toMatchObject({ code: 'ELOGIN' });
});
