import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Host, startHost } from '../../src/dev/host/index.js';

export const portalFunctions = ['TimeApi', 'PortalIndex', 'PortalIndexAsync', 'PortalInformation'];

/** Serves some of the deployed functions, by the real library in a worker process, from a directory of their own. */
export async function startApp(functions: readonly string[], settings: Record<string, string>) {
  const appDir = mkdtempSync(join(tmpdir(), 'portal-'));
  mkdirSync(join(appDir, 'dist'));
  const file = (name: string) => new URL(`../../dist/${name}.js`, import.meta.url).href;
  const names = ['app', ...functions.map((name) => `functions/${name}`)];
  writeFileSync(join(appDir, 'entry.mjs'), names.map((name) => `import '${file(name)}';\n`).join(''));
  writeFileSync(join(appDir, 'package.json'), JSON.stringify({ main: 'entry.mjs' }));
  writeFileSync(join(appDir, 'host.json'), JSON.stringify({ version: '2.0' }));
  let log = '';
  const environment = Object.entries(process.env).flatMap(([key, value]) => (value ? [[key, value]] : []));
  const host: Host = await startHost({
    appDir,
    port: 0,
    settings: { ...Object.fromEntries(environment), FUNCTIONS_WORKER_RUNTIME: 'node', ...settings },
    write: (text) => {
      log += text;
    },
  });
  return {
    url: host.url,
    log: () => log,
    async stop() {
      await host.stop({ graceMs: 0 });
      rmSync(appDir, { recursive: true, force: true });
    },
  };
}

/** A TimeApi that answers when the test says so, and knows who waits and who left. */
export async function startSlowService() {
  const waiting = new Set<ServerResponse>();
  let left = 0;
  const server: Server = createServer((_request: IncomingMessage, response: ServerResponse) => {
    waiting.add(response);
    response.on('close', () => {
      waiting.delete(response);
      if (!response.writableFinished) left++;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    waiting: () => waiting.size,
    left: () => left,
    answer(status = 200, body = '{"now":"2026-11-30T10:20:30.000Z"}') {
      for (const response of waiting) response.writeHead(status).end(body);
      waiting.clear();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A client that can leave: each on a connection of its own. */
export function get(url: string) {
  const client = request(url, { agent: false });
  const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
    client.on('error', reject);
    client.on('response', async (response) => {
      let body = '';
      for await (const chunk of response.setEncoding('utf8')) body += chunk;
      resolve({ status: response.statusCode ?? 0, body });
    });
  });
  client.end();
  answer.catch(() => {});
  return { answer, leave: () => client.destroy() };
}

export async function information(url: string): Promise<unknown> {
  return (await fetch(`${url}/api/Portal/Information`)).json();
}
