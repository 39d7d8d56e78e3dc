/** How a command fails: what comes before the error, and what it leaves behind. */
import { expect, test, vi } from 'vitest';
import { defineCommand, poolStats, type RowSource } from '../../src/sql/index.js';
import { all, jsonWriter } from '../helpers/sql-client.js';
import { serveRaw } from '../helpers/sql-raw-hooks.js';
import { script } from '../helpers/sql-script.js';

const server = serveRaw(script);

function open(commandText: string): Promise<RowSource> {
  const command = defineCommand(
    { commandText, connectionStringSetting: 'S', retry: { retries: 0 } },
    { S: server.connectionString },
  );
  return command.open(command.values({}));
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

const allReleased = () =>
  vi.waitFor(() => expect(poolStats()).toMatchObject([{ used: 0 }]), { timeout: 5_000 });

test('an error before the first row rejects with the fields of the server', async () => {
  expect(await failure(open('error 208'))).toMatchObject({
    code: 'EServer',
    phase: 'firstRow',
    number: 208,
    state: 1,
    class: 16,
    lineNumber: 7,
    procName: 'dbo.Proc',
    message: 'as asked',
  });
  await allReleased();
});

test('an error amid the rows comes after the rows before it, and the framing is not closed', async () => {
  const source = await open('late-error 8134');
  const seen: string[] = [];
  const error = await failure(
    (async () => {
      for await (const chunk of source.chunks(jsonWriter)) seen.push(Buffer.from(chunk).toString());
    })(),
  );
  expect(error).toMatchObject({ code: 'EServer', number: 8134, phase: 'rows' });
  expect(seen.join('')).toBe('[{"Id":1},{"Id":2}');
  const rows = (await open('late-error 8134')).rows();
  expect((await rows.next()).value).toEqual({ Id: 1 });
  expect((await rows.next()).value).toEqual({ Id: 2 });
  expect(await failure(rows.next())).toMatchObject({ number: 8134 });
  await allReleased();
});

test('a lost connection is no end of rows', async () => {
  const rows = (await open('cut')).rows();
  expect((await rows.next()).value).toEqual({ Id: 1 });
  expect(await failure(rows.next())).toMatchObject({ code: 'EConnectionLost', phase: 'rows' });
  expect(await all((await open('ids 5')).rows())).toEqual([{ Id: 5 }]);
});

test.each([
  ['fatal 596', 'firstRow', 'EServer'],
  ['fatal 596,done', 'firstRow', 'EServer'],
  ['late-fatal 823', 'rows', 'EServer'],
  ['late-fatal 823,done', 'rows', 'EServer'],
  ['fatal 40501', 'firstRow', 'ETransient'],
  ['fatal 596,now', 'firstRow', 'EServer'],
  ['late-fatal 596,now', 'rows', 'EServer'],
])(
  'an error that ends the connection is that error, not a lost connection (%s)',
  async (commandText, phase, code) => {
    await all((await open('ids 4')).rows());
    const logins = server.logins.length;
    const number = Number(/\d+/.exec(commandText)?.[0]);
    const error = await failure(open(commandText).then((source) => all(source.rows())));
    expect(error).toMatchObject({ code, number, class: 20, phase, message: 'fatal' });
    // At once, when the server may not have closed it yet: nobody else gets that connection.
    expect(await all((await open('ids 5')).rows())).toEqual([{ Id: 5 }]);
    expect(server.logins.length).toBe(logins + 1);
  },
);

test.each(['half-token', 'garbage'])(
  'bytes that make no sense (%s) fail the request and cost the connection',
  async (kind) => {
    const error = await failure(open(kind).then((source) => all(source.rows())));
    expect(error).toMatchObject({ code: expect.stringMatching(/EProtocol|EConnectionLost/) });
    expect(await all((await open('ids 5')).rows())).toEqual([{ Id: 5 }]);
  },
);
