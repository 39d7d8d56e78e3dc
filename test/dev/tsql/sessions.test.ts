import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineSession, SqlEngine } from '../../../src/dev/sql-engine.js';
import { batch, collector, errorOf, login, open, rows } from './client.js';

let database: SqlEngine;
let session: EngineSession;
beforeAll(async () => {
  database = await open({
    procedures: {
      'dev.echo': (args) => ({
        columns: [{ name: 'x', type: { name: 'int' }, nullable: true }],
        rows: [[args['x'] ?? null]],
      }),
    },
  });
  session = await login(database);
  await rows(session, 'CREATE TABLE t (id int PRIMARY KEY, n int NULL)');
});
afterAll(() => database.close());

const messages = async (sql: string) =>
  (await batch(session, sql)).messages.map(({ number, message }) => [number, message]);

test('control flow: WHILE, BREAK, CONTINUE, IF, RETURN', async () => {
  const answer = await batch(
    session,
    `
    DECLARE @i int = 0, @s int = 0;
    WHILE 1 = 1 BEGIN
      SET @i += 1;
      IF @i = 3 CONTINUE;
      IF @i > 5 BREAK;
      SET @s = @s + @i;
    END
    SELECT @i, @s;
    IF @s = 12 PRINT 'twelve' ELSE PRINT 'other';
    RETURN;
    SELECT 'never';`,
  );
  expect(answer.sets.map((set) => set.rows)).toEqual([[[6, 12]]]);
  expect(answer.messages.map(({ number, class: c, message }) => [number, c, message])).toEqual([
    [0, 0, 'twelve'],
  ]);
});

test('TRY CATCH sees the error, THROW raises it again', async () => {
  const answer = await batch(
    session,
    `
    BEGIN TRY
      SELECT 1 / 0;
    END TRY
    BEGIN CATCH
      SELECT ERROR_NUMBER(), ERROR_SEVERITY(), ERROR_STATE(), ERROR_LINE(), ERROR_MESSAGE();
      THROW;
    END CATCH`,
  );
  expect(answer.sets.at(-1)!.rows).toEqual([[8134, 16, 1, 3, 'Divide by zero error encountered.']]);
  expect(answer.messages.map(({ number, line }) => [number, line])).toEqual([[8134, 3]]);
});

test('a failed statement does not end its batch, a failed conversion does', async () => {
  expect((await batch(session, 'SELECT 1 / 0; SELECT 2')).sets.at(-1)!.rows).toEqual([[2]]);
  expect((await batch(session, "SELECT CAST('x' AS int); SELECT 2")).sets.flatMap((set) => set.rows)).toEqual(
    [],
  );
});

test('THROW and RAISERROR give their numbers, severities and texts', async () => {
  expect(await messages("THROW 50123, 'mine', 7")).toEqual([[50123, 'mine']]);
  expect(await messages("RAISERROR('%s has %d', 16, 1, N'x', 5); PRINT 'after'")).toEqual([
    [50000, 'x has 5'],
    [0, 'after'],
  ]);
});

test('procedures: parameters, defaults, OUTPUT, status, nesting', async () => {
  await rows(
    session,
    "CREATE OR ALTER PROCEDURE p @a int, @b varchar(10) = 'none', @c int = NULL OUTPUT AS BEGIN SET @c = @a * 2; SELECT @a, @b; RETURN 7 END",
  );
  const answer = await batch(
    session,
    "DECLARE @r int, @o int; EXEC @r = dbo.p @a = 5, @c = @o OUTPUT; SELECT @r, @o; EXEC p 1, 'x';",
  );
  expect(answer.messages).toEqual([]);
  expect(answer.sets.map((set) => set.rows)).toEqual([[[5, 'none']], [[7, 10]], [[1, 'x']]]);
  expect(answer.status).toEqual([7, 7]);
  expect(await errorOf(session, 'EXEC p')).toBe(201);
  expect(await errorOf(session, 'EXEC p 1, 2, 3, 4')).toBe(8144);
  expect(await errorOf(session, 'EXEC p @x = 1')).toBe(8145);
  await rows(session, 'CREATE OR ALTER PROCEDURE q AS EXEC q');
  expect(await errorOf(session, 'EXEC q')).toBe(217);
});

test('SCOPE_IDENTITY is of the scope', async () => {
  await rows(session, 'CREATE TABLE ids (id int IDENTITY(7, 3), n int)');
  await rows(session, 'CREATE PROCEDURE add_id AS INSERT ids (n) VALUES (1)');
  expect(
    await rows(session, 'INSERT ids (n) VALUES (1); EXEC add_id; SELECT SCOPE_IDENTITY(), MAX(id) FROM ids'),
  ).toEqual([[7n, 10]]);
});

test("the program's own procedures take arguments by name and return rows", async () => {
  expect((await batch(session, 'EXEC dev.echo @x = 5')).sets[0]!.rows).toEqual([[5]]);
});

