import { spawn, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqlServer, type SqlServer } from '../helpers/sql-server.js';

const hasTsql = spawnSync('tsql', ['-C']).status === 0;
let server: SqlServer;
beforeAll(async () => {
  server = await openSqlServer();
});
afterAll(() => server.close());

function tsql(sql: string): Promise<string> {
  const args = ['-H', server.host, '-p', String(server.port), '-U', server.user, '-P', server.password];
  const child = spawn('tsql', [...args, '-D', server.database, '-o', 'fhq'], {
    env: { ...process.env, LC_ALL: 'C.UTF-8', TDSVER: '7.4' },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  child.stdin.end(`${sql}\ngo\nexit\n`);
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  return new Promise((resolve) =>
    child.on('close', () => {
      clearTimeout(timer);
      resolve(text);
    }),
  );
}

describe.skipIf(!hasTsql)('FreeTDS (skipped where tsql is not installed)', () => {
  test('reads rows', async () => {
    expect(await tsql("SELECT 1 AS a, N'zwölf' AS b, CAST(NULL AS int) AS c")).toMatch(/1\tzwölf\tNULL/);
  });

  test('gets the error of a wrong table', async () => {
    expect(await tsql('SELECT * FROM dbo.NoSuchTable')).toMatch(/Msg 208/);
  });

  test('waits for a procedure', async () => {
    expect(await tsql("WAITFOR DELAY '00:00:00.200'; SELECT 7 AS n")).toMatch(/^7$/m);
  });
});
