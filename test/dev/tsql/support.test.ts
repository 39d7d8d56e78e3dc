import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineSession, SqlEngine } from '../../../src/dev/sql-engine.js';
import { functionNames } from '../../../src/dev/tsql/functions.js';
import { refusedFunctions, refusedMarkdown, supportedMarkdown } from '../../../src/dev/tsql/support.js';
import { viewNames } from '../../../src/dev/tsql/views.js';
import { batch, errorOf, login, open } from './client.js';

let database: SqlEngine;
let session: EngineSession;
beforeAll(async () => {
  database = await open();
  session = await login(database);
});
afterAll(() => database.close());

test.each([
  'MERGE t USING u ON 1 = 1 WHEN MATCHED THEN DELETE',
  'ALTER TABLE t ADD a int',
  'CREATE VIEW v AS SELECT 1 AS a',
  'CREATE OR ALTER FUNCTION f() RETURNS int AS BEGIN RETURN 1 END',
  'CREATE UNIQUE INDEX i ON t (a)',
  'CREATE INDEX i ON t (a)',
  'DROP VIEW v',
  'TRUNCATE TABLE t',
  'WITH a AS (SELECT 1 AS b) SELECT b FROM a',
  'BULK INSERT t FROM x',
  'OPEN c',
  'GOTO x',
  'SAVE TRAN x',
  'BEGIN DISTRIBUTED TRAN',
  'BACKUP DATABASE x',
  'DBCC CHECKDB',
  'GRANT SELECT ON t TO u',
  'USE master',
])('%s is refused by name, and nothing of its batch runs', async (sql) => {
  const answer = await batch(session, `PRINT 'before'; ${sql}`);
  expect(answer.messages.map(({ number, class: level }) => [number, level])).toEqual([[40510, 16]]);
  expect(answer.messages[0]!.message).toMatch(/^\S+ is not supported by the embedded server\.$/);
});

test.each([...refusedFunctions])('%s() is refused by name', async (name) => {
  expect(await errorOf(session, `SELECT ${name}(a, 1)`)).toBe(40510);
});

test('no function is both supported and refused', () => {
  expect(functionNames().filter((name) => refusedFunctions.has(name))).toEqual([]);
});

test.each([
  'SELECT DISTINCT 1',
  'SELECT 1 UNION ALL SELECT 2',
  'SELECT 1 EXCEPT SELECT 2',
  'SELECT 1 INTO x',
  'SELECT (SELECT 1)',
  'SELECT 1 FROM (SELECT 1 AS a) x',
  'SELECT 1 FROM a RIGHT JOIN b ON 1 = 1',
  'SELECT 1 FROM a CROSS APPLY b',
  "SELECT 1 FROM STRING_SPLIT(N'a', N',')",
  'SELECT COUNT(*) FROM sys.tables GROUP BY name HAVING COUNT(*) > 1',
  'SELECT name FROM sys.tables ORDER BY name OFFSET 1 ROWS',
  'SELECT name FROM sys.tables FOR JSON PATH',
  "SELECT 1 WHERE 'a' LIKE 'b'",
  'SELECT 1 WHERE 1 IN (SELECT 1)',
  'SELECT 1 WHERE EXISTS (SELECT 1)',
  'SELECT 1 & 2',
  'SELECT TOP 10 PERCENT 1',
  'SELECT CONVERT(varchar(10), 1, 1)',
  'SELECT COUNT(*) OVER () FROM sys.tables',
  'DECLARE @t TABLE (a int)',
  'DECLARE c CURSOR FOR SELECT 1',
  'CREATE TABLE x (a int UNIQUE)',
  'CREATE TABLE x (a int CHECK (a > 1))',
  'CREATE TABLE x (a AS 1)',
  'CREATE TABLE x (a sql_variant)',
  'INSERT x EXEC y',
  'UPDATE x SET a = 1 FROM y',
  'DELETE TOP (1) FROM x',
  'SET ANSI_NULLS OFF',
  'SET IDENTITY_INSERT x ON',
  "EXEC ('SELECT 1')",
  "EXEC sp_executesql N'SELECT 1'",
  "WAITFOR TIME '10:00'",
  'BEGIN TRAN; CREATE TABLE x (a int)',
  'SELECT * FROM elsewhere.dbo.x',
])('%s is refused by name', async (sql) => {
  expect(await errorOf(session, sql)).toBe(40510);
  await batch(session, 'IF @@TRANCOUNT > 0 ROLLBACK');
});

test('the tables of the documentation name functions, views and refusals', () => {
  const supported = supportedMarkdown(functionNames(), viewNames());
  expect(supported.join('\n')).toMatch(/COALESCE.*\n.*sys\.dm_exec_requests/);
  expect(refusedMarkdown().join('\n')).toContain('MERGE');
  for (const line of [...supported, ...refusedMarkdown()]) expect(line).toMatch(/^\|.*\|$/);
});
