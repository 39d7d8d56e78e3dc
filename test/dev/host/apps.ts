import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Host, type HostOptions, readAppSettings, startHost } from '../../../src/dev/host/index.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface StartedApp {
  readonly host: Host;
  /** Lines of the log so far. */
  log(): string[];
  /** The first line of the log that matches, once it is there. */
  logged(pattern: RegExp): Promise<string>;
  get(path: string, init?: RequestInit): Promise<AppResponse>;
}

/** What the fixtures say of a request, of themselves, or of a failure. */
export interface AppJson {
  readonly method: string;
  readonly url: string;
  readonly query: [string, string][];
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly invocationId: string;
  readonly traceParent: string;
  readonly traceState: string;
  readonly code: string;
  readonly opened: number;
  readonly left: number;
  readonly pulled: number;
  readonly proxyPort: number;
}

export interface AppResponse extends Omit<Response, 'json'> {
  json(): Promise<AppJson>;
}

export function fixture(name: string): string {
  return join(root, 'test/fixtures/apps', name);
}

/** A function app made of these files, which finds the packages of the checkout. */
export async function makeApp(files: Record<string, string | object>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'function-app-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  folders.push(folder);
  return folder;
}

const folders: string[] = [];

export function removeApps(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export async function startApp(
  appDir: string,
  { env = {}, ...options }: Partial<HostOptions> & { env?: Record<string, string> } = {},
): Promise<StartedApp> {
  let text = '';
  const { PATH = '' } = process.env;
  const host = await startHost({
    appDir,
    port: 0,
    settings: readAppSettings(appDir, { PATH, ...env }).values,
    write: (lines) => {
      text += lines;
    },
    ...options,
  });
  const log = () => text.split('\n').filter((line) => line !== '');
  return {
    host,
    log,
    get: (path, init) => fetch(`${host.url}${path}`, { redirect: 'manual', ...init }) as Promise<AppResponse>,
    async logged(pattern) {
      for (let waited = 0; waited < 5_000; waited += 10) {
        const found = log().find((line) => pattern.test(line));
        if (found !== undefined) return found;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new Error(`no line of the log matched ${pattern}:\n${text}`);
    },
  };
}

export interface RawAnswer {
  readonly text: string;
  /** How the connection ended. */
  readonly end: 'end' | 'reset';
}

/** Sends bytes as they are, for what `fetch` does not do. */
export function rawSocket(host: Host, text: string): Socket {
  const socket = connect(host.port, '127.0.0.1');
  socket.write(text);
  return socket;
}

/** All that the server sends until it ends the connection. */
export function raw(host: Host, text: string): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = rawSocket(host, text);
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk;
    });
    socket.once('error', () => resolve({ text: received, end: 'reset' }));
    socket.once('end', () => resolve({ text: received, end: 'end' }));
  });
}

export async function until(
  what: string,
  check: () => boolean | Promise<boolean>,
  ms = 5_000,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
