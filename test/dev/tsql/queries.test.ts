import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineSession, SqlEngine } from '../../../src/dev/sql-engine.js';
import { batch, errorOf, login, open, rows } from './client.js';

let database: SqlEngine;
let session: EngineSession;
beforeAll(async () => {
  database = await open();
  session = await login(database);
  await rows(
    session,
    `
    CREATE TABLE dept (id int NOT NULL PRIMARY KEY, name nvarchar(20) NOT NULL);
    CREATE TABLE emp (id int IDENTITY(10, 5) PRIMARY KEY, dept int NULL, name varchar(20) NOT NULL, pay decimal(20, 2) NULL, born date NULL DEFAULT '2000-01-02');
    INSERT INTO dept VALUES (1, N'Sales'), (2, N'IT'), (3, N'Empty');
    INSERT INTO emp (dept, name, pay) VALUES (1, 'Ann', 100.10), (1, 'bob', 200.20), (2, 'Ärne', 12345678901234567.25), (NULL, 'Zoe', NULL);`,
  );
});
afterAll(() => database.close());

test.each<[string, unknown[][]]>([
  [
    'SELECT id, name FROM emp ORDER BY name DESC',
    [
      [25, 'Zoe'],
      [15, 'bob'],
      [20, 'Ärne'],
      [10, 'Ann'],
    ],
  ],
  ["SELECT name FROM emp WHERE name = 'BOB'", [['bob']]],
  ['SELECT TOP 2 id FROM emp ORDER BY pay DESC, id', [[20], [15]]],
  [
    'SELECT e.name, d.name FROM emp e JOIN dept d ON d.id = e.dept ORDER BY e.id',
    [
      ['Ann', 'Sales'],
      ['bob', 'Sales'],
      ['Ärne', 'IT'],
    ],
  ],
  [
    'SELECT d.name, e.id FROM dept d LEFT JOIN emp AS e ON e.dept = d.id ORDER BY d.id, e.id',
    [
      ['Sales', 10],
      ['Sales', 15],
      ['IT', 20],
      ['Empty', null],
    ],
  ],
  [
    'SELECT d.name, COUNT(*) AS n, SUM(e.id) FROM dept d JOIN emp e ON e.dept = d.id GROUP BY d.name ORDER BY n DESC',
    [
      ['Sales', 2, 25],
      ['IT', 1, 20],
    ],
  ],
  ['SELECT COUNT(*), COUNT(dept), MIN(name), MAX(id), SUM(id) FROM emp', [[4, 3, 'Ann', 25, 70]]],
  ['SELECT COUNT(*) FROM emp WHERE 1 = 0', [[0]]],
  ['SELECT COUNT(*) FROM dept a CROSS JOIN dept b', [[9]]],
  ['SELECT value FROM GENERATE_SERIES(1, 3)', [[1], [2], [3]]],
  ['SELECT value FROM GENERATE_SERIES(5, 1, -2)', [[5], [3], [1]]],
  ['SELECT id FROM emp WHERE pay > 200', [[15], [20]]],
  ['SELECT id FROM emp WHERE pay = 100.1000', [[10]]],
  ["SELECT id FROM emp WHERE born = '20000102' AND name BETWEEN 'a' AND 'c'", [[10], [15], [20]]],
  ["SELECT id FROM emp WHERE name IN ('ann', 'zoe') AND NOT dept IS NULL", [[10]]],
  ['SELECT id * 2 AS twice FROM dept ORDER BY twice DESC', [[6], [4], [2]]],
  ['SELECT d.* FROM dept AS d WHERE d.id = 1', [[1, 'Sales']]],
  ['SELECT name FROM sys.tables ORDER BY name', [['dept'], ['emp']]],
  [
    "SELECT c.name, c.system_type_id, c.is_nullable FROM sys.columns c WHERE c.object_id = OBJECT_ID('dbo.dept') ORDER BY c.column_id",
    [
      ['id', 56, false],
      ['name', 231, false],
    ],
  ],
])('%s', async (sql, expected) => {
  expect(await rows(session, sql)).toEqual(expected);
});

test.each<[string, number]>([
  ['SELECT name, COUNT(*) FROM emp GROUP BY dept', 8120],
  ['SELECT id FROM emp e JOIN dept d ON e.dept = d.id', 209],
  ['SELECT x.id FROM emp', 4104],
  ['SELECT * FROM emp WHERE COUNT(*) > 1', 147],
  ["INSERT INTO dept VALUES (1, N'x')", 2627],
  ['INSERT INTO dept VALUES (9, NULL)', 515],
  ["INSERT INTO dept VALUES (9, N'a name of more than twenty letters')", 2628],
  ["INSERT INTO emp (id, name) VALUES (1, 'x')", 544],
  ['INSERT INTO dept (id) VALUES (1, 2)', 110],
  ["UPDATE dept SET id = 7 WHERE name = 'IT'", 40510],
  ['SELECT SUM(pay) FROM emp', 40510],
  ['DROP TABLE nothing', 3701],
  ['CREATE TABLE dept (a int)', 2714],
  ['COMMIT', 3902],
  ['ROLLBACK', 3903],
])('%s is error %i', async (sql, number) => {
  expect(await errorOf(session, sql)).toBe(number);
});

test('rows are changed, counted and keep their keys', async () => {
  const answer = await batch(
    session,
    `
    CREATE TABLE #t (id int PRIMARY KEY, s varchar(10) COLLATE Latin1_General_CS_AS, n decimal(38, 0));
    INSERT INTO #t SELECT value, 'x', 99999999999999999999999999999999999999 FROM GENERATE_SERIES(1, 5);
    UPDATE #t SET s = 'X' WHERE id > 3;
    DELETE FROM #t WHERE s = 'X' AND id > 4;
    SELECT id, s, n FROM #t WHERE id > 1 ORDER BY id;
    SELECT @@ROWCOUNT;`,
  );
  expect(answer.messages).toEqual([]);
  expect(answer.done.map(({ rowCount }) => rowCount)).toEqual([undefined, 5, 2, 1, 3, 1]);
  const n = 10n ** 38n - 1n;
  expect(answer.sets.map((set) => set.rows)).toEqual([
    [
      [2, 'x', n],
      [3, 'x', n],
      [4, 'X', n],
    ],
    [[3]],
  ]);
});

test('wide decimals sort, group and compare by value', async () => {
  await rows(
    session,
    `CREATE TABLE wide (d decimal(38, 2)); INSERT INTO wide VALUES (-1), (5), (-99999999999999999999), (99999999999999999999.5), (5.00);`,
  );
  const sorted = await rows(session, 'SELECT d, COUNT(*) FROM wide GROUP BY d ORDER BY d');
  expect(sorted).toEqual([
    [-9999999999999999999900n, 1],
    [-100n, 1],
    [500n, 2],
    [9999999999999999999950n, 1],
  ]);
  expect(await rows(session, 'SELECT MIN(d), MAX(d) FROM wide WHERE d < 100')).toEqual([
    [-9999999999999999999900n, 500n],
  ]);
});

test('a list of thousands is no expression too deep', async () => {
  const list = Array.from({ length: 3000 }, (_, i) => i + 3).join(', ');
  expect(await rows(session, `SELECT id FROM dept WHERE id IN (${list})`)).toEqual([[3]]);
});
