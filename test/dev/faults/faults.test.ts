import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  checkFaultRule,
  type FaultRule,
  FaultRuleError,
  parseFaultRules,
} from '../../../src/dev/faults/fault-rules.js';
import { Faults } from '../../../src/dev/faults/faults.js';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { within } from '../../helpers/sql-client.js';
import { connect, run } from '../../helpers/tds-client.js';
import { TestEngine } from '../../helpers/tds-engine.js';

const engine = new TestEngine();
const faults = new Faults([], () => 0.5);
let server: TdsServer;
beforeAll(async () => {
  server = await startTdsServer({ engine: faults.wrap(engine), port: 0 });
});
afterEach(() => {
  faults.clear();
});
afterAll(() => server.close());

const open = (appName = 'tests') =>
  connect(server.port, { appName, connectTimeout: 3000, maxRetriesOnTransientErrors: 0 });

describe('at the login', () => {
  test('an error number is what the client gets, so many times', async () => {
    faults.add({ at: 'login', action: 'error', number: 40501, times: 2 });
    for (let time = 0; time < 2; time++) await expect(open()).rejects.toMatchObject({ code: 'ELOGIN' });
    (await open()).close();
  });

  test('only the application that a rule names is struck', async () => {
    faults.add({ at: 'login', action: 'error', number: 4060, application: 'other' });
    await expect(open('other')).rejects.toMatchObject({ code: 'ELOGIN' });
    (await open()).close();
  });

  test('a limit of sessions is 10928 while they are open', async () => {
    const first = await open();
    faults.add({ at: 'login', action: 'sessionLimit', sessions: faults.sessions });
    await expect(open()).rejects.toThrow(/session limit/);
    const before = faults.sessions;
    first.close();
    for (let wait = 0; wait < 100 && faults.sessions === before; wait++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    (await open()).close();
  });

  test('a paused database is 40613 until its time is over, counted from the first login', async () => {
    faults.add({ at: 'login', action: 'pause', delayMs: 300 });
    const start = performance.now();
    let refused = 0;
    for (;;) {
      const connection = await open().catch((error) => {
        expect(error.message).toMatch(/not currently available/);
        refused++;
      });
      if (connection) {
        connection.close();
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(performance.now() - start).toBeGreaterThanOrEqual(290);
    expect(refused).toBeGreaterThan(1);
  });

  test('a reset, a silence and a delay', async () => {
    faults.add({ at: 'login', action: 'reset', times: 1 });
    await expect(open()).rejects.toMatchObject({ code: 'ESOCKET' });
    faults.add({ at: 'login', action: 'silence', times: 1 });
    await expect(connect(server.port, { connectTimeout: 200 })).rejects.toMatchObject({ code: 'ETIMEOUT' });
    faults.add({ at: 'login', action: 'delay', delayMs: 150, times: 1 });
    const start = performance.now();
    (await open()).close();
    expect(performance.now() - start).toBeGreaterThanOrEqual(140);
  });
});

describe('as a request begins', () => {
  test('an error strikes the text that it names, and the connection goes on', async () => {
    faults.add({ at: 'start', action: 'error', number: 1205, sql: 'SELECT 42' });
    const connection = await open();
    await expect(run(connection, 'select 42')).rejects.toMatchObject({ number: 1205, class: 13 });
    expect((await run(connection, 'select 1')).rows).toEqual([[1]]);
    await expect(run(connection, 'select 42', 'execSql')).rejects.toMatchObject({ number: 1205 });
    connection.close();
  });

  test('a rule without a text spares the settings that a driver sends when it connects', async () => {
    faults.add({ at: 'start', action: 'error', number: 40197, times: 1 });
    const connection = await open();
    await expect(run(connection, 'select 1')).rejects.toMatchObject({ number: 40197 });
    connection.close();
  });

  test('a silence ends when the client cancels', async () => {
    faults.add({ at: 'start', action: 'silence', times: 1 });
    const connection = await open();
    const silent = run(connection, 'select 1');
    silent.catch(() => {});
    setTimeout(() => connection.cancel(), 100);
    await expect(within(3_000, 'the cancel', silent)).rejects.toMatchObject({ code: 'ECANCEL' });
    expect((await run(connection, 'select 2')).rows).toEqual([[2]]);
    connection.close();
  });

  test('a reset ends the connection without an answer, and the session in the engine', async () => {
    faults.add({ at: 'start', action: 'reset', sql: 'select 9', times: 1 });
    const connection = await open();
    const session = engine.sessions.at(-1)!;
    await expect(run(connection, 'select 9')).rejects.toMatchObject({ code: 'ECONNRESET' });
    for (let wait = 0; wait < 100 && !session.isClosed; wait++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(session.isClosed).toBe(true);
  });

  test('a probability decides', async () => {
    faults.add({ at: 'start', action: 'error', number: 50001, probability: 0.4 });
    const connection = await open();
    expect((await run(connection, 'select 1')).rows).toEqual([[1]]);
    faults.add({ at: 'start', action: 'error', number: 50002, probability: 0.6 });
    await expect(run(connection, 'select 1')).rejects.toMatchObject({ number: 50002 });
    connection.close();
  });
});

describe('after n rows', () => {
  const rows = async (rule: Partial<FaultRule>) => {
    faults.add({ at: 'rows', rows: 3, times: 1, ...rule });
    const connection = await open();
    let count = 0;
    const result = run(connection, 'rows 10', 'execSqlBatch', (request) => request.on('row', () => count++));
    const error = await within(5_000, 'the request', result).then(
      () => undefined,
      (failure) => failure,
    );
    return { connection, error, count: () => count };
  };

  test('an error comes behind them, and the connection goes on', async () => {
    const { connection, error, count } = await rows({ action: 'error', number: 8134 });
    expect([error.number, count()]).toEqual([8134, 3]);
    expect((await run(connection, 'rows 10')).rows).toHaveLength(10);
    connection.close();
  });

  test('a reset comes behind them', async () => {
    const { error, count } = await rows({ action: 'reset' });
    expect([error.code, count()]).toEqual(['ECONNRESET', 3]);
  });

  test('a delay holds up the rest', async () => {
    const start = performance.now();
    const { connection, error, count } = await rows({ action: 'delay', delayMs: 200 });
    expect([error, count()]).toEqual([undefined, 10]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(190);
    connection.close();
  });

  test('a silence comes behind them, and ends when the client cancels', async () => {
    faults.add({ at: 'rows', rows: 3, action: 'silence', times: 1 });
    const connection = await open();
    let count = 0;
    const silent = run(connection, 'rows 10', 'execSqlBatch', (request) => {
      request.on('row', () => {
        count++;
        if (count === 3) setTimeout(() => connection.cancel(), 50);
      });
    });
    await expect(within(5_000, 'the cancel', silent)).rejects.toMatchObject({ code: 'ECANCEL' });
    expect(count).toBe(3);
    expect((await run(connection, 'select 2')).rows).toEqual([[2]]);
    connection.close();
  });
});

test.each<[unknown, RegExp]>([
  [{ at: 'login' }, /fault\.action: must be one of error, delay/],
  [{ at: 'noon', action: 'reset' }, /fault\.at: must be one of login, start, rows; it is "noon"/],
  [{ at: 'start', action: 'error' }, /fault\.number: is needed by "error"/],
  [{ at: 'rows', action: 'reset' }, /fault\.rows: is needed/],
  [{ at: 'start', action: 'pause', delayMs: 1 }, /fault\.at: must be "login"/],
  [
    { at: 'start', action: 'reset', probability: 2 },
    /fault\.probability: must be a number from 0 to 1; it is 2/,
  ],
  [{ at: 'start', action: 'reset', delay: 2 }, /fault\.delay: is not known; known are at, action/],
  [{ at: 'login', action: 'reset', sql: 'x' }, /fault\.sql: has no meaning/],
  ['x', /must be an object/],
])('the rule %j is refused with its reason', (rule, reason) => {
  expect(() => checkFaultRule(rule)).toThrow(reason);
});

test('a file of faults is a list or has one, and a mistake is named with its place', () => {
  const rule = { at: 'login', action: 'reset' };
  expect(parseFaultRules(JSON.stringify([rule]), 'f.json')).toEqual([rule]);
  expect(parseFaultRules(JSON.stringify({ faults: [rule] }), 'f.json')).toEqual([rule]);
  expect(() => parseFaultRules('[', 'f.json')).toThrow(/f\.json: is no JSON/);
  expect(() => parseFaultRules('{}', 'f.json')).toThrow(FaultRuleError);
  expect(() => parseFaultRules('[{"at":"login"}]', 'f.json')).toThrow(/f\.json: faults\[0\]\.action/);
});

test('rules are listed with what is left of them, and cleared one by one', () => {
  const some = new Faults();
  const id = some.add({ at: 'start', action: 'reset', times: 2 });
  some.add({ at: 'login', action: 'silence' });
  some.find('start', 'app', 'select 1')!.left--;
  expect(some.list().map(({ left }) => left)).toEqual([1, Number.POSITIVE_INFINITY]);
  expect([some.clear(id), some.clear(), some.list()]).toEqual([1, 1, []]);
});
