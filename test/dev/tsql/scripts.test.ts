import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineSession, SqlEngine } from '../../../src/dev/sql-engine.js';
import { batch, errorOf, login, open, rows, run } from './client.js';

let database: SqlEngine;
let session: EngineSession;
const folder = new URL('../../../sql/', import.meta.url);

beforeAll(async () => {
  database = await open();
  session = await login(database);
  for (let round = 0; round < 2; round++) {
    for (const file of readdirSync(folder).sort()) {
      for (const text of readFileSync(new URL(file, folder), 'utf8').split(/^GO\s*$/m)) {
        expect((await batch(session, text)).messages).toEqual([]);
      }
    }
  }
});
afterAll(() => database.close());

test('the database is what the wire layer serves', () => {
  const engine: SqlEngine = database;
  expect(engine).toBe(database);
});

test('the scripts run twice and leave ten rows', async () => {
  expect(await rows(session, 'SELECT COUNT(*) FROM dbo.Blogs')).toEqual([[10]]);
});

test('BlogProc waits a second and returns the rows with their column types', async () => {
  const before = Date.now();
  const answer = await batch(session, 'exec BlogProc');
  expect(Date.now() - before).toBeGreaterThanOrEqual(990);
  expect(answer.messages).toEqual([]);
  expect(answer.sets[0]!.columns).toEqual([
    { name: 'BlogId', type: { name: 'int' }, nullable: false, identity: true },
    { name: 'Name', type: { name: 'nvarchar', length: 100 }, nullable: false },
    { name: 'Url', type: { name: 'nvarchar', length: 200 }, nullable: false },
    { name: 'Rating', type: { name: 'int' }, nullable: false },
  ]);
  expect(answer.sets[0]!.rows.length).toBe(10);
  expect(answer.done).toEqual([{ statement: 'select' }]);
  expect(answer.events).toEqual(['begin procedure', 'end procedure']);
});

test("the driver's start-up batch is accepted", async () => {
  const text = `set ansi_nulls on
set ansi_null_dflt_on on
set ansi_padding on
set ansi_warnings on
set arithabort on
set concat_null_yields_null on
set cursor_close_on_commit off
set datefirst 7
set dateformat mdy
set implicit_transactions off
set language us_english
set numeric_roundabort off
set quoted_identifier on
set textsize 2147483647
set transaction isolation level read committed
set xact_abort off`;
  expect((await batch(session, text)).messages).toEqual([]);
});

test.each([
  ['SELECT * FROM dbo.Nothing', 208],
  ['EXEC dbo.Nothing', 2812],
  ['SELEC 1', 2812],
  ['SELECT FROM', 156],
  ["SELECT 'a", 105],
  ['SELECT nothing FROM dbo.Blogs', 207],
  ['SELECT @nothing', 137],
])('%s is error %i', async (sql, number) => {
  expect(await errorOf(session, sql)).toBe(number);
});

test('a wrong password is 18456, an unknown database 4060', async () => {
  await expect(login(database, { password: 'x' })).rejects.toMatchObject({
    loginRefusal: true,
    number: 18456,
    class: 14,
  });
  await expect(login(database, { database: 'x' })).rejects.toMatchObject({
    loginRefusal: true,
    number: 4060,
    class: 11,
  });
});

test('sp_executesql binds typed parameters and returns OUTPUT values', async () => {
  const answer = await run(
    session,
    'SELECT @a + 1 AS n, @s AS s; SET @o = @a * 2',
    '@a int, @s nvarchar(10), @o int OUTPUT',
    [
      { name: '@a', type: { name: 'int' }, value: 20, output: false },
      { name: '@s', type: { name: 'nvarchar', length: 10 }, value: 'día', output: false },
      { name: '@o', type: { name: 'int' }, value: null, output: true },
    ],
  );
  expect(answer.messages).toEqual([]);
  expect(answer.sets[0]!.rows).toEqual([[21, 'día']]);
  expect(answer.returned).toEqual([{ name: '@o', type: { name: 'int' }, value: 40 }]);
});

test('a waiting request is seen by others and ends with its signal', async () => {
  const waiter = await login(database);
  const abort = new AbortController();
  const running = batch(waiter, "WAITFOR DELAY '00:00:30'", abort.signal);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const seen = await rows(
    session,
    `SELECT status, command, wait_type FROM sys.dm_exec_requests WHERE session_id = ${waiter.id}`,
  );
  expect(seen).toEqual([['suspended', 'WAITFOR', 'WAITFOR']]);
  expect(
    await rows(session, `SELECT program_name FROM sys.dm_exec_sessions WHERE session_id = ${waiter.id}`),
  ).toEqual([['test']]);
  abort.abort();
  expect((await running).messages).toEqual([]);
  expect(await rows(session, `SELECT * FROM sys.dm_exec_requests WHERE session_id = ${waiter.id}`)).toEqual(
    [],
  );
  waiter.close();
});
