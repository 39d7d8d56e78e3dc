import sql from 'mssql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqlServer, type SqlServer } from '../helpers/sql-server.js';

let server: SqlServer;
const pools: sql.ConnectionPool[] = [];

function connect(encrypt: boolean): Promise<sql.ConnectionPool> {
  const pool = new sql.ConnectionPool({
    server: server.host,
    port: server.port,
    user: server.user,
    password: server.password,
    database: server.database,
    options: { encrypt, trustServerCertificate: true, useUTC: true },
  });
  pools.push(pool);
  return pool.connect();
}

beforeAll(async () => {
  server = await openSqlServer();
});
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await server.close();
});

describe.each([false, true])('mssql, encrypt: %s', (encrypt) => {
  let pool: sql.ConnectionPool;
  beforeAll(async () => {
    pool = await connect(encrypt || server.encrypt);
  });

  test('reads typed values from a batch', async () => {
    const { recordset } = await pool
      .request()
      .batch(`SELECT CAST(1 AS bit) b, CAST(255 AS tinyint) t, CAST(-7 AS int) i,
      CAST(9007199254740993 AS bigint) l, CAST(1.25 AS decimal(10, 2)) d, CAST(0.5 AS float) f, N'ä😀' n,
      CAST('é' AS varchar(10)) v, CAST(0x00FF AS varbinary(8)) x, CAST(NULL AS int) z`);
    expect(recordset[0]).toEqual({
      b: true,
      t: 255,
      i: -7,
      l: '9007199254740993',
      d: 1.25,
      f: 0.5,
      n: 'ä😀',
      v: 'é',
      x: Buffer.from([0, 255]),
      z: null,
    });
  });

  test('passes parameters and reads several recordsets', async () => {
    const { recordsets } = await pool
      .request()
      .input('a', sql.Int, 5)
      .input('b', sql.NVarChar, "it's; --")
      .query('SELECT @a + 1 AS a; SELECT @b AS b');
    expect(recordsets).toEqual([[{ a: 6 }], [{ b: "it's; --" }]]);
  });

  test('changes rows in a transaction and rolls it back', async () => {
    const transaction = new sql.Transaction(pool);
    await pool.request().batch("IF OBJECT_ID('dbo.MssqlClient') IS NOT NULL DROP TABLE dbo.MssqlClient");
    await pool.request().batch('CREATE TABLE dbo.MssqlClient (Id int PRIMARY KEY)');
    await transaction.begin();
    const inserted = await new sql.Request(transaction).query('INSERT INTO dbo.MssqlClient VALUES (1), (2)');
    expect(inserted.rowsAffected).toEqual([2]);
    await transaction.rollback();
    expect((await pool.request().query('SELECT COUNT(*) n FROM dbo.MssqlClient')).recordset).toEqual([
      { n: 0 },
    ]);
    await pool.request().batch('DROP TABLE dbo.MssqlClient');
  });

  test('reports errors by number and goes on', async () => {
    await expect(pool.request().query('SELECT * FROM dbo.NoSuchTable')).rejects.toMatchObject({
      number: 208,
    });
    await expect(pool.request().query('SELECT 1 / 0')).rejects.toMatchObject({ number: 8134 });
    expect((await pool.request().query('SELECT 1 n')).recordset).toEqual([{ n: 1 }]);
  });

  test('cancels a request that waits', async () => {
    const request = pool.request();
    const waiting = request.query("WAITFOR DELAY '00:00:20'");
    waiting.catch(() => {});
    setTimeout(() => request.cancel(), 100);
    await expect(waiting).rejects.toMatchObject({ code: 'ECANCEL' });
    expect((await pool.request().query('SELECT 2 n')).recordset).toEqual([{ n: 2 }]);
  });
});
