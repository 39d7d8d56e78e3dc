import sql from 'mssql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { within } from '../../helpers/sql-client.js';
import { credentials, TestEngine } from '../../helpers/tds-engine.js';

const engine = new TestEngine();
let server: TdsServer;
let pool: sql.ConnectionPool;
beforeAll(async () => {
  server = await startTdsServer({ engine, port: 0 });
  pool = await new sql.ConnectionPool({
    server: '127.0.0.1',
    port: server.port,
    ...credentials,
    options: { encrypt: false },
    pool: { max: 3 },
  }).connect();
});
afterAll(async () => {
  await pool.close();
  await server.close();
});

test('query, batch and a procedure with outputs and a return status', async () => {
  const query = await pool.request().input('a', sql.Int, 5).input('b', sql.NVarChar, 'ä').query('echo');
  expect(query.recordset).toEqual([{ a: 5, b: 'ä' }]);
  const batch = await pool.request().batch('select 1; select 2; affect 7');
  expect(batch.recordsets).toEqual([[{ n: 1 }], [{ n: 2 }]]);
  expect(batch.rowsAffected).toEqual([1, 1, 7]);
  const procedure = await pool.request().output('o', sql.VarChar(10), 'out').execute('dbo.echo');
  expect([procedure.output, procedure.returnValue]).toEqual([{ o: 'out' }, 7]);
});

test('errors keep their number, and all of them are there', async () => {
  const failed = await pool
    .request()
    .batch('error 208; error 8134')
    .catch((error) => error);
  expect(failed.number).toBe(8134);
  expect(failed.precedingErrors.map((error: { number: number }) => error.number)).toEqual([208]);
});

test('a prepared statement runs many times', async () => {
  const prepared = new sql.PreparedStatement(pool);
  prepared.input('n', sql.BigInt);
  await prepared.prepare('echo');
  for (const n of ['1', '9223372036854775807']) {
    expect((await prepared.execute({ n })).recordset).toEqual([{ n }]);
  }
  await prepared.unprepare();
});

test('a transaction begins, runs and commits on one session', async () => {
  engine.transactions.length = 0;
  const transaction = new sql.Transaction(pool);
  await transaction.begin(sql.ISOLATION_LEVEL.SNAPSHOT);
  await new sql.Request(transaction).query('select 1');
  await transaction.commit();
  expect(engine.transactions).toEqual(['begin', 'commit']);
});

test('requests cancelled in many turns give their connections back', async () => {
  for (let round = 0; round < 20; round++) {
    const requests = Array.from({ length: 3 }, () => {
      const request = pool.request();
      const result = request.query('wait 60000').then(
        () => 'done',
        (error) => error.code,
      );
      return { request, result };
    });
    await new Promise((resolve) => setTimeout(resolve, round % 5));
    for (const { request } of requests) request.cancel();
    const codes = await within(
      5_000,
      'the cancelled requests',
      Promise.all(requests.map(({ result }) => result)),
    );
    expect(codes).toEqual(['ECANCEL', 'ECANCEL', 'ECANCEL']);
  }
  expect((await pool.request().query('select 3')).recordset).toEqual([{ n: 3 }]);
  expect(pool.borrowed).toBe(0);
});

test('a timeout of the client cancels at the server', async () => {
  const short = await new sql.ConnectionPool({
    server: '127.0.0.1',
    port: server.port,
    ...credentials,
    requestTimeout: 200,
    options: { encrypt: false },
  }).connect();
  await expect(short.request().query('wait 60000')).rejects.toMatchObject({ code: 'ETIMEOUT' });
  expect((await short.request().query('select 4')).recordset).toEqual([{ n: 4 }]);
  await short.close();
});
