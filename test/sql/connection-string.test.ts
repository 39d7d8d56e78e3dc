import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from 'tedious';
import { describe, expect, test } from 'vitest';
import { type ConnectionOptions, parseConnectionString, toTediousConfig } from '../../src/sql/index.js';

interface Answer {
  readonly text: string;
  readonly error?: string;
  readonly [field: string]: unknown;
}

const fixtures = fileURLToPath(new URL('../fixtures/sql/', import.meta.url));
const file = join(fixtures, 'connection-strings.json');
const answers = JSON.parse(readFileSync(file, 'utf8')) as Answer[];

const encryptions: Record<string, string> = { optional: 'False', mandatory: 'True', strict: 'Strict' };

/** Ours, in the words of SqlConnectionStringBuilder. */
function inItsWords(text: string, options: ConnectionOptions): Record<string, unknown> {
  const hasAuthentication = /authentication/i.test(text);
  const hasApplicationName = /app(lication name)?\s*=/i.test(text);
  return {
    database: options.database ?? '',
    user: options.user ?? '',
    password: options.password ?? '',
    encrypt: encryptions[options.encrypt],
    trust: options.trustServerCertificate,
    hostInCertificate: options.hostNameInCertificate ?? '',
    connectTimeout: options.connectTimeoutMs / 1_000,
    commandTimeout: (options.commandTimeoutMs ?? 30_000) / 1_000,
    maxPool: options.maxPoolSize,
    minPool: options.minPoolSize,
    pooling: options.pooling,
    lifetime: options.lifetimeMs / 1_000,
    packetSize: options.packetSize,
    workstation: options.workstationId ?? '',
    intent: options.readOnlyIntent ? 'ReadOnly' : 'ReadWrite',
    multiSubnet: options.multiSubnetFailover,
    language: options.language ?? '',
    authentication: hasAuthentication ? options.authentication : 'NotSpecified',
    integrated: false,
    ...(hasApplicationName ? { applicationName: options.applicationName } : {}),
  };
}

describe('as SqlConnectionStringBuilder reads it', () => {
  test.each(answers.map((answer) => [answer.text, answer] as const))('%s', (text, answer) => {
    if (answer.error !== undefined) {
      expect(() => parseConnectionString(text)).toThrow(
        expect.objectContaining({ code: 'EConnectionString' }),
      );
      return;
    }
    const expected = {
      ...answer,
      authentication: String(answer['authentication']).replace('MSI', 'ManagedIdentity'),
    };
    expect(expected).toMatchObject(inItsWords(text, parseConnectionString(text)));
  });

  test.runIf(process.env['TEST_DOTNET'])(
    'and the answers kept are those of SqlClient',
    { timeout: 180_000 },
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'connection-strings-'));
      try {
        const output = join(folder, 'answers.json');
        execFileSync('dotnet', ['run', join(fixtures, 'connection-strings.cs'), '--', file, output]);
        expect(JSON.parse(readFileSync(output, 'utf8'))).toEqual(answers);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});

describe('servers', () => {
  test.each([
    ['h', 'h', 1433, undefined],
    ['tcp:h,1433', 'h', 1433, undefined],
    ['TCP: h , 1500 ', 'h', 1500, undefined],
    ['.', 'localhost', 1433, undefined],
    ['(local)', 'localhost', 1433, undefined],
    [String.raw`.\SQLEXPRESS`, 'localhost', undefined, 'SQLEXPRESS'],
    [String.raw`h\I`, 'h', undefined, 'I'],
    [String.raw`h\MSSQLSERVER`, 'h', 1433, undefined],
    [String.raw`h\I,1500`, 'h', 1500, undefined],
    [String.raw`h,1500\I`, 'h', 1500, undefined],
    ['[::1],1433', '::1', 1433, undefined],
    ['[fe80::1]', 'fe80::1', 1433, undefined],
    ['10.0.0.1,14330', '10.0.0.1', 14330, undefined],
    ['name.database.windows.net', 'name.database.windows.net', 1433, undefined],
  ])('%s', (source, server, port, instanceName) => {
    const options = parseConnectionString(`Server="${source}";User Id=u;Password=p`);
    expect({ server: options.server, port: options.port, instanceName: options.instanceName }).toEqual({
      server,
      port,
      instanceName,
    });
  });

  test.each([
    '',
    'np:h',
    String.raw`\\h\pipe\sql`,
    'lpc:h',
    'admin:h',
    String.raw`(localdb)\x`,
    'h,0',
    'h,65536',
    'h,x',
    'h,1,2',
    ',1433',
  ])('%s is refused', (source) => {
    expect(() => parseConnectionString(`Server='${source}';User Id=u;Password=p`)).toThrow(
      expect.objectContaining({ code: 'EConnectionString', subject: 'Data Source' }),
    );
  });
});

