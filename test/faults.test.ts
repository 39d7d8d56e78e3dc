/** What clients and the log are told when the server fails: the whole way, from the embedded server with its faults to the HTTP response. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { Faults } from '../src/dev/faults/faults.js';
import { startTdsServer, type TdsServer } from '../src/dev/tds/server.js';
import { closeSqlStreams, poolStats, type SqlStreamOptions, sqlStream } from '../src/index.js';
import { type Answer, FunctionsProxy } from './helpers/functions-proxy.js';
import { within } from './helpers/run.js';
import { credentials, TestEngine } from './helpers/tds-engine.js';

/** Tried again before the first row, wherever they come from: they mean that the command was not begun, or undone. */
const retried = [1205, 1222, 4060, 10928, 10929, 40501, 40613, 42108, 42109, 49918, 49919, 49920];
const resuming = [40613, 42108, 42109];
const quick = { retries: 3, minDelayMs: 5, maxDelayMs: 20 };
const never = { retries: 0 };

/** By the name of its endpoint, which is its application name too: so each has a pool and faults of its own. */
interface Endpoint {
  readonly commandText: string;
  readonly options?: Partial<SqlStreamOptions>;
  readonly connection?: string;
}
const endpoints: Record<string, Endpoint> = {
  Select: { commandText: 'select 42' },
  AcquireBusy: { commandText: 'wait 60000', connection: 'Max Pool Size=1;App=Acquire' },
  Acquire: {
    commandText: 'select 1',
    connection: 'Max Pool Size=1;App=Acquire',
    options: { deadlines: { acquireMs: 80 } },
  },
  Connect: { commandText: 'select 1', options: { deadlines: { connectMs: 150 } } },
  FirstRow: { commandText: 'select 1', options: { deadlines: { firstRowMs: 100 } } },
  Total: { commandText: 'select 1', options: { deadlines: { totalMs: 100 } } },
  TotalAmidRows: { commandText: 'rows 100', options: { deadlines: { totalMs: 300 } } },
  Paused: {
    commandText: 'select 42',
    options: { deadlines: { acquireMs: 50, connectMs: 200, resumeMs: 10_000 } },
  },
  PausedForLong: { commandText: 'select 42', options: { deadlines: { resumeMs: 100 } } },
  SessionLimit: { commandText: 'select 42' },
  Wrong: { commandText: 'select 42' },
  Failover: { commandText: 'select 42' },
  FailoverIdempotent: { commandText: 'select 42', options: { idempotent: true } },
  Reset: { commandText: 'select 42' },
  ResetIdempotent: { commandText: 'select 42', options: { idempotent: true } },
  ResetAmidRows: { commandText: 'rows 100', options: { idempotent: true } },
  Unreachable: { commandText: 'select 42', options: { retry: never } },
  Endless: { commandText: 'rows 1000000000', connection: 'Max Pool Size=4;App=Shared' },
  Short: { commandText: 'select 42', connection: 'Max Pool Size=4;App=Shared' },
};
for (const number of retried) {
  endpoints[`login-${number}`] = { commandText: 'select 42' };
  endpoints[`start-${number}`] = { commandText: 'select 42' };
  endpoints[`rows-${number}`] = { commandText: 'rows 1000', options: { idempotent: true } };
}

const engine = new TestEngine();
const faults = new Faults();
let server: TdsServer;
let proxy: FunctionsProxy;

beforeAll(async () => {
  server = await startTdsServer({ engine: faults.wrap(engine), port: 0 });
  const handlers = Object.entries(endpoints).map(([name, { commandText, options, connection }]) => {
    const setting = `Faults_${name}`;
    process.env[setting] =
      `Server=127.0.0.1,${server.port};User Id=sa;Password="${credentials.password}";Encrypt=false;${connection ?? `App=${name}`}`;
    const stream = sqlStream({ commandText, connectionStringSetting: setting, retry: quick, ...options });
    return [name, stream.handler()] as const;
  });
  proxy = await FunctionsProxy.start(Object.fromEntries(handlers));
});

beforeEach(() => {
  for (const level of ['info', 'warn', 'error'] as const)
    vi.spyOn(console, level).mockClear().mockReturnValue();
  proxy.logs.length = 0;
});

afterEach(() => {
  faults.clear();
});

afterAll(async () => {
  await closeSqlStreams(0);
  await server.close();
});

