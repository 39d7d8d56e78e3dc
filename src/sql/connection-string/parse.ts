import { SqlStreamError } from '../errors.js';
import { type Authentication, checkCredentials, parseAuthentication } from './authentication.js';
import { type DataSource, parseDataSource } from './data-source.js';
import { type Keyword, keywordOf } from './keywords.js';
import { splitPairs } from './pairs.js';

/** A connection string, understood. Times in ms. */
export interface ConnectionOptions extends DataSource {
  readonly database: string | undefined;
  readonly authentication: Authentication;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly encrypt: 'optional' | 'mandatory' | 'strict';
  readonly trustServerCertificate: boolean;
  readonly hostNameInCertificate: string | undefined;
  /** 0: no limit. */
  readonly connectTimeoutMs: number;
  /** Undefined when the string has none; 0: no limit. */
  readonly commandTimeoutMs: number | undefined;
  readonly pooling: boolean;
  readonly minPoolSize: number;
  readonly maxPoolSize: number;
  /** A connection older than this is not reused; 0: no limit. */
  readonly lifetimeMs: number;
  readonly packetSize: number;
  readonly applicationName: string;
  readonly workstationId: string | undefined;
  readonly readOnlyIntent: boolean;
  readonly multiSubnetFailover: boolean;
  readonly language: string | undefined;
}

class Reader {
  readonly #values = new Map<Keyword, string>();

  constructor(text: string) {
    for (const [spelling, value] of splitPairs(text)) {
      const keyword = keywordOf(spelling);
      if (keyword === undefined) {
        throw new SqlStreamError('EConnectionString', `The keyword '${spelling}' is not known.`, {
          phase: 'setup',
          subject: spelling,
        });
      }
      // The last one wins, and an empty value means the default, as in SqlClient.
      if (value === '') this.#values.delete(keyword);
      else this.#values.set(keyword, value);
    }
  }

  fail(keyword: Keyword, reason: string): never {
    throw new SqlStreamError('EConnectionString', `${keyword} ${reason}`, {
      phase: 'setup',
      subject: keyword,
    });
  }

  text(keyword: Keyword): string | undefined {
    return this.#values.get(keyword);
  }

  boolean(keyword: Keyword, byDefault: boolean): boolean {
    const value = this.#values.get(keyword)?.trim().toLowerCase();
    if (value === undefined) return byDefault;
    if (value === 'true' || value === 'yes') return true;
    if (value === 'false' || value === 'no') return false;
    return this.fail(keyword, `is '${value}': use true, false, yes or no.`);
  }

  integer(keyword: Keyword, byDefault: number, min: number, max: number): number {
    const value = this.#values.get(keyword);
    if (value === undefined) return byDefault;
    const number = Number(value);
    if (!/^\s*[+-]?\d+\s*$/.test(value) || number < min || number > max) {
      return this.fail(keyword, `is '${value}': use a whole number from ${min} to ${max}.`);
    }
    return number;
  }

  choice<T>(keyword: Keyword, byDefault: T, choices: Record<string, T>): T {
    const value = this.#values.get(keyword);
    if (value === undefined) return byDefault;
    const choice = choices[value.trim().toLowerCase()];
    if (choice === undefined) {
      return this.fail(keyword, `is '${value}': use one of ${Object.keys(choices).join(', ')}.`);
    }
    return choice;
  }

  /** For what a Node process can't do: only the value that asks for nothing is let through. */
  refuse(keyword: Keyword, reason: string, harmless: readonly string[] = []): void {
    const value = this.#values.get(keyword);
    if (value === undefined || harmless.includes(value.trim().toLowerCase())) return;
    this.fail(keyword, `can't be honoured: ${reason}.`);
  }
}

