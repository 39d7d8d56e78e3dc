import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineSession } from '../../../src/dev/tsql/contract.js';
import type { Database } from '../../../src/dev/tsql/database.js';
import { batch, errorOf, login, open, rows } from './client.js';

let database: Database;
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
    'SELECT d.name, COUNT(*) AS n, SUM(e.pay) FROM dept d JOIN emp e ON e.dept = d.id GROUP BY d.name HAVING COUNT(*) > 0 ORDER BY n DESC',
    [
      ['Sales', 2, 30030n],
      ['IT', 1, 1234567890123456725n],
    ],
  ],
  [
    'SELECT COUNT(*), COUNT(dept), COUNT(DISTINCT dept), MIN(name), MAX(id), AVG(id) FROM emp',
    [[4, 3, 2, 'Ann', 25, 17]],
  ],
  [
    'SELECT dept + 1, COUNT(*) FROM emp GROUP BY dept + 1 ORDER BY 1',
    [
      [null, 1],
      [2, 2],
      [3, 1],
    ],
  ],
  ['SELECT COUNT(*) FROM emp WHERE 1 = 0', [[0]]],
  ['SELECT 1 UNION ALL SELECT 2.5 ORDER BY 1', [[10n], [25n]]],
  ["SELECT COUNT(*) FROM (SELECT 'a' AS s UNION SELECT 'A' UNION SELECT 'b') u", [[2]]],
  ['SELECT x.n FROM (SELECT id * 2 AS n FROM dept) AS x WHERE x.n > 2 ORDER BY n', [[4], [6]]],
  ['SELECT t.a + t.b FROM (VALUES (1, 2), (3, 4)) AS t(a, b)', [[3], [7]]],
  ['SELECT name FROM dept d WHERE NOT EXISTS (SELECT 1 FROM emp e WHERE e.dept = d.id)', [['Empty']]],
  ['SELECT name FROM dept WHERE id IN (SELECT dept FROM emp) ORDER BY id', [['Sales'], ['IT']]],
  ['SELECT name FROM dept WHERE id NOT IN (SELECT dept FROM emp)', []],
  [
    'SELECT d.id, (SELECT COUNT(*) FROM emp e WHERE e.dept = d.id) FROM dept d ORDER BY d.id',
    [
      [1, 2],
      [2, 1],
      [3, 0],
    ],
  ],
  ['WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT SUM(i) FROM n', [[15]]],
  [
    'WITH a AS (SELECT id FROM dept), b AS (SELECT id + 1 AS j FROM a) SELECT j FROM b ORDER BY j DESC',
    [[4], [3], [2]],
  ],
  ['SELECT COUNT(*), MAX(i) FROM (SELECT TOP 1000 1 AS one) z CROSS JOIN (SELECT 7 AS i) y', [[1, 7]]],
  ['SELECT value FROM GENERATE_SERIES(1, 3)', [[1], [2], [3]]],
  ['SELECT value FROM GENERATE_SERIES(5, 1, -2)', [[5], [3], [1]]],
  [
    'SELECT ROW_NUMBER() OVER (PARTITION BY dept ORDER BY id DESC), id FROM emp WHERE dept = 1 ORDER BY id',
    [
      [2n, 10],
      [1n, 15],
    ],
  ],
  ['SELECT id FROM dept ORDER BY id OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY', [[2]]],
  ['SELECT DISTINCT dept FROM emp ORDER BY dept', [[null], [1], [2]]],
  ['SELECT id FROM dept INTERSECT SELECT 2', [[2]]],
  ['SELECT id FROM emp WHERE pay > 200', [[15], [20]]],
  ['SELECT id FROM emp WHERE pay = 100.1000', [[10]]],
  ["SELECT id FROM emp WHERE born = '20000102' AND name LIKE '[a-b]%'", [[10], [15]]],
  ["SELECT STRING_AGG(name, ', ') FROM dept", [['Sales, IT, Empty']]],
  ['SELECT d.* FROM dept AS d WHERE d.id = 1', [[1, 'Sales']]],
  ['SELECT name FROM sys.tables ORDER BY name', [['dept'], ['emp']]],
  [
    "SELECT c.name, t.name, c.max_length FROM sys.columns c JOIN sys.types t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID('dbo.dept') ORDER BY c.column_id",
    [
      ['id', 'int', 4],
      ['name', 'nvarchar', 40],
    ],
  ],
  ['SELECT AVG(pay) FROM emp WHERE dept = 1', [[150150000n]]],
])('%s', async (sql, expected) => {
  expect(await rows(session, sql)).toEqual(expected);
});

test.each<[string, number]>([
  ['SELECT name, COUNT(*) FROM emp GROUP BY dept', 8120],
  ['SELECT (SELECT d.name FROM dept d WHERE d.id = e.id) FROM emp e GROUP BY dept', 8120],
  ['SELECT id FROM emp e JOIN dept d ON e.dept = d.id', 209],
  ['SELECT x.id FROM emp', 4104],
  ['SELECT (SELECT id FROM dept)', 512],
  ['SELECT * FROM emp WHERE COUNT(*) > 1', 147],
  ['SELECT 1, 2 UNION ALL SELECT 1', 205],
  ['WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n', 530],
  ["INSERT INTO dept VALUES (1, N'x')", 2627],
  ['INSERT INTO dept VALUES (9, NULL)', 515],
  ["INSERT INTO dept VALUES (9, N'a name of more than twenty letters')", 2628],
  ["INSERT INTO emp (id, name) VALUES (1, 'x')", 544],
  ['INSERT INTO dept (id) VALUES (1, 2)', 110],
  ['SELECT * FROM emp FOR JSON PATH', 40510],
  ['MERGE dept USING emp ON 1 = 1 WHEN MATCHED THEN DELETE', 40510],
  ['SELECT TOP 10 PERCENT * FROM emp', 40510],
  ['DECLARE c CURSOR FOR SELECT 1', 40510],
  ['CREATE VIEW v AS SELECT 1 AS a', 40510],
  ['SET ANSI_NULLS OFF', 40510],
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
    UPDATE #t SET id = id + 1;
    UPDATE t SET s = d.name FROM #t t JOIN dept d ON d.id = t.id WHERE d.id > 1;
    DELETE FROM #t WHERE id > 4;
    SELECT id, s, n FROM #t ORDER BY id;
    SELECT @@ROWCOUNT;`,
  );
  expect(answer.messages).toEqual([]);
  expect(answer.done.map(({ rowCount }) => rowCount)).toEqual([undefined, 5, 5, 2, 2, 3, 1]);
  const n = 10n ** 38n - 1n;
  expect(answer.sets.map((set) => set.rows)).toEqual([
    [
      [2, 'IT', n],
      [3, 'Empty', n],
      [4, 'x', n],
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
  expect(await rows(session, 'SELECT MIN(d), MAX(d), SUM(d) FROM wide WHERE d < 100')).toEqual([
    [-9999999999999999999900n, 500n, -9999999999999999999000n],
  ]);
});