const get = (name: string, ndjson = false): Promise<Answer> =>
  within(
    10_000,
    `an answer of ${name}`,
    proxy.call(name, ndjson ? { headers: { accept: 'application/x-ndjson' } } : {}),
  );

/** All that was logged, by whichever way. */
function logged(): string[] {
  const [info, warn, error] = [console.info, console.warn, console.error].map((log) =>
    vi.mocked(log).mock.calls.map((call) => call.join(' ')),
  );
  return [...proxy.logs.map(({ level, message }) => `${level}: ${message}`), ...info!, ...warn!, ...error!];
}

function expectProblem(answer: Answer, status: number, code: string, retryAfter?: string): void {
  expect(answer).toMatchObject({ status, complete: true });
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(JSON.parse(answer.body)).toMatchObject({ status, code, invocationId: answer.id });
  expect(answer.headers['retry-after']).toBe(retryAfter);
}

test.each([
  ['login', 'silence', 'Connect', 'EConnectTimeout', 'connect'],
  ['start', 'silence', 'FirstRow', 'EFirstRowTimeout', 'firstRow'],
  ['start', 'silence', 'Total', 'ETotalTimeout', 'rows'],
] as const)(
  'a server that is silent (at %s: %s) is a 504 of %s whose code, %s, names the phase',
  async (at, action, name, code, phase) => {
    faults.add({ at, action, application: name });
    expectProblem(await get(name), 504, code);
    expect(logged()).toEqual([expect.stringContaining(`failed, ${code} in phase ${phase}: `)]);
  },
);

test('no free connection is a 503, and the log has the counts of the pool and what to change', async () => {
  const busy = proxy.open('AcquireBusy');
  await vi.waitFor(() =>
    expect(poolStats().some(({ used, max, connecting }) => max === 1 && used === 1 && connecting === 0)).toBe(
      true,
    ),
  );
  expectProblem(await get('Acquire'), 503, 'EPoolExhausted', '5');
  expect(logged()).toEqual([
    expect.stringMatching(
      /EPoolExhausted in phase acquire: No connection became free within 80 ms: 1 of 1 are in use, 0 free, 1 requests wait\. Raise Max Pool Size/,
    ),
  ]);
  busy.socket.destroy();
  await busy.ended;
});

test('rows that stop coming run into the deadline of the whole, and the body breaks', async () => {
  faults.add({ at: 'rows', action: 'silence', rows: 3, application: 'TotalAmidRows' });
  const answer = await get('TotalAmidRows');
  expect(answer).toMatchObject({ status: 200, complete: false });
  expect(JSON.parse(`${answer.body}]`)).toHaveLength(3);
  expect(logged()).toEqual([
    expect.stringMatching(/sqlStream: 3 rows, .*failed, ETotalTimeout in phase rows/),
  ]);
});

test.each(['login', 'start'] as const)(
  'the numbers of "not started or rolled back", at %s, are tried again, and each attempt is logged',
  async (at) => {
    for (const number of retried)
      faults.add({ at, action: 'error', number, times: 1, application: `${at}-${number}` });
    const answers = await Promise.all(retried.map((number) => get(`${at}-${number}`)));
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: '[{"n":42}]' });
    for (const number of retried) {
      const code = resuming.includes(number) ? 'EResuming' : 'ETransient';
      const phase = at === 'login' ? 'connect' : 'firstRow';
      expect(logged().filter((line) => line.includes(` ${number} `))).toEqual([
        expect.stringMatching(new RegExp(`Attempt 2 in \\d+ ms, after ${code} ${number} \\(${phase}\\)`)),
      ]);
    }
    expect(logged().filter((line) => line.includes(', 2 attempts; complete'))).toHaveLength(retried.length);
  },
);

test.each([false, true])(
  'after row 10 none of them is: the body breaks, and the log has the number and the rows sent (NDJSON: %s)',
  async (ndjson) => {
    for (const number of retried)
      faults.add({ at: 'rows', action: 'error', number, rows: 10, application: `rows-${number}` });
    const answers = await Promise.all(retried.map((number) => get(`rows-${number}`, ndjson)));
    for (const [index, { status, complete, body }] of answers.entries()) {
      const code = resuming.includes(retried[index]!) ? 'EResuming' : 'ETransient';
      expect({ status, complete }).toEqual({ status: 200, complete: false });
      const lines = ndjson ? body.trimEnd().split('\n') : [];
      if (ndjson) {
        expect(lines).toHaveLength(11);
        expect(JSON.parse(lines[10]!)).toMatchObject({ error: { code, status: 503 } });
      } else {
        expect(() => JSON.parse(body)).toThrow();
        expect(JSON.parse(`${body}]`)).toHaveLength(10);
      }
    }
    const lines = logged();
    for (const number of retried)
      expect(lines.filter((line) => line.includes(`(number ${number}, state 1, line 1)`))).toEqual([
        expect.stringContaining('sqlStream: 10 rows, '),
      ]);
    expect(lines).toHaveLength(retried.length);
  },
);

