import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { closePools, defineCommand, poolStats, type SqlCommandOptions } from '../../src/sql/index.js';
import { all, within } from '../helpers/sql-client.js';
import { done, errorToken, RawServer } from '../helpers/sql-raw-server.js';
import { recordset, script } from '../helpers/sql-script.js';

const servers: RawServer[] = [];

async function listen(port = 0): Promise<RawServer> {
  const server = await new RawServer(script).listen(port);
  servers.push(server);
  return server;
}

afterAll(async () => {
  await closePools(0);
  await Promise.all(servers.map((server) => server.close()));
});

/** What peers have sent by now has been read after a few turns of the loop, however long each takes; a time says nothing of that. */
async function noticed(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await turn();
}

const lines: string[] = [];
const log = (level: string, message: string) => lines.push(`${level}: ${message}`);

function commandOn(
  connectionString: string,
  commandText = 'ids 1',
  options: Partial<SqlCommandOptions> = {},
) {
  const retry = { retries: 3, minDelayMs: 5, maxDelayMs: 20 };
  const command = defineCommand(
    { commandText, connectionStringSetting: 'S', retry, ...options },
    { S: connectionString },
  );
  return async () => all((await command.open(command.values({}), { log })).rows());
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

test('commands with one connection string share a pool, and its connections are used again', async () => {
  const server = await listen();
  for (let round = 0; round < 10; round++) await commandOn(server.connectionString)();
  expect(server.logins).toHaveLength(1);
  expect(poolStats().filter(({ name }) => name.includes(String(server.port)))).toHaveLength(1);
});

test('a burst opens no more connections than it has requests, and never more than the pool may have', async () => {
  const server = await listen();
  const run = commandOn(`${server.connectionString};Max Pool Size=7`, 'slow 20');
  await Promise.all(Array.from({ length: 40 }, run));
  expect(server.logins.length).toBeLessThanOrEqual(7);
});

test('a burst of short commands is served by the connections that come back, not by one each', async () => {
  const server = await listen();
  const run = commandOn(server.connectionString);
  await Promise.all(Array.from({ length: 80 }, run));
  expect(server.logins.length).toBeLessThan(60);
});

test('a failed connect is not remembered, and says what can not be reached', async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  const run = commandOn(`Server=127.0.0.1,${port};User Id=a;Password=b;Encrypt=false`, 'ids 3', {
    retry: { retries: 0 },
  });
  expect(await failure(run())).toMatchObject({ code: 'EConnect', phase: 'connect', retryAfterMs: 10_000 });
  await listen(port);
  expect(await run()).toEqual([{ Id: 3 }]);
});

test('an idle connection that is reset costs nothing but itself', async () => {
  const server = await listen();
  const run = commandOn(server.connectionString);
  await run();
  for (const session of server.sessions) session.socket.resetAndDestroy();
  await noticed();
  expect(await run()).toEqual([{ Id: 1 }]);
  expect(server.logins).toHaveLength(2);
});

test('a restarted server is used again by the next command', async () => {
  const server = await listen();
  const run = commandOn(server.connectionString);
  await run();
  const { port, connectionString } = server;
  await server.close();
  await noticed();
  expect(await failure(commandOn(connectionString, 'ids 1', { retry: { retries: 0 } })())).toMatchObject({
    code: 'EConnect',
  });
  await listen(port);
  expect(await run()).toEqual([{ Id: 1 }]);
});

test('half of all logins refused leaves no trace in the counts', async () => {
  const server = await listen();
  const letIn = server.login;
  let logins = 0;
  server.login = (session) => {
    if (logins++ % 2 === 1) return letIn(session);
    return session.send(Buffer.concat([errorToken(18456, 'Login failed.', 14), done(0, 0x02)]));
  };
  const run = commandOn(`${server.connectionString};Max Pool Size=5`, 'ids 1', { retry: { retries: 0 } });
  const outcomes = await Promise.all(Array.from({ length: 60 }, () => failure(run())));
  for (const error of outcomes)
    if (error !== undefined) expect(error).toMatchObject({ code: 'ELogin', number: 18456 });
  server.login = letIn;
  const stats = () => poolStats().find(({ name }) => name.includes(String(server.port)));
  // A connect that is still under way may have been refused already, and would fail whoever waits next.
  await vi.waitFor(() => expect(stats()).toMatchObject({ connecting: 0 }), { timeout: 5_000 });
  await Promise.all(Array.from({ length: 50 }, run));
  expect(stats()).toMatchObject({ used: 0, pending: 0, connecting: 0, max: 5 });
});

test('Pooling=false opens a connection for each command', async () => {
  const server = await listen();
  const run = commandOn(`${server.connectionString};Pooling=false`);
  await run();
  await run();
  expect(server.logins).toHaveLength(2);
});

