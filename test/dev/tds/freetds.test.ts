import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCertificate } from '../../../src/dev/cli/certificate.js';
import { startTdsServer, type TdsServer } from '../../../src/dev/tds/server.js';
import { credentials, TestEngine } from '../../helpers/tds-engine.js';

const hasTsql = spawnSync('tsql', ['-C']).status === 0;
const engine = new TestEngine();
let server: TdsServer;
let folder: string;

beforeAll(async () => {
  server = await startTdsServer({ engine, port: 0, tls: await createCertificate() });
  folder = await mkdtemp(join(tmpdir(), 'freetds-'));
  const section = (name: string, encryption: string) =>
    `[${name}]\nhost = 127.0.0.1\nport = ${server.port}\ntds version = 7.4\nencryption = ${encryption}\n`;
  await writeFile(join(folder, 'freetds.conf'), section('plain', 'off') + section('secure', 'require'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await server.close();
});

interface Output {
  readonly text: string;
  readonly code: number | null;
}

function tsql(server: string, sql: string, password = credentials.password, more = {}): Promise<Output> {
  const child = spawn('tsql', ['-S', server, '-U', credentials.user, '-P', password, '-o', 'fhq'], {
    env: { ...process.env, FREETDSCONF: join(folder, 'freetds.conf'), LC_ALL: 'C.UTF-8', ...more },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  child.stdin.end(`${sql}\ngo\nexit\n`);
  // A client that waits for ever is told by what it has printed so far.
  const timer = setTimeout(() => child.kill('SIGKILL'), 8_000);
  return new Promise((resolve) =>
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ text, code });
    }),
  );
}

describe.skipIf(!hasTsql)('FreeTDS (skipped where tsql is not installed)', () => {
  test.each(['plain', 'secure'])('%s: logs in, reads rows, gets errors', async (name) => {
    expect((await tsql(name, 'rows 4')).text).toMatch(/0\tNULL\n1\trow 1\n2\trow 2\n3\tNULL/);
    expect((await tsql(name, 'error 208')).text).toMatch(/Msg 208 \(severity 16, state 1\).*[\s\S]*as asked/);
    expect((await tsql(name, 'select 1', 'wrong')).text).toMatch(/Msg 18456/);
  });

  test('TDS versions before 7.3 are refused with a reason', async () => {
    expect((await tsql('plain', 'select 1', credentials.password, { TDSVER: '7.1' })).text).toMatch(
      /older than 7\.3\) is not supported/,
    );
  });
});