test('an error that is none of them is asked for once', async () => {
  faults.add({ at: 'start', action: 'error', number: 208, times: 1, application: 'Wrong' });
  const answer = await get('Wrong');
  expectProblem(answer, 500, 'EServer');
  expect(answer.body).not.toContain('Fault on demand');
  expect(logged()).toEqual([
    expect.stringContaining(
      'failed, EServer in phase firstRow (number 208, state 1, line 1): Fault on demand: error 208.',
    ),
  ]);
});

test('40197 and a lost connection may have been done: they are tried again for idempotent commands only', async () => {
  for (const application of ['Failover', 'FailoverIdempotent'])
    faults.add({ at: 'start', action: 'error', number: 40197, times: 1, application });
  for (const application of ['Reset', 'ResetIdempotent'])
    faults.add({ at: 'start', action: 'reset', times: 1, application });
  const [failover, failoverAgain, reset, resetAgain] = await Promise.all(
    ['Failover', 'FailoverIdempotent', 'Reset', 'ResetIdempotent'].map((name) => get(name)),
  );
  expectProblem(failover!, 503, 'ETransient', '10');
  expectProblem(reset!, 500, 'EConnectionLost');
  for (const again of [failoverAgain, resetAgain])
    expect(again).toMatchObject({ status: 200, body: '[{"n":42}]' });
  faults.add({ at: 'rows', action: 'reset', rows: 10, application: 'ResetAmidRows' });
  const amid = await get('ResetAmidRows');
  expect(amid).toMatchObject({ status: 200, complete: false });
  expect(JSON.parse(`${amid.body}]`)).toHaveLength(10);
});

test('a database that resumes is waited for, longer than for a connection, and the log says why', async () => {
  faults.add({ at: 'login', action: 'pause', delayMs: 600, application: 'Paused' });
  expect(await get('Paused')).toMatchObject({ status: 200, body: '[{"n":42}]' });
  const attempts = logged().filter((line) =>
    /Attempt \d+ in \d+ ms, after EResuming 40613 \(connect\)/.test(line),
  );
  expect(attempts.length).toBeGreaterThan(quick.retries);
});

test('one that resumes for longer than resumeMs is a 503 that says when to come back', async () => {
  faults.add({ at: 'login', action: 'pause', delayMs: 60_000, application: 'PausedForLong' });
  expectProblem(await get('PausedForLong'), 503, 'EResuming', '30');
  faults.clear();
  expect(await get('PausedForLong')).toMatchObject({ status: 200, body: '[{"n":42}]' });
});

test('a limit of sessions is a 503 after all retries, and over when it is', async () => {
  faults.add({ at: 'login', action: 'sessionLimit', sessions: 0, application: 'SessionLimit' });
  expectProblem(await get('SessionLimit'), 503, 'ETransient', '10');
  expect(logged().filter((line) => /Attempt \d in/.test(line))).toHaveLength(quick.retries);
  faults.clear();
  expect(await get('SessionLimit')).toMatchObject({ status: 200 });
});

test('a server that went away is a 503, and used again by the first request after it came back', async () => {
  expect(await get('Unreachable')).toMatchObject({ status: 200 });
  const { port } = server;
  await server.close();
  expectProblem(await get('Unreachable'), 503, 'EConnect', '10');
  server = await startTdsServer({ engine: faults.wrap(engine), port });
  expect(await get('Unreachable')).toMatchObject({ status: 200, body: '[{"n":42}]' });
});

test('a slow client has one connection of the pool, and the others serve 50 requests meanwhile', async () => {
  const slow = proxy.open('Endless');
  await new Promise((resolve) => slow.socket.once('data', resolve));
  slow.socket.pause();
  const answers = await Promise.all(Array.from({ length: 50 }, () => get('Short')));
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: '[{"n":42}]' });
  expect(poolStats().find(({ max }) => max === 4)?.used).toBe(1);
  slow.socket.destroy();
  await slow.ended;
});
