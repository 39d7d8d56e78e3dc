import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, ISOLATION_LEVEL, Request, TYPES } from 'tedious';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { within } from '../../helpers/sql-client.js';
import { collect, connect, run } from '../../helpers/tds-client.js';
import { TestEngine } from '../../helpers/tds-engine.js';

const engine = new TestEngine({
  /** More bytes than the buffers of both sockets take. */
  wide: async ({ response, signal }, argument, session) => {
    response.columns([{ name: 'text', type: { name: 'varchar', length: 8000 }, nullable: false }]);
    for (let n = 1; n <= Number(argument) && !signal.aborted; n++) {
      response.row(['x'.repeat(8000)]);
      session.rows = n;
      await response.drained();
    }
    response.statementDone({ statement: 'select', rowCount: Number(argument) });
  },
});
let server: TdsServer;
let connections: Connection[] = [];

beforeAll(async () => {
  server = await startTdsServer({ engine, port: 0, serverName: 'testing' });
});
afterEach(() => {
  for (const connection of connections) connection.close();
  connections = [];
});
afterAll(() => server.close());

async function open(options = {}, login = {}): Promise<Connection> {
  const connection = await connect(server.port, options, login);
  connections.push(connection);
  return connection;
}

test('a login hands name, application, database, host and intent to the engine', async () => {
  await open({ database: 'shop', appName: 'tests', readOnlyIntent: true, workstationId: 'here' });
  expect(engine.logins.at(-1)).toMatchObject({
    user: 'sa',
    database: 'shop',
    applicationName: 'tests',
    hostName: 'here',
    interfaceName: 'Tedious',
    readOnlyIntent: true,
    clientAddress: '127.0.0.1',
  });
});

test('a wrong password is refused with the number that the engine gives', async () => {
  await expect(open({}, { password: 'wrong' })).rejects.toMatchObject({
    code: 'ELOGIN',
    message: "Login failed for user 'sa'.",
  });
});

test('a batch gives rows, messages and counts of several statements', async () => {
  const result = await run(await open(), 'select 42; print hello; affect 3; select 43');
  expect(result.rows).toEqual([[42], [43]]);
  expect(result.messages).toContain('hello');
  expect(result.done).toEqual([
    { kind: 'done', rowCount: 1, more: true },
    { kind: 'done', rowCount: 3, more: true },
    { kind: 'done', rowCount: 1, more: false },
  ]);
});

test('a procedure in a batch ends its statements in DONEINPROC and tells its status', async () => {
  const result = await run(await open(), 'proc; select 2');
  expect(result.done.map(({ kind, more }) => [kind, more])).toEqual([
    ['doneInProc', true],
    ['doneInProc', true],
    ['doneProc', true],
    ['done', false],
  ]);
  expect(result.returnStatus).toBe(3);
});

test('an error carries number, state, class, server, procedure and line', async () => {
  const connection = await open();
  await expect(run(connection, 'select 1; error 8134')).rejects.toMatchObject({
    number: 8134,
    state: 1,
    class: 16,
    serverName: 'testing',
    lineNumber: 1,
    message: 'as asked',
  });
  expect((await run(connection, 'select 2')).rows).toEqual([[2]]);
});

test('an error of class 20 or more ends the connection', async () => {
  const connection = await open();
  const ended = new Promise<void>((resolve) => connection.on('end', () => resolve()));
  await expect(run(connection, 'fatal')).rejects.toMatchObject({ number: 596 });
  await within(2_000, 'the connection ends', ended);
});

test('a value that its column cannot hold is an error without details, and the log has them', async () => {
  const connection = await open();
  await expect(run(connection, 'bug')).rejects.toMatchObject({ number: 50000 });
  expect((await run(connection, 'select 2')).rows).toEqual([[2]]);
});

test('sp_executesql passes parameters and gives outputs back', async () => {
  const result = await run(await open(), 'echo', 'execSql', (request) => {
    request.addParameter('a', TYPES.Int, 1);
    request.addOutputParameter('b', TYPES.NVarChar, 'zwei', { length: 20 });
  });
  expect(result.rows).toEqual([[1, 'zwei']]);
  expect(result.outputs).toEqual({ b: 'zwei' });
  expect(result.done.at(-1)).toMatchObject({ kind: 'doneProc', more: false });
  expect(engine.executions.at(-1)).toMatchObject({ declarations: '@a int, @b nvarchar(20) OUTPUT' });
});

test('a procedure by name gets parameters, gives outputs and a return status', async () => {
  const result = await run(await open(), 'dbo.echo', 'callProcedure', (request) => {
    request.addOutputParameter('total', TYPES.BigInt, '9223372036854775807');
  });
  expect(result.outputs).toEqual({ total: '9223372036854775807' });
  expect(result.returnStatus).toBe(7);
  await expect(run(await open(), 'nothing', 'callProcedure')).rejects.toMatchObject({ number: 2812 });
});

