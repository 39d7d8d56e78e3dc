/**
 * Microsoft.Data.SqlClient as a client: test/witness runs where there is a .NET SDK, and what it found there is kept in
 * test/witness/sqlclient.json. WITNESS=record writes that file anew.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createCertificate } from '../../src/dev/cli/certificate.js';
import { startTdsServer } from '../../src/dev/tds/server.js';
import { credentials, TestEngine } from '../helpers/tds-engine.js';

const folder = new URL('../witness/', import.meta.url).pathname;
const golden = join(folder, 'sqlclient.json');
/** Bytes of its first connection, up to the first long answer: request messages, and what they were answered. */
const wire = join(folder, 'sqlclient-wire.json');
type Exchange = readonly [request: string, response: string];
/** Longer messages would make a large file and test nothing more. */
const longest = 4_000;
const isRecording = process.env['WITNESS'] === 'record';
/** Restoring and building takes most of a minute, so it happens on demand. */
const isWanted = isRecording || process.env['WITNESS'] === 'run';
const hasDotnet = isWanted && spawnSync('dotnet', ['--version']).status === 0;

function execute(command: string, args: string[]): Promise<{ out: string; code: number | null }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (out += chunk));
  return new Promise((resolve) => child.on('close', (code) => resolve({ out, code })));
}

/** Stands between client and server and writes down the first connection. */
async function record(port: number): Promise<{ port: number; close(): Exchange[] }> {
  const exchanges: Exchange[] = [];
  let isFirst = true;
  let isEnough = false;
  const proxy = createServer((client) => {
    const upstream = createConnection(port, '127.0.0.1');
    const isRecorded = isFirst;
    isFirst = false;
    let [request, response] = ['', ''];
    const keep = (): void => {
      if (request.includes(Buffer.from('rows 20000', 'utf16le').toString('hex'))) isEnough = true;
      if (isRecorded && !isEnough && request.length + response.length < 4 * longest) {
        exchanges.push([request, response]);
      }
      [request, response] = ['', ''];
    };
    client.on('data', (chunk) => {
      if (response !== '') keep();
      request += chunk.toString('hex');
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      // What is too long to be kept is not gathered either: a stream of rows has no end.
      if (response.length < 4 * longest) response += chunk.toString('hex');
      if (!client.write(chunk)) upstream.pause();
    });
    client.on('drain', () => upstream.resume());
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    close() {
      proxy.close();
      return exchanges;
    },
  };
}

interface Finding {
  readonly what: string;
  readonly result: unknown;
}

const findingsOf = (text: string): Finding[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

test.skipIf(!hasDotnet)(
  'SqlClient finds what it found before (skipped without WITNESS=run and a .NET SDK)',
  { timeout: 300_000 },
  async () => {
    const work = await mkdtemp(join(tmpdir(), 'witness-'));
    const engine = new TestEngine();
    const server = await startTdsServer({ engine, port: 0, tls: await createCertificate() });
    try {
      const build = await execute('dotnet', [
        'build',
        folder,
        '-o',
        join(work, 'out'),
        `--property:BaseIntermediateOutputPath=${work}/obj/`,
      ]);
      expect(build.code, build.out).toBe(0);
      const recorder = await record(server.port);
      const args = [
        join(work, 'out', 'witness.dll'),
        `127.0.0.1,${recorder.port}`,
        credentials.user,
        credentials.password,
      ];
      const { out, code } = await execute('dotnet', args);
      expect(code, out).toBe(0);
      const findings = findingsOf(out);
      const exchanges = recorder.close();
      if (isRecording) {
        await writeFile(wire, `[\n${exchanges.map((exchange) => JSON.stringify(exchange)).join(',\n')}\n]\n`);
        await writeFile(golden, `[\n${findings.map((finding) => JSON.stringify(finding)).join(',\n')}\n]\n`);
      }
      expect(findings).toEqual(JSON.parse(await readFile(golden, 'utf8')));
      // Pooled connections came back with a reset: 2 reuses.
      expect(engine.sessions.reduce((sum, session) => sum + session.resets.length, 0)).toBe(2);
    } finally {
      await server.close();
      await rm(work, { recursive: true, force: true });
    }
  },
);

test('what SqlClient once sent is answered as it was then, byte for byte', async () => {
  const server = await startTdsServer({ engine: new TestEngine(), port: 0 });
  const exchanges: Exchange[] = JSON.parse(await readFile(wire, 'utf8'));
  expect(exchanges.length).toBeGreaterThan(80);
  const socket = createConnection(server.port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('hex')));
  for (const [request, response] of exchanges) {
    received = '';
    socket.write(Buffer.from(request, 'hex'));
    for (const end = Date.now() + 3_000; received.length < response.length && Date.now() < end; )
      await sleep(2);
    expect(received).toBe(response);
  }
  socket.destroy();
  await server.close();
});
