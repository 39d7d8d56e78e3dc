import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineSession } from '../../../src/dev/tsql/contract.js';
import type { Database } from '../../../src/dev/tsql/database.js';
import { refusedFunctions, refusedStatements } from '../../../src/dev/tsql/support.js';
import { supportTables } from '../../../src/dev/tsql/support-tables.js';
import { batch, errorOf, login, open } from './client.js';

let database: Database;
let session: EngineSession;
beforeAll(async () => {
  database = await open();
  session = await login(database);
});
afterAll(() => database.close());

test.each(Object.entries(refusedStatements))(
  '%s is refused by name, and nothing of its batch runs',
  async (words, name) => {
    const answer = await batch(session, `PRINT 'before'; ${words} x y z`);
    expect(answer.messages.map((message) => [message.number, message.class])).toEqual([[40510, 16]]);
    expect(answer.messages[0]!.message).toBe(`${name} is not supported by the embedded server.`);
  },
);

test.each([...refusedFunctions])('%s() is refused by name', async (name) => {
  expect(await errorOf(session, `SELECT ${name}(a, 1)`)).toBe(40510);
});

test('the tables of the documentation name functions, views and refusals', () => {
  const { supported, refused } = supportTables();
  expect(supported.join('\n')).toMatch(/DATEADD.*\n.*sys\.dm_exec_requests/);
  expect(refused.join('\n')).toContain('MERGE');
  for (const line of [...supported, ...refused]) expect(line).toMatch(/^\|.*\|$/);
});