test.each([
  ['Integrated Security=true', 'Integrated Security'],
  ['Trusted_Connection=yes', 'Integrated Security'],
  ['Integrated Security=SSPI', 'Integrated Security'],
  ['AttachDbFilename=x.mdf', 'AttachDbFilename'],
  ['User Instance=true', 'User Instance'],
  ['Failover Partner=b', 'Failover Partner'],
  ['Column Encryption Setting=Enabled', 'Column Encryption Setting'],
  ['Server SPN=x', 'Server SPN'],
  ['Server Certificate=x.cer', 'Server Certificate'],
  ['Type System Version=SQL Server 2005', 'Type System Version'],
  ['IP Address Preference=IPv6First', 'IP Address Preference'],
  ['Pool Blocking Period=AlwaysBlock', 'Pool Blocking Period'],
  ['Authentication=Active Directory Interactive', 'Authentication'],
  ['Authentication=Active Directory Integrated', 'Authentication'],
  ['Authentication=Active Directory Device Code Flow', 'Authentication'],
])('%s can not be honoured, and is refused by name', (pair, subject) => {
  expect(() => parseConnectionString(`Server=h;User Id=u;Password=hunter2;${pair}`)).toThrow(
    expect.objectContaining({
      code: 'EConnectionString',
      subject,
      message: expect.not.stringContaining('hunter2'),
    }),
  );
});

test.each([
  ['Server=h;Password=p', 'User ID'],
  ['Server=h;User Id=u', 'Password'],
  ['Server=h;Authentication=Active Directory Password;User Id=u', 'Password'],
  ['Server=h;Authentication=Active Directory Service Principal;User Id=u;Password=p', 'User ID'],
  ['User Id=u;Password=p', 'Data Source'],
  ['', 'Data Source'],
])('%s: what is missing is named', (text, subject) => {
  expect(() => parseConnectionString(text, {})).toThrow(
    expect.objectContaining({ code: 'EConnectionString', subject }),
  );
});

describe('for tedious', () => {
  const config = (text: string, environment = {}) =>
    toTediousConfig(parseConnectionString(`Server=h;${text}`, environment), environment);

  test.each([
    ['User Id=u;Password=p', 'default', { userName: 'u', password: 'p' }],
    ['Authentication=Active Directory Default', 'azure-active-directory-default', {}],
    [
      'Authentication=Active Directory Default;User Id=id',
      'azure-active-directory-default',
      { clientId: 'id' },
    ],
    ['Authentication=Active Directory Workload Identity', 'azure-active-directory-default', {}],
    ['Authentication=Active Directory Managed Identity', 'azure-active-directory-msi-app-service', {}],
    [
      'Authentication=Active Directory MSI;User Id=id',
      'azure-active-directory-msi-app-service',
      { clientId: 'id' },
    ],
    [
      'Authentication=Active Directory Service Principal;User Id=id@t;Password=s',
      'azure-active-directory-service-principal-secret',
      { clientId: 'id', clientSecret: 's', tenantId: 't' },
    ],
    [
      'Authentication=Active Directory Password;User Id=u;Password=p',
      'azure-active-directory-password',
      {
        userName: 'u',
        password: 'p',
        clientId: '2fd908ad-0664-4344-b9be-cd3e8b574c38',
        tenantId: 'organizations',
      },
    ],
  ])('%s', (text, type, options) => {
    const made = config(text);
    expect(made.authentication).toEqual({ type, options });
    // tedious itself checks it.
    expect(new Connection(made)).toBeInstanceOf(Connection);
  });

  test('the environment gives what SqlClient asks the server for', () => {
    const environment = { AZURE_TENANT_ID: 'tenant', AZURE_CLIENT_ID: 'client' };
    const principal = config(
      'Authentication=Active Directory Service Principal;User Id=id;Password=s',
      environment,
    );
    expect(principal.authentication?.options).toMatchObject({ clientId: 'id', tenantId: 'tenant' });
    const user = config('Authentication=Active Directory Password;User Id=u;Password=p', environment);
    expect(user.authentication?.options).toMatchObject({ clientId: 'client', tenantId: 'tenant' });
  });

  test('encryption, intent, time and names', () => {
    const login = 'User Id=u;Password=p;';
    expect(config(login).options).toMatchObject({
      encrypt: true,
      trustServerCertificate: false,
      readOnlyIntent: false,
      connectTimeout: 15_000,
      requestTimeout: 0,
      packetSize: 8_000,
      maxRetriesOnTransientErrors: 0,
    });
    expect(config(`${login}Encrypt=Optional`).options?.encrypt).toBe(false);
    expect(config(`${login}Encrypt=Strict`).options?.encrypt).toBe('strict');
    expect(
      config(
        `${login}Connect Timeout=0;Packet Size=32768;HostNameInCertificate=c;App=a;ApplicationIntent=ReadOnly`,
      ).options,
    ).toMatchObject({
      connectTimeout: 2_147_483_647,
      packetSize: 32_767,
      serverName: 'c',
      appName: 'a',
      readOnlyIntent: true,
    });
  });
});
