import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { closePools, defineCommand } from '../../src/sql/index.js';
import { all, within } from '../helpers/sql-client.js';
import { RawServer } from '../helpers/sql-raw-server.js';
import { script } from '../helpers/sql-script.js';

const server = await new RawServer(script).listen();

afterEach(() => {
  vi.restoreAllMocks();
});

afterAll(async () => {
  await closePools(0);
  await server.close();
});

function run(extra: string): Promise<unknown> {
  const command = defineCommand(
    { commandText: 'ids 1', connectionStringSetting: 'S' },
    { S: `${server.connectionString};${extra}` },
  );
  return command.open(command.values({})).then((source) => all(source.rows()));
}

/** Later, for whoever asks how long a connection has been idle. */
function passTime(ms: number): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ms);
}

const probes = () => server.requests.filter(({ text }) => text.startsWith('DECLARE'));

test('a connection that was idle for long is tried before it is used', async () => {
  await run('App=healthy');
  const logins = server.logins.length;
  passTime(31_000);
  expect(await run('App=healthy')).toEqual([{ Id: 1 }]);
  expect(probes()).toHaveLength(1);
  expect(server.logins).toHaveLength(logins);
});

test('one that a firewall dropped without a word is replaced, not waited for', {
  timeout: 10_000,
}, async () => {
  await run('App=dropped');
  const logins = server.logins.length;
  server.respond = (request, session) =>
    request.text.startsWith('DECLARE') ? undefined : script(request, session);
  passTime(31_000);
  expect(await within(4_000, 'the rows', run('App=dropped'))).toEqual([{ Id: 1 }]);
  expect(server.logins).toHaveLength(logins + 1);
});

test('one that is older than Connection Lifetime is replaced', async () => {
  await run('App=old;Connection Lifetime=60');
  const logins = server.logins.length;
  passTime(61_000);
  expect(await run('App=old;Connection Lifetime=60')).toEqual([{ Id: 1 }]);
  expect(server.logins).toHaveLength(logins + 1);
});
