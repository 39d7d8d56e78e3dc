import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SqlInputError } from '../../../src/dev/host/sql/sql-input-error.js';
import type { SqlType, SqlValue } from '../../../src/dev/tds/engine.js';
import { Faults } from '../../../src/dev/tds/faults.js';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { BlockingPool } from '../../../src/threads/index.js';
import { within } from '../../helpers/run.js';
import { credentials, recordset, TestEngine } from '../../helpers/tds-engine.js';
import { fixture, type StartedApp, startApp, until } from './apps.js';

/** What the extension itself writes; see golden/witness. */
const golden: Record<string, string> = JSON.parse(
  readFileSync(new URL('golden/data-table.json', import.meta.url), 'utf8'),
);

/** 100 ns units from 0001-01-01 to the date, as the engine has them. */
const ticks = (iso: string) => BigInt(Date.parse(iso) + 62_135_596_800_000) * 10_000n;
const days = (iso: string) => Number(ticks(iso) / 864_000_000_000n);
const nvarchar: SqlType = { name: 'nvarchar', length: 100 };

/** The rows of the witness, as the server sends them. */
const cases: Record<string, { type: SqlType; values: SqlValue[] }> = {
  bit: { type: { name: 'bit' }, values: [true, false, null] },
  tinyint: { type: { name: 'tinyint' }, values: [0, 255] },
  smallint: { type: { name: 'smallint' }, values: [-32_768, 32_767] },
  int: { type: { name: 'int' }, values: [-2_147_483_648, 2_147_483_647] },
  bigint: { type: { name: 'bigint' }, values: [1n, 9007199254740993n, -(2n ** 63n), 2n ** 63n - 1n] },
  'decimal(10,2)': {
    type: { name: 'decimal', precision: 10, scale: 2 },
    values: [1250n, 0n, -9_999_999_999n],
  },
  money: { type: { name: 'money' }, values: [9_223_372_036_854_775_807n, -1n, 3_333_400n] },
  smallmoney: { type: { name: 'smallmoney' }, values: [2_147_483_647n] },
  float: { type: { name: 'float' }, values: [0.1, 1e300, 5e-324, 0, 100] },
  real: { type: { name: 'real' }, values: [Math.fround(0.1), Math.fround(3.4028235e38), 16_777_216, 1.5] },
  nvarchar: {
    type: nvarchar,
    values: ['Grüße, 😀 \u2028\u0085 "\\/\t\u0001', '', '2020-10-06T07:45:16.081+02:00', '89e7073266'],
  },
  varbinary: { type: { name: 'varbinary', length: 8 }, values: [Uint8Array.of(0, 255, 1), new Uint8Array()] },
  uniqueidentifier: { type: { name: 'uniqueidentifier' }, values: ['6F9619FF-8B86-D011-B42D-00C04FC964FF'] },
  date: {
    type: { name: 'date' },
    values: ['0001-01-01', '2026-11-30', '9999-12-31'].map(days),
  },
  datetime: {
    type: { name: 'datetime' },
    values: [ticks('2026-11-30T10:20:30.997Z') - 3_333n, ticks('1753-01-01')],
  },
  smalldatetime: { type: { name: 'smalldatetime' }, values: [ticks('2026-11-30T10:21:00Z')] },
  'datetime2(7)': {
    type: { name: 'datetime2', scale: 7 },
    values: [639_000_000_001_234_567n, ticks('9999-12-31') + 863_999_999_999n],
  },
  'time(7)': {
    type: { name: 'time', scale: 7 },
    values: [372_300_000_000, 1, 863_999_999_999, 0],
  },
};

const engine = new TestEngine({
  case: async (context, name) => {
    if (name === 'names') {
      const names = ['', 'a', 'A', 'a1', 'a', '', 'Column1', '__proto__', 'constructor'];
      const columns = names.map((one) => ({ name: one, type: { name: 'int' as const }, nullable: false }));
      recordset(context, columns, [[1, 2, 3, 4, 5, 6, 7, 8, 9]]);
      return;
    }
    const { type, values } = cases[name] ?? { type: nvarchar, values: [] };
    recordset(
      context,
      [{ name: 'v', type, nullable: true }],
      values.map((value) => [value]),
    );
  },
});
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
  test.each([...Object.keys(cases), 'names', 'no rows'])('%s', async (name) => {
    expect(await read(`type/${encodeURIComponent(name)}`)).toEqual(JSON.parse(golden[name] as string));
  });

  test('typed data, and bindings that run on blocking threads, give the same', async () => {
    for (const name of Object.keys(cases)) {
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

test('a certificate that nobody has signed is explained', () => {
  const cause = {
    message: 'self-signed certificate',
    code: 'ESOCKET',
    cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
  };
  expect(new SqlInputError(cause).message).toMatch(/self-signed certificate .*TrustServerCertificate=true/);
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
