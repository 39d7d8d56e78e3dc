import { get as httpGet, request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { within } from '../../helpers/run.js';
import { fixture, raw, rawSocket, removeApps, type StartedApp, startApp, until } from './apps.js';

let app: StartedApp;
beforeAll(async () => {
  app = await startApp(fixture('streams'));
});
afterAll(async () => {
  await app.host.stop();
  removeApps();
});

const head = (path: string, version = '1.1') =>
  `GET ${path} HTTP/${version}\r\nHost: x\r\nConnection: close\r\n\r\n`;
const state = async () => (await app.get('/api/State')).json();

test('the first chunk arrives while the handler still makes the next', async () => {
  const started = performance.now();
  const answer = await app.get('/api/Chunks?count=3&delay=300');
  const reader = answer.body!.getReader();
  const first = await reader.read();
  const firstAt = performance.now() - started;
  expect(first.value?.length).toBeGreaterThan(0);
  while (!(await reader.read()).done);
  expect(performance.now() - started - firstAt).toBeGreaterThan(400);
});

test('a long body arrives whole', async () => {
  const answer = await app.get('/api/Chunks?count=200');
  const body = Buffer.from(await answer.arrayBuffer());
  expect(body.length).toBe(200 * 65_536);
  expect(body.subarray(-1).toString()).toBe(String.fromCharCode(97 + (199 % 26)));
});

test('an error amid the body breaks it: what came before it arrives, and no end', async () => {
  const answer = await within(5_000, 'the end', raw(app.host, head('/api/Chunks?count=5&fail=2&delay=20')));
  expect(answer.text).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer.text.length).toBeGreaterThan(65_536);
  expect(answer.text).not.toMatch(/\r\n0\r\n\r\n$/);
  const fetched = await app.get('/api/Chunks?count=5&fail=2&delay=20');
  await expect(within(5_000, 'the end', fetched.arrayBuffer())).rejects.toThrow('terminated');
  await app.logged(/'Functions\.Chunks' \(Failed, .*the source broke/);
});

test('a client of HTTP/1.0, which knows no chunks, gets a reset instead of an end', async () => {
  const path = '/api/Chunks?count=5&fail=2&delay=20';
  const answer = await within(5_000, 'the end', raw(app.host, head(path, '1.0')));
  expect(answer.end).toBe('reset');
});

test('an error before the first byte is a 500', async () => {
  const answer = await within(5_000, 'the answer', app.get('/api/Chunks?count=5&fail=0'));
  expect(answer.status).toBe(500);
});

test('a client that leaves ends its request in the worker, before and amid the body', async () => {
  for (const path of ['/api/Wait', '/api/Chunks?count=1000&delay=5']) {
    const before = await state();
    const socket = rawSocket(app.host, head(path));
    await until('the request is in the worker', async () => (await state()).opened > before.opened + 1);
    await sleep(50);
    socket.destroy();
    await until('the worker sees that it left', async () => (await state()).left > before.left);
  }
});

test('a client that does not read stops the worker, and a reader goes on', async () => {
  const socket = rawSocket(app.host, head('/api/Pull?count=2000'));
  socket.pause();
  let made = 0;
  await until('the worker stands still', async () => {
    const now = (await state()).pulled as number;
    const same = now > 0 && now === made;
    made = now;
    await sleep(200);
    return same;
  });
  expect(made).toBeLessThan(1_000);
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.resume();
  await within(15_000, 'the whole body', new Promise((resolve) => socket.once('end', resolve)));
  expect(bytes).toBeGreaterThan(2_000 * 65_536);
});

test('connections to the worker are fit for use after slow clients', async () => {
  for (let round = 0; round < 5; round++) {
    await new Promise<void>((resolve, reject) => {
      httpGet(`${app.host.url}/api/Chunks?count=40`, (response) => {
        response.on('data', () => {
          response.pause();
          setTimeout(() => response.resume(), 1);
        });
        response.once('end', resolve);
      }).once('error', reject);
    });
    const answer = await within(2_000, 'a request after it', app.get('/api/State'));
    expect(answer.status).toBe(200);
    await answer.text();
  }
});

test('a handler that answers without reading its body is no trouble for the next request', async () => {
  for (let round = 0; round < 5; round++) {
    const upload = request(`${app.host.url}/api/Ignore`, { method: 'POST' });
    upload.on('error', () => {});
    const answered = new Promise((resolve) => upload.once('response', resolve));
    upload.write(Buffer.alloc(3_000_000));
    await within(3_000, 'the answer', answered);
    upload.destroy();
    expect((await app.get('/api/State')).status).toBe(200);
  }
});

test('the proxy of the library listens on loopback only, and answers strangers at once', async () => {
  const { proxyPort } = await state();
  const stranger = await within(2_000, 'the answer', fetch(`http://127.0.0.1:${proxyPort}/api/State`));
  expect(stranger.status).toBe(403);
  const forged = await within(
    2_000,
    'the answer',
    fetch(`http://127.0.0.1:${proxyPort}/`, { headers: { 'x-ms-invocation-id': 'x', 'x-host-token': 'y' } }),
  );
  expect(forged.status).toBe(403);
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
  if (outside) await expect(fetch(`http://${outside}:${proxyPort}/`)).rejects.toThrow();
});
