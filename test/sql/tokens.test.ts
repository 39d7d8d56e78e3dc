/** Logins with tokens of Microsoft Entra ID, from an endpoint such as App Service gives to a process with a managed identity. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closePools, defineCommand } from '../../src/sql/index.js';
import { all, within } from '../helpers/sql-client.js';
import { done, errorToken, fedAuthInfo, RawServer, tokenLoginAnswer } from '../helpers/sql-raw-server.js';
import { script } from '../helpers/sql-script.js';

const validMs = 700;
/** Each token given out, with the time at which the server refuses it. */
const issued = new Map<string, number>();
const askedFor: (string | null)[] = [];
let refuses = false;
let server: RawServer;

const identity = createServer((request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost');
  askedFor.push(searchParams.get('resource'));
  if (refuses || request.headers['x-identity-header'] !== 'secret') {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"statusCode":400,"message":"No managed identity was found"}');
    return;
  }
  const token = `token-${issued.size + 1}`;
  issued.set(token, Date.now() + validMs);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      access_token: token,
      expires_on: Math.ceil((Date.now() + validMs) / 1_000),
      resource: searchParams.get('resource'),
      token_type: 'Bearer',
    }),
  );
});

beforeAll(async () => {
  await new Promise<void>((resolve) => identity.listen(0, '127.0.0.1', resolve));
  process.env['IDENTITY_ENDPOINT'] = `http://127.0.0.1:${(identity.address() as AddressInfo).port}/msi/token`;
  process.env['IDENTITY_HEADER'] = 'secret';
  server = await new RawServer(script).listen();
  server.login = (session) =>
    session.send(fedAuthInfo('https://login.windows.net/tenant', 'https://database.windows.net/'));
  server.token = (token, session) => {
    const isValid = (issued.get(token) ?? 0) > Date.now();
    const refusal = errorToken(
      18456,
      "Login failed for user '<token-identified principal>'. Token is expired.",
      14,
    );
    return session.send(isValid ? tokenLoginAnswer : Buffer.concat([refusal, done(0, 0x02)]));
  };
});

afterAll(async () => {
  await closePools(0);
  identity.close();
  await server.close();
});

function run(extra: string): Promise<unknown> {
  const command = defineCommand(
    { commandText: 'ids 1', connectionStringSetting: 'S', retry: { retries: 0 } },
    {
      S: `Server=127.0.0.1,${server.port};Authentication=Active Directory Managed Identity;Encrypt=false;${extra}`,
    },
  );
  return within(
    10_000,
    'the rows',
    command.open(command.values({})).then((source) => all(source.rows())),
  );
}

test('a connection that is made after the token of the first has expired gets a fresh one', async () => {
  expect(await run('Pooling=false')).toEqual([{ Id: 1 }]);
  expect(askedFor).toEqual(['https://database.windows.net']);
  await sleep(validMs + 50);
  expect(await run('Pooling=false')).toEqual([{ Id: 1 }]);
  expect([...issued.keys()]).toEqual(['token-1', 'token-2']);
});

test('connections that are open outlive the token that they were made with', async () => {
  expect(await run('App=kept')).toEqual([{ Id: 1 }]);
  const before = issued.size;
  await sleep(validMs + 50);
  expect(await run('App=kept')).toEqual([{ Id: 1 }]);
  expect(issued.size).toBe(before);
});

test('no token is a refused login, and the reason is told', async () => {
  refuses = true;
  await expect(run('App=none')).rejects.toMatchObject({
    code: 'ELogin',
    phase: 'connect',
    message: expect.stringContaining('No managed identity was found'),
  });
  refuses = false;
  expect(await run('App=none')).toEqual([{ Id: 1 }]);
});
