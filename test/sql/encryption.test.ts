import { afterAll, expect, test } from 'vitest';
import { closePools, defineCommand } from '../../src/sql/index.js';
import { all } from '../helpers/sql-client.js';
import { RawServer } from '../helpers/sql-raw-server.js';
import { script } from '../helpers/sql-script.js';

/** Has no TLS, and says so when it is asked for it: as does whoever sits between a client and its server. */
const server = await new RawServer(script).listen();

afterAll(async () => {
  await closePools(0);
  await server.close();
});

async function run(encrypt: string): Promise<unknown> {
  const command = defineCommand(
    { commandText: 'ids 1', connectionStringSetting: 'S', retry: { retries: 0 } },
    { S: server.connectionString.replace('Encrypt=false', encrypt) },
  );
  const source = await command.open(command.values({}));
  return all(source.rows());
}

test.each(['Encrypt=true', 'Encrypt=Mandatory', 'TrustServerCertificate=true'])(
  'with %s, a server that offers no encryption gets no login, and so no password',
  async (encrypt) => {
    await expect(run(encrypt)).rejects.toMatchObject({ code: 'EConnect', cause: { code: 'ENOENCRYPTION' } });
    expect(server.logins).toHaveLength(0);
  },
);

test('with Encrypt=Optional it gets one', async () => {
  expect(await run('Encrypt=Optional')).toEqual([{ Id: 1 }]);
  expect(server.logins).toHaveLength(1);
});
