import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCertificate } from '../../../src/dev/cli/certificate.js';
import { Faults } from '../../../src/dev/faults/faults.js';
import { SqlConnections } from '../../../src/dev/host/sql/sql-connections.js';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { BlockingPool } from '../../../src/threads/index.js';
import { within } from '../../helpers/run.js';
import { credentials } from '../../helpers/tds-engine.js';
import { fixture, type StartedApp, startApp, until } from './apps.js';
import { bindingEngine, caseNames, overflow } from './binding-cases.js';

/** What the extension itself writes; see golden/witness. */
const golden: Record<string, string> = JSON.parse(
  readFileSync(new URL('golden/data-table.json', import.meta.url), 'utf8'),
);

const engine = bindingEngine();
const faults = new Faults();
let server: TdsServer;
let app: StartedApp;
let typed: StartedApp;
const threads = new BlockingPool({ min: 2, max: 2 });

beforeAll(async () => {
  server = await startTdsServer({ engine: faults.wrap(engine), port: 0, serverName: 'testing' });
  const password = `"${credentials.password}"`;
  const Db = `Server=127.0.0.1,${server.port};User Id=sa;Password=${password};Encrypt=false`;
  app = await startApp(fixture('sql'), { env: { Db, Number: '42' } });
  typed = await startApp(fixture('sql'), { env: { Db, Number: '42', TYPED: 'true' }, sqlThreads: threads });
});
afterAll(async () => {
  await Promise.all([app?.host.stop(), typed?.host.stop()]);
  await Promise.all([server?.close(), threads.close()]);
});

const read = async (path: string, init?: RequestInit) => {
  const answer = await within(5_000, path, app.get(`/api/${path}`, init));
  return answer.status === 200 ? answer.json() : answer.status;
};

describe('values are those that the extension gives', () => {
  test.each(caseNames)('%s', async (name) => {
    expect(await read(`type/${encodeURIComponent(name)}`)).toEqual(JSON.parse(golden[name] as string));
  });

  test('a decimal that no System.Decimal holds fails, here and there', async () => {
    expect(golden[overflow]).toMatch(/^OverflowException: Conversion overflows/);
    expect(await read(`type/${encodeURIComponent(overflow)}`)).toBe(500);
    await app.logged(/'Functions\.\w+' \(Failed, .*Conversion overflows/);
  });

  test('typed data, and bindings that run on blocking threads, give the same', async () => {
    for (const name of caseNames) {
      const answer = await typed.get(`/api/type/${encodeURIComponent(name)}`);
      expect(await answer.json()).toEqual(JSON.parse(golden[name] as string));
    }
    expect((await typed.get('/api/Fails')).status).toBe(500);
    await typed.logged(/'Functions\.Fails' \(Failed, .*as asked/);
  });
});

describe('parameters, by the rules of the extension', () => {
  const headers = { 'x-h': 'head' };
  const text = (id: string, q: string) => read(`text/${id}?q=${encodeURIComponent(q)}`, { headers });

  test('route, query and header values go as strings', async () => {
    expect(await text('5', 'ü ;--')).toEqual([{ id: '5', q: 'ü ;--', h: 'head' }]);
    expect(engine.executions.at(-1)?.declarations).toMatch(/^@id nvarchar\(4000\)/i);
  });

  test('null in any letter case is NULL, nothing is an empty string', async () => {
    expect(await text('Null', 'NULL')).toEqual([{ id: null, q: null, h: 'head' }]);
    expect(await text('1', '')).toEqual([{ id: '1', q: '', h: 'head' }]);
  });

  test('an equals sign in a value is a 500 with the reason in the log; a comma can add a parameter', async () => {
    expect(await text('1', 'x=1')).toBe(500);
    expect(await text('1', 'a,b')).toBe(500);
    await app.logged(/'Functions\.Text' \(Failed, .*parameters of the sql binding are malformed/);
    expect(await text('1', '1,@b=2')).toEqual([{ id: '1', q: '1', b: '2', h: 'head' }]);
  });

  test('of a repeated name the last value counts, its letter case does not, and a missing one is a 500', async () => {
    expect(await read('Optional?a=1&A=2')).toEqual([{ a: '2' }]);
    expect(await read('Optional?b=1')).toBe(500);
    await app.logged(/'Functions\.Optional' \(Failed, .*Query\.a/);
  });

  test('a value over 4,000 characters is not cut', async () => {
    const long = 'x'.repeat(5_000);
    expect(await text('1', long)).toEqual([{ id: '1', q: long, h: 'head' }]);
  });

  test('a stored procedure is called by name', async () => {
    expect(await read('procedure/9')).toEqual([{ id: '9' }]);
  });

  test('%settings% stand for their values', async () => {
    expect(await read('Setting')).toEqual([{ n: 42 }]);
  });
});

test('the first recordset only, and an empty array when there is none', async () => {
  expect(await read('Sets')).toEqual([{ n: 1 }]);
  expect(await read('Nothing')).toEqual([]);
});

test('a failed query is a 500 before the handler, with its error in the log and not in the answer', async () => {
  const answer = await app.get('/api/Fails');
  expect([answer.status, (await answer.json()).code]).toEqual([500, 'BindingFailed']);
  await app.logged(
    /'Functions\.Fails' \(Failed, .*SQL: as asked \(error 50001, line 1\); as asked \(error 50000, line 1\)/,
  );
  expect(await read('Setting')).toEqual([{ n: 42 }]);
});

test('a transient error is a 500 too, and not tried again, as in the extension; the next request is served', async () => {
  faults.add({ at: 'start', action: 'error', number: 40613, sql: '42', times: 1 });
  expect(await read('Setting')).toBe(500);
  await app.logged(/'Functions\.Setting' \(Failed, .*not currently available.*\(error 40613/);
  expect(await read('Setting')).toEqual([{ n: 42 }]);
});

test('a certificate that nobody has signed is explained', async () => {
  const secure = await startTdsServer({ engine, port: 0, tls: await createCertificate() });
  const connections = new SqlConnections(
    `Server=127.0.0.1,${secure.port};User Id=sa;Password=x;Encrypt=true`,
  );
  const reading = connections.read({ commandText: 'select 1', isProcedure: false, parameters: [] });
  await expect(reading).rejects.toThrow(/^SQL: .*self-signed certificate.*TrustServerCertificate=true/);
  await connections.close();
  await secure.close();
});

test('a request with a body waits for its binding and keeps the body', async () => {
  expect(await read('Waits', { method: 'POST', body: 'x'.repeat(200_000) })).toEqual([{ n: 7 }]);
});

test('on threads, each request holds one from start to end, and the rest waits', async () => {
  const answers = Array.from({ length: 4 }, () => typed.get('/api/Waits'));
  await until(
    'two threads stand still',
    () => threads.counts().blocked === 2 && threads.counts().queued === 2,
  );
  const { threads: seen } = threads.snapshot();
  expect(seen.map(({ functionName }) => functionName)).toEqual(['Waits', 'Waits']);
  for (const answer of answers) expect(await (await answer).text()).toBe('[{"n":7}]');
});

test('concurrent first requests share the attempt to connect', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => read('Waits')));
  expect(answers.every((one) => JSON.stringify(one) === '[{"n":7}]')).toBe(true);
});

test('a server that went away and came back is used again', async () => {
  const { port } = server;
  await server.close();
  expect(await read('Setting')).toBe(500);
  server = await startTdsServer({ engine: faults.wrap(engine), port, serverName: 'testing' });
  expect(await read('Setting')).toEqual([{ n: 42 }]);
});