test('statements are prepared, executed and unprepared; an unknown handle is 8179', async () => {
  const connection = await open();
  let finished: (error?: Error | null) => void = () => {};
  const request = new Request('echo', (error) => finished(error ?? null));
  request.addParameter('n', TYPES.Int, undefined);
  const result = collect(connection, request);
  const step = (start: () => void) =>
    new Promise<void>((resolve, reject) => {
      finished = (error) => (error ? reject(error) : resolve());
      start();
    });
  await new Promise((resolve) => {
    request.once('prepared', resolve);
    connection.prepare(request);
  });
  await step(() => connection.execute(request, { n: 1 }));
  await step(() => connection.execute(request, { n: 2 }));
  expect(result.rows).toEqual([[1], [2]]);
  await step(() => connection.unprepare(request));
  await expect(step(() => connection.execute(request, { n: 3 }))).rejects.toMatchObject({ number: 8179 });
});

test('transaction manager requests begin, save, commit and roll back', async () => {
  const connection = await open();
  const done = (start: (callback: (error?: Error | null) => void) => void) =>
    new Promise<void>((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
  engine.transactions.length = 0;
  await done((callback) => connection.beginTransaction(callback, 'one', ISOLATION_LEVEL.SERIALIZABLE));
  await done((callback) => connection.saveTransaction(callback, 'mark'));
  await done((callback) => connection.commitTransaction(callback, 'one'));
  await done((callback) => connection.beginTransaction(callback));
  await done((callback) => connection.rollbackTransaction(callback));
  expect(engine.transactions).toEqual(['begin one', 'save mark', 'commit one', 'begin', 'rollback']);
});

test('a reset of the connection reaches the engine before the request, and drops prepared statements', async () => {
  const connection = await open();
  await new Promise<void>((resolve, reject) => {
    connection.reset((error) => (error ? reject(error) : resolve()));
  });
  expect(engine.sessions.at(-1)!.resets).toEqual([false]);
  expect((await run(connection, 'select 5')).rows).toEqual([[5]]);
});

test.each([
  ['at once', 0],
  ['while it runs', 50],
])('a request is cancelled %s, and the connection is used again', async (_, delay) => {
  const connection = await open();
  const request = new Request('wait 60000', () => {});
  const completed = new Promise<void>((resolve) => {
    request.callback = () => resolve();
  });
  connection.execSqlBatch(request);
  if (delay > 0) await sleep(delay);
  else await new Promise(setImmediate);
  connection.cancel();
  await within(3_000, 'the cancelled request ends', completed);
  expect((await run(connection, 'select 6')).rows).toEqual([[6]]);
});

test('rows are cancelled amid the stream, again and again, on one connection', async () => {
  const connection = await open();
  for (let round = 0; round < 20; round++) {
    let rows = 0;
    const completed = new Promise<unknown>((resolve) => {
      const request = new Request('rows 1000000', resolve);
      request.on('row', () => {
        rows++;
        if (rows === 1 + round * 10) connection.cancel();
      });
      connection.execSqlBatch(request);
    });
    expect(await within(5_000, 'the cancelled stream ends', completed)).toMatchObject({ code: 'ECANCEL' });
    expect(engine.sessions.at(-1)!.rows).toBeLessThan(1_000_000);
  }
  expect((await run(connection, 'select 7')).rows).toEqual([[7]]);
});

test.each([512, 513, 1000, 4096, 16_384, 32_767])(
  'packets of %i bytes carry rows both ways',
  async (packetSize) => {
    const connection = await open({ packetSize });
    const result = await run(connection, 'rows 2000');
    expect(result.rows).toHaveLength(2000);
    expect(result.rows[1999]).toEqual([1999, 'row 1999']);
    expect(result.rows[1998]).toEqual([1998, null]);
    const long = 'ä€'.repeat(40_000);
    const echoed = await run(connection, 'echo', 'execSql', (request) => {
      request.addParameter('text', TYPES.NVarChar, long);
      request.addParameter('bytes', TYPES.VarBinary, Buffer.alloc(100_000, 7));
    });
    expect(echoed.rows[0]![0]).toBe(long);
    expect((echoed.rows[0]![1] as Buffer).equals(Buffer.alloc(100_000, 7))).toBe(true);
  },
);

test('a paused reader stops the engine, and a resumed one gets every row', async () => {
  const connection = await open();
  let rows = 0;
  let request: Request;
  const completed = new Promise<unknown>((resolve) => {
    request = new Request('wide 10000', resolve);
    request.on('row', () => {
      rows++;
      if (rows === 1) request.pause();
    });
    connection.execSqlBatch(request);
  });
  const session = engine.sessions.at(-1)!;
  await sleep(500);
  const made = session.rows;
  await sleep(300);
  expect(session.rows).toBe(made);
  expect(made).toBeLessThan(10_000);
  request!.resume();
  expect(await within(10_000, 'all rows', completed)).toBeFalsy();
  expect(rows).toBe(10_000);
});

test('a lost connection aborts what runs and closes the session', async () => {
  const connection = await open();
  const session = engine.sessions.at(-1)!;
  connection.execSqlBatch(new Request('wait 60000', () => {}));
  await sleep(50);
  const before = server.sessions;
  connection.close();
  for (let wait = 0; wait < 100 && !session.isClosed; wait++) await sleep(10);
  expect(session.isClosed).toBe(true);
  expect(server.sessions).toBe(before - 1);
});
