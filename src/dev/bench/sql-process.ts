import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Child, ChildProcessError, type ChildProcesses } from './child-processes.js';

const cli = fileURLToPath(new URL('../cli.js', import.meta.url));
const scripts = fileURLToPath(new URL('../../../sql', import.meta.url));

export interface SqlProcess {
  readonly child: Child;
  readonly port: number;
  readonly password: string;
}

type Said = { readonly kind: 'ready'; readonly port: number } | { readonly kind: 'failed'; message: string };

/**
 * glibc's settings (mallopt(3); others ignore them) by which freed memory stays with the process. What TLS encrypts goes through memory of
 * its own, and where the kernel takes that back and gives it again for each record, the server is what the figures show.
 */
const keepsMemory = { MALLOC_TRIM_THRESHOLD_: '536870912', MALLOC_MMAP_THRESHOLD_: '536870912' };

/**
 * The embedded SQL server with the replay procedure, in a process of its own: encoding rows must not be in the
 * figures of who reads them.
 *
 * @param args more options of the command `sql`
 * @throws ChildProcessError
 */
export async function startSql(children: ChildProcesses, args: readonly string[] = []): Promise<SqlProcess> {
  const password = `Bench-${randomUUID()}`;
  const child = children.start('The SQL server', cli, ['sql', '--replay', '--port', '0', ...args], {
    SQL_PASSWORD: password,
    ...keepsMemory,
  });
  const said = await child.message<Said>();
  if (said.kind === 'failed') throw new ChildProcessError(`The SQL server did not start: ${said.message}`);
  return { child, port: said.port, password };
}

export interface ConnectionOptions {
  readonly tls?: boolean;
  /** Connections at most. */
  readonly poolSize?: number;
}

/** More than anything but the users of `npm run bench` takes at once. */
export const defaultPoolSize = 1_000;

export function connectionString(
  { port, password }: Pick<SqlProcess, 'port' | 'password'>,
  { tls = false, poolSize = defaultPoolSize }: ConnectionOptions = {},
): string {
  const security = tls ? 'Encrypt=true;TrustServerCertificate=true' : 'Encrypt=false';
  return `Server=127.0.0.1,${port};Database=Blogging;User Id=sa;Password=${password};${security};Max Pool Size=${poolSize}`;
}

/** Runs the app's own scripts: tables, procedures, seed rows. */
export async function runAppScripts(sql: SqlProcess): Promise<void> {
  const env = { ...process.env, SqlConnectionString: connectionString(sql) };
  await promisify(execFile)(process.execPath, [cli, 'scripts', '--folder', scripts], { env });
}
