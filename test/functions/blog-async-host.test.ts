/** BlogAsync as it is deployed, in the local host: its worker process, its proxy, a database on a socket. */
import { get } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type Host, startHost } from '../../src/dev/host/index.js';
import { within } from '../helpers/run.js';
import { RawServer } from '../helpers/sql-raw-server.js';
import { counts, script } from '../helpers/sql-script.js';

let server: RawServer;
let host: Host;
/** What BlogProc does, in the words of the script. */
let procedure: string;
let log = '';

interface Answer {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly body: string;
  readonly complete: boolean;
}

function ask(headers: Record<string, string> = {}): Promise<Answer> {
  const answer = new Promise<Answer>((resolve, reject) => {
    get(`${host.url}/api/BlogAsync`, { headers }, (response) => {
      let body = '';
      const end = () => {
        const { statusCode, complete } = response;
        resolve({ status: statusCode, type: response.headers['content-type'], body, complete });
      };
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', end).on('error', end);
    }).on('error', reject);
  });
  return within(10_000, 'an end of the response', answer);
}

beforeAll(async () => {
  server = await new RawServer((request, session) => {
    const text = request.text === 'exec BlogProc' ? procedure : request.text;
    return script({ ...request, text }, session);
  }).listen();
  const settings = {
    PATH: process.env['PATH'] ?? '',
    FUNCTIONS_WORKER_RUNTIME: 'node',
    AZURE_FUNCTIONS_ENVIRONMENT: 'Development',
    SqlConnectionString: server.connectionString,
  };
  host = await startHost({
    appDir: fileURLToPath(new URL('../..', import.meta.url)),
    port: 0,
    settings,
    write: (text) => {
      log += text;
    },
  });
});

beforeEach(() => {
  log = '';
});

afterAll(async () => {
  await host.stop();
  await server.close();
});

const logged = (pattern: RegExp) => vi.waitFor(() => expect(log).toMatch(pattern), { timeout: 5_000 });

test('rows go out as JSON, with one line in the log of the invocation', async () => {
  procedure = 'ids 1,2';
  expect(await ask()).toEqual({
    status: 200,
    type: 'application/json',
    body: '[{"Id":1},{"Id":2}]',
    complete: true,
  });
  await logged(/sqlStream: 2 rows, 19 bytes; acquire \d+ ms, first row \d+ ms, end \d+ ms; complete/);
});

test('an error before the first byte is a problem', async () => {
  procedure = 'error 208';
  const { status, type, body } = await ask();
  expect({ status, type }).toEqual({ status: 500, type: 'application/problem+json' });
  expect(JSON.parse(body)).toMatchObject({ code: 'EServer' });
  await logged(/sqlStream: .* failed, EServer .*number 208/);
});

test('a database that breaks off breaks the body', async () => {
  procedure = 'cut';
  expect(await ask()).toMatchObject({ status: 200, body: '[{"Id":1}', complete: false });
  const { body, complete } = await ask({ accept: 'application/x-ndjson' });
  expect(complete).toBe(false);
  const [row = '', error = ''] = body.trimEnd().split('\n');
  expect(JSON.parse(row)).toEqual({ Id: 1 });
  expect(JSON.parse(error)).toMatchObject({ error: { code: 'EConnectionLost' } });
});

test.each(['wait', 'stream'])(
  'a client that leaves during "%s" cancels the procedure at the server',
  async (what) => {
    procedure = what;
    const before = counts.attentions;
    const asked = server.requests.length;
    const client = get(`${host.url}/api/BlogAsync`, (response) => response.resume()).on('error', () => {});
    const begun = () => server.requests.slice(asked).some(({ text }) => text === 'exec BlogProc');
    await vi.waitFor(() => expect(begun()).toBe(true), { timeout: 5_000 });
    client.destroy();
    await vi.waitFor(() => expect(counts.attentions).toBe(before + 1), { timeout: 5_000 });
    await logged(/client left/);
  },
);

test('when the host stops, a response that has begun comes to its end', async () => {
  procedure = 'trickle 600';
  const asked = server.requests.length;
  const answer = ask();
  await vi.waitFor(() => expect(server.requests.length).toBeGreaterThan(asked), { timeout: 5_000 });
  await within(12_000, 'the end of the host', host.stop());
  expect(await answer).toMatchObject({ status: 200, body: '[{"Id":1},{"Id":2}]', complete: true });
  await vi.waitFor(() => expect(server.sessions.size).toBe(0), { timeout: 5_000 });
});