function refuseWhatCannotBeHonoured(reader: Reader): void {
  const no = ['false', 'no'];
  reader.refuse('Integrated Security', 'Windows logins need a Windows domain; use Authentication', no);
  reader.refuse('AttachDbFilename', 'files are attached by local servers only');
  reader.refuse('User Instance', 'user instances exist on Windows only', no);
  reader.refuse('Context Connection', 'there is no context connection outside SQL Server', no);
  reader.refuse('Failover Partner', 'database mirroring is not supported');
  reader.refuse('Failover Partner SPN', 'Kerberos is not supported');
  reader.refuse('Server SPN', 'Kerberos is not supported');
  reader.refuse('Replication', 'replication is not supported', no);
  reader.refuse('Column Encryption Setting', 'Always Encrypted is not supported', ['disabled']);
  reader.refuse('Enclave Attestation Url', 'Always Encrypted is not supported');
  reader.refuse('Attestation Protocol', 'Always Encrypted is not supported', [
    'notspecified',
    'not specified',
  ]);
  reader.refuse('Server Certificate', 'certificates are checked against the certificate authorities');
  reader.refuse('Type System Version', 'only the latest types are read', ['latest', 'sql server 2012']);
  reader.refuse('Pool Blocking Period', 'a failed connect never blocks the pool', ['auto', 'neverblock']);
  reader.refuse('IP Address Preference', 'addresses are tried in the order of the resolver', [
    'ipv4first',
    'useplatformdefault',
  ]);
  // They ask for nothing that one command per connection has not, but a wrong value is still an error.
  for (const keyword of ['Multiple Active Result Sets', 'Enlist', 'Persist Security Info'] as const) {
    reader.boolean(keyword, false);
  }
  reader.integer('Connect Retry Count', 1, 0, 255);
  reader.integer('Connect Retry Interval', 10, 1, 60);
}

const encryptChoices = {
  optional: 'optional',
  false: 'optional',
  no: 'optional',
  mandatory: 'mandatory',
  true: 'mandatory',
  yes: 'mandatory',
  strict: 'strict',
} as const;

/**
 * Reads a connection string as Microsoft.Data.SqlClient reads it: keywords, synonyms, quoting and defaults. What a Node process can't honour is
 * refused by name instead of being ignored.
 *
 * @throws SqlStreamError `EConnectionString`; `subject` is the keyword. No message holds a password.
 */
export function parseConnectionString(
  text: string,
  environment: NodeJS.ProcessEnv = process.env,
): ConnectionOptions {
  const reader: Reader = new Reader(text);
  refuseWhatCannotBeHonoured(reader);
  const source = reader.text('Data Source');
  if (source === undefined) reader.fail('Data Source', 'is missing: name the server.');
  const authentication = parseAuthentication(reader.text('Authentication') ?? 'Sql Password');
  const user = reader.text('User ID');
  const password = reader.text('Password');
  checkCredentials(authentication, user, password, environment);
  const maxPoolSize = reader.integer('Max Pool Size', 100, 1, 32_767);
  const minPoolSize = reader.integer('Min Pool Size', 0, 0, 32_767);
  if (minPoolSize > maxPoolSize) reader.fail('Min Pool Size', `is over Max Pool Size, ${maxPoolSize}.`);
  const commandTimeout = reader.integer('Command Timeout', -1, 0, 2_147_483);
  return {
    ...parseDataSource(source),
    database: reader.text('Initial Catalog'),
    authentication,
    user,
    password,
    encrypt: reader.choice<ConnectionOptions['encrypt']>('Encrypt', 'mandatory', encryptChoices),
    trustServerCertificate: reader.boolean('Trust Server Certificate', false),
    hostNameInCertificate: reader.text('Host Name In Certificate'),
    connectTimeoutMs: reader.integer('Connect Timeout', 15, 0, 2_147_483) * 1_000,
    commandTimeoutMs: commandTimeout < 0 ? undefined : commandTimeout * 1_000,
    pooling: reader.boolean('Pooling', true),
    minPoolSize,
    maxPoolSize,
    lifetimeMs: reader.integer('Load Balance Timeout', 0, 0, 2_147_483) * 1_000,
    packetSize: reader.integer('Packet Size', 8_000, 512, 32_768),
    applicationName: reader.text('Application Name') ?? 'azure-functions-sql-stream',
    workstationId: reader.text('Workstation ID'),
    readOnlyIntent: reader.choice('Application Intent', false, { readonly: true, readwrite: false }),
    multiSubnetFailover: reader.boolean('Multi Subnet Failover', false),
    language: reader.text('Current Language'),
  };
}