test('their rows are counted as those of a SELECT, unless NOCOUNT is on', async () => {
  const answer = await batch(
    session,
    'EXEC dev.echo; SELECT @@ROWCOUNT; SET NOCOUNT ON; EXEC dev.echo; SET NOCOUNT OFF',
  );
  expect(answer.done.map(({ rowCount }) => rowCount)).toEqual([1, 1, undefined]);
  expect(answer.sets[1]!.rows).toEqual([[1]]);
});

test('a transaction is seen when it commits and undone when it rolls back', async () => {
  const other = await login(database);
  await rows(session, 'BEGIN TRAN; INSERT INTO t VALUES (1, 1);');
  expect(await errorOf(other, 'SET LOCK_TIMEOUT 50; SELECT * FROM t')).toBe(1222);
  const reading = rows(other, 'SET LOCK_TIMEOUT -1; SELECT * FROM t');
  await rows(session, 'ROLLBACK');
  expect(await reading).toEqual([]);
  await rows(
    session,
    'BEGIN TRAN; BEGIN TRAN; INSERT INTO t VALUES (1, 1); COMMIT; SELECT @@TRANCOUNT; COMMIT',
  );
  expect(await rows(other, 'SELECT id FROM t')).toEqual([[1]]);
  other.close();
});

test('a closed session gives up its transaction', async () => {
  const other = await login(database);
  await rows(other, 'BEGIN TRAN; DELETE FROM t');
  other.close();
  expect(await rows(session, 'SELECT COUNT(*) FROM t')).toEqual([[1]]);
});

test('with XACT_ABORT an error rolls back and ends the batch', async () => {
  const answer = await batch(
    session,
    'SET XACT_ABORT ON; BEGIN TRAN; INSERT INTO t VALUES (2, 2); INSERT INTO t VALUES (1, 1); SELECT 5',
  );
  expect(answer.messages.map(({ number }) => number)).toEqual([2627]);
  expect(answer.events).toEqual(['begin', 'rollback']);
  expect(await rows(session, 'SET XACT_ABORT OFF; SELECT COUNT(*), @@TRANCOUNT FROM t')).toEqual([[1, 0]]);
});

test('a million rows begin at once, wait for the client and leave others running', async () => {
  const other = await login(database);
  const { answer, response } = collector();
  let count = 0;
  let first = 0;
  let longest = 0;
  const started = performance.now();
  response.row = () => {
    if (count++ === 0) first = performance.now() - started;
  };
  let waits = 0;
  response.drained = () =>
    count % 100_000 === 0 && waits++ < 5 ? new Promise((resolve) => setTimeout(resolve, 5)) : undefined;
  let over = false;
  const streaming = session
    .batch("SELECT value, value * 2, N'text' FROM GENERATE_SERIES(1, 1000000)", {
      response,
      signal: new AbortController().signal,
    })
    .then(() => {
      over = true;
    });
  while (!over) {
    const before = performance.now();
    expect(await rows(other, 'SELECT 1')).toEqual([[1]]);
    longest = Math.max(longest, performance.now() - before);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await streaming;
  expect(answer.messages).toEqual([]);
  expect(count).toBe(1_000_000);
  expect(first).toBeLessThan(1000);
  expect(longest).toBeLessThan(500);
  other.close();
}, 60_000);

test('a stream ends soon after its signal', async () => {
  const { response } = collector();
  const abort = new AbortController();
  let count = 0;
  response.row = () => {
    if (++count === 1000) setImmediate(() => abort.abort());
  };
  await session.batch('SELECT value FROM GENERATE_SERIES(1, 1000000000)', { response, signal: abort.signal });
  expect(count).toBeLessThan(1_000_000);
  expect(await rows(session, 'SELECT 1')).toEqual([[1]]);
});

test('an endless loop leaves others running and ends with its signal', async () => {
  const other = await login(database);
  const abort = new AbortController();
  const loop = batch(other, 'WHILE 1 = 1 SET NOCOUNT ON', abort.signal);
  for (let i = 0; i < 5; i++) expect(await rows(session, 'SELECT 1')).toEqual([[1]]);
  setTimeout(() => abort.abort(), 20);
  expect((await loop).messages).toEqual([]);
  other.close();
});

test('a thousand sessions wait at once', async () => {
  const sessions = await Promise.all(Array.from({ length: 1000 }, () => login(database)));
  const answers = await Promise.all(
    sessions.map((s) => rows(s, "WAITFOR DELAY '00:00:00.300'; SELECT @@SPID")),
  );
  expect(new Set(answers.map((answer) => answer[0]![0])).size).toBe(1000);
  for (const s of sessions) s.close();
  expect(await rows(session, 'SELECT COUNT(*) FROM sys.dm_exec_sessions')).toEqual([[1]]);
});

test('reset drops temp tables and settings and rolls back', async () => {
  const other = await login(database);
  await rows(other, 'CREATE TABLE #x (a int); SET NOCOUNT ON; BEGIN TRAN; DELETE FROM t');
  await other.reset();
  expect(await errorOf(other, 'SELECT * FROM #x')).toBe(208);
  expect((await batch(other, 'SELECT COUNT(*), @@TRANCOUNT FROM t')).sets[0]!.rows).toEqual([[1, 0]]);
  other.close();
});
