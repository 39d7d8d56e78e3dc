import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { closeSqlStreams } from '../../src/index.js';
import { FunctionsProxy } from '../helpers/functions-proxy.js';
import { RawServer } from '../helpers/sql-raw-server.js';
import { recordset, script } from '../helpers/sql-script.js';

let server: RawServer;
let proxy: FunctionsProxy;

beforeAll(async () => {
  server = await new RawServer((request, session) =>
    request.text === 'exec BlogProc' ? session.send(recordset(1, 2)) : script(request, session),
  ).listen();
  process.env['SqlConnectionString'] = server.connectionString;
  await import('../../src/functions/BlogAsync.js');
  proxy = await FunctionsProxy.start({});
});

afterAll(async () => {
  await closeSqlStreams(0);
  await server.close();
});

test('BlogAsync streams the rows of BlogProc', async () => {
  const answer = await proxy.call('BlogAsync');
  expect(answer).toMatchObject({ status: 200, body: '[{"Id":1},{"Id":2}]', complete: true });
  expect(answer.headers['content-type']).toBe('application/json');
});

test('without its database, BlogAsync answers 503 and says when to try again', async () => {
  vi.spyOn(console, 'error').mockReturnValue();
  await server.close();
  const answer = await proxy.call('BlogAsync');
  expect(answer.status).toBe(503);
  expect(answer.headers['retry-after']).toMatch(/^\d+$/);
  expect(JSON.parse(answer.body)).toMatchObject({ code: 'EConnect' });
});

test('the file fits on one screen', () => {
  const file = fileURLToPath(new URL('../../src/functions/BlogAsync.ts', import.meta.url));
  expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(30);
});