/** Answers the first `count` commands with an error. */
function failing(server: RawServer, count: number, number: number): void {
  let left = count;
  server.respond = (_request, session) => {
    if (left-- > 0) return session.send(Buffer.concat([errorToken(number, 'not now'), done(0, 0x02)]));
    return session.send(recordset(9));
  };
}

test.each([1205, 1222, 4060, 10928, 10929, 40501, 40613, 42108, 42109, 49918, 49919, 49920])(
  'error %i before the first row is tried again, and the log has each attempt',
  async (number) => {
    const server = await listen();
    failing(server, 2, number);
    lines.length = 0;
    expect(await commandOn(server.connectionString)()).toEqual([{ Id: 9 }]);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(new RegExp(`^warn: Attempt 2 in \\d+ ms, after E\\w+ ${number} \\(firstRow\\)`));
  },
);

test.each([208, 547, 50000, 40197, 8134])('error %i is not', async (number) => {
  const server = await listen();
  failing(server, 1, number);
  expect(await failure(commandOn(server.connectionString)())).toMatchObject({ number });
});

test('40197 and a lost connection are tried again when the command is idempotent, and only then', async () => {
  const server = await listen();
  failing(server, 1, 40197);
  expect(await commandOn(server.connectionString, 'x', { idempotent: true })()).toEqual([{ Id: 9 }]);
  let breaks = 1;
  server.respond = async (_request, session) => {
    if (breaks-- > 0) session.socket.destroy();
    else await session.send(recordset(8));
  };
  expect(await commandOn(server.connectionString, 'x', { idempotent: true })()).toEqual([{ Id: 8 }]);
  breaks = 1;
  expect(await failure(commandOn(server.connectionString, 'x')())).toMatchObject({ code: 'EConnectionLost' });
});

test('so is an error that ends the connection', async () => {
  const server = await listen();
  let ends = 1;
  server.respond = (request, session) =>
    ends-- > 0 ? script({ ...request, text: 'fatal 596' }, session) : session.send(recordset(7));
  expect(await commandOn(server.connectionString, 'x', { idempotent: true })()).toEqual([{ Id: 7 }]);
  ends = 1;
  expect(await failure(commandOn(server.connectionString, 'x')())).toMatchObject({
    code: 'EServer',
    number: 596,
  });
});

test('nothing is tried again once a row was given', async () => {
  const server = await listen();
  const before = server.requests.length;
  expect(
    await failure(commandOn(server.connectionString, 'late-error 1205', { idempotent: true })()),
  ).toMatchObject({ number: 1205, code: 'ETransient', phase: 'rows' });
  expect(server.requests.length - before).toBe(2);
});

test('retries end, and the error then says when to come back', async () => {
  const server = await listen();
  failing(server, 99, 10928);
  const error = await failure(
    commandOn(server.connectionString, 'x', { retry: { retries: 2, minDelayMs: 1 } })(),
  );
  expect(error).toMatchObject({ code: 'ETransient', number: 10928, retryAfterMs: 10_000 });
  expect(server.requests.filter(({ text }) => text === 'x')).toHaveLength(3);
});

test('a database that is resuming is waited for, longer than retries would', async () => {
  const server = await listen();
  const letIn = server.login;
  const awake = Date.now() + 400;
  server.login = (session) =>
    Date.now() > awake
      ? letIn(session)
      : session.send(Buffer.concat([errorToken(40613, 'not available', 17), done(0, 0x02)]));
  const run = commandOn(server.connectionString, 'ids 6', {
    retry: { retries: 1, minDelayMs: 20 },
    deadlines: { resumeMs: 5_000 },
  });
  expect(await within(4_000, 'the rows', run())).toEqual([{ Id: 6 }]);
  server.login = (session) =>
    session.send(Buffer.concat([errorToken(40613, 'not available', 17), done(0, 0x02)]));
  const late = commandOn(`${server.connectionString};App=late`, 'ids 6', {
    retry: { minDelayMs: 20 },
    deadlines: { resumeMs: 150 },
  });
  expect(await within(2_000, 'the error', failure(late()))).toMatchObject({
    code: 'EResuming',
    number: 40613,
    retryAfterMs: 30_000,
  });
});

test('closing lets commands end within the grace, cancels the others, and refuses new ones', async () => {
  const server = await listen();
  const ending = commandOn(server.connectionString, 'slow 100')();
  const endless = failure(commandOn(server.connectionString, 'stream')());
  await sleep(40);
  await within(4_000, 'the close', closePools(1_500));
  expect(await ending).toEqual([{ Id: 1 }]);
  expect(await endless).toMatchObject({ code: 'EClosed' });
  expect(await failure(commandOn(server.connectionString)())).toMatchObject({
    code: 'EClosed',
    retryAfterMs: 5_000,
  });
  await vi.waitFor(() => expect(server.sessions.size).toBe(0), { timeout: 4_000 });
});
