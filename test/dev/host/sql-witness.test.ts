/**
 * What the SQL extension makes of rows: golden/witness reads them from the embedded server with Microsoft.Data.SqlClient and writes
 * them with Newtonsoft.Json, where there is a .NET SDK. WITNESS=record keeps what it wrote in golden/data-table.json, WITNESS=run compares.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startTdsServer } from '../../../src/dev/tds/server.js';
import { run } from '../../helpers/run.js';
import { credentials } from '../../helpers/tds-engine.js';
import { bindingEngine, caseNames, overflow } from './binding-cases.js';

const golden = fileURLToPath(new URL('golden/data-table.json', import.meta.url));
const witness = fileURLToPath(new URL('golden/witness', import.meta.url));
const isRecording = process.env['WITNESS'] === 'record';
/** Restoring and building takes a while, so it happens on demand. */
const isWanted = isRecording || process.env['WITNESS'] === 'run';
const hasDotnet = isWanted && spawnSync('dotnet', ['--version']).status === 0;

test.skipIf(!hasDotnet)(
  'the extension writes what it wrote before (skipped without WITNESS=run and a .NET SDK)',
  { timeout: 300_000 },
  async () => {
    const work = await mkdtemp(join(tmpdir(), 'witness-'));
    const server = await startTdsServer({ engine: bindingEngine(), port: 0 });
    try {
      const out = join(work, 'out');
      const build = await run('dotnet', [
        'build',
        witness,
        '-o',
        out,
        `--property:BaseIntermediateOutputPath=${work}/obj/`,
      ]);
      expect(build.code, build.stdout).toBe(0);
      const commands = [...caseNames, overflow].map((name) => `case ${name}`);
      const login = [`127.0.0.1,${server.port}`, credentials.user, credentials.password];
      const { stdout, stderr, code } = await run('dotnet', [join(out, 'witness.dll'), ...login, ...commands]);
      expect(code, stderr).toBe(0);
      const findings = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { command: string; result: string });
      const found = Object.fromEntries(findings.map(({ command, result }) => [command.slice(5), result]));
      if (isRecording) await writeFile(golden, `${JSON.stringify(found, undefined, 2)}\n`);
      expect(found).toEqual(JSON.parse(await readFile(golden, 'utf8')));
    } finally {
      await server.close();
      await rm(work, { recursive: true, force: true });
    }
  },
);
