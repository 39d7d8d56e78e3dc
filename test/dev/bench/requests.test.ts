import { beforeEach, describe, expect, test } from 'vitest';
import { ChildProcessError, type ChildProcesses } from '../../../src/dev/bench/child-processes.js';
import { requestSection } from '../../../src/dev/bench/request-section.js';
import { type RequestPath, requestFiguresOf, runRequests } from '../../../src/dev/bench/requests.js';
import { isReached, requestTargets, targetLine } from '../../../src/dev/bench/targets.js';
import { captureOutput } from './helpers.js';

const run = (cpuMsPerRequest: number, transactionsPerSecond: number) => ({
  cpuMsPerRequest,
  transactionsPerSecond,
  latencyMs: 1_000,
  failures: 0,
});

/** The targets when the empty handler costs 1 ms. */
const targetsOf = (users: number, ours: readonly [number, number], theirs: readonly [number, number]) =>
  requestTargets([
    requestFiguresOf(users, 'blog-empty', [run(1, users)]),
    requestFiguresOf(users, 'blog-ours', [run(...ours)]),
    requestFiguresOf(users, 'blog-mssql', [run(...theirs)]),
  ]);

describe('targets', () => {
  test('the cost of a request is compared less that of the empty handler', () => {
    const targets = targetsOf(900, [1.5, 600], [2, 500]);
    expect(targets.map(({ value }) => value)).toEqual([0.5, 1.2]);
    expect(targets.map(isReached)).toEqual([true, true]);
  });

  test('name the users', () => {
    expect(targetsOf(1_600, [1.5, 1_500], [2, 1_250]).map(targetLine)).toEqual([
      'CPU per request to mssql at 1,600 users, both less the empty handler: 0.50 (at most 0.60), reached',
      'transactions/s to mssql at 1,600 users: 1.20 (at least 1.15), reached',
    ]);
  });

  test('a rate that the users cannot make is missed, and the sentence says what is possible', () => {
    const [, rate] = targetsOf(1_000, [1.5, 950], [2, 912]).map(targetLine);
    expect(rate).toBe(
      'transactions/s to mssql at 1,000 users: 1.04 (at least 1.15), MISSED; at most 1.10 possible: ' +
        '1,000 users of a one-second procedure make at most 1,000/s',
    );
  });

  test('a rate that the users could make is just missed', () => {
    const [, rate] = targetsOf(1_600, [1.5, 1_000], [2, 1_000]).map(targetLine);
    expect(rate).toBe('transactions/s to mssql at 1,600 users: 1.00 (at least 1.15), MISSED');
  });

  test('there is no ratio to a driver that seems to cost less than nothing', () => {
    const [cpu] = targetsOf(50, [1.5, 50], [0.9, 50]).map(targetLine);
    expect(cpu).toBe(
      'CPU per request to mssql at 50 users, both less the empty handler: - (at most 0.60), MISSED',
    );
  });
});

describe('the section', () => {
  const asked: string[] = [];
  const measure = async (users: number, path: RequestPath) => {
    asked.push(`${users} ${path}`);
    return run({ 'blog-empty': 1, 'blog-ours': 1.5, 'blog-mssql': 2 }[path], users / 2);
  };
  beforeEach(() => {
    asked.length = 0;
    captureOutput();
  });

  test('each number of users is measured at each endpoint in each round', async () => {
    await requestSection({ runs: 2, users: [50, 80], keepAlive: true }, measure);
    const round = [50, 80].flatMap((users) =>
      ['blog-empty', 'blog-ours', 'blog-mssql'].map((path) => `${users} ${path}`),
    );
    expect(asked).toEqual([...round, ...round]);
  });

  test('each number of users has rows and targets of its own', async () => {
    const text = await requestSection({ runs: 1, users: [50, 1_600], keepAlive: true }, measure);
    expect(text.split('\n').filter((line) => line !== '')).toEqual([
      '#### 50 and 1,600 users on a one-second procedure of 10 rows, HTTP connections kept',
      '| endpoint                      | users | CPU ms per request | transactions/s | latency ms (median) | failures |',
      '|-------------------------------|------:|-------------------:|---------------:|--------------------:|---------:|',
      '| empty handler, waits a second |    50 |               1.00 |             25 |               1,000 |        0 |',
      '| `sqlStream`                   |    50 |               1.50 |             25 |               1,000 |        0 |',
      '| mssql `query()`, by hand      |    50 |               2.00 |             25 |               1,000 |        0 |',
      '| empty handler, waits a second | 1,600 |               1.00 |            800 |               1,000 |        0 |',
      '| `sqlStream`                   | 1,600 |               1.50 |            800 |               1,000 |        0 |',
      '| mssql `query()`, by hand      | 1,600 |               2.00 |            800 |               1,000 |        0 |',
      ...['50', '1,600'].flatMap((users) => [
        `- CPU per request to mssql at ${users} users, both less the empty handler: 0.50 (at most 0.60), reached`,
        `- transactions/s to mssql at ${users} users: 1.00 (at least 1.15), MISSED`,
      ]),
    ]);
  });

  test.each([
    [[1_000], '#### 1,000 users on'],
    [[50, 80, 1_000], '#### 50, 80 and 1,000 users on'],
  ])('the title names %j', async (users, title) => {
    expect(await requestSection({ runs: 1, users, keepAlive: false }, measure)).toContain(title);
  });
});

test('the worker may open a connection for each user, by either driver', async () => {
  let given: Record<string, string> = {};
  const children = {
    start: (name: string, _file: string, _args: readonly string[], env: Record<string, string>) => {
      given = env;
      throw new ChildProcessError(`${name} is not started.`);
    },
  } as unknown as ChildProcesses;
  const sql = { child: undefined as never, port: 1, password: 'p' };
  const options = { users: 1_600, seconds: 1, keepAlive: true };
  await expect(runRequests(children, sql, 'blog-ours', options)).rejects.toThrow('is not started');
  expect(given['BENCH_SQL']).toMatch(/;Max Pool Size=1600$/);
  expect(given['BENCH_SQL_POOL_SIZE']).toBe('1600');
});
