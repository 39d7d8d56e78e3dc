import { afterEach, expect, test } from 'vitest';
import { within } from '../helpers/run.js';
import { get, information, portalFunctions, startApp } from './portal-app.js';

let app: Awaited<ReturnType<typeof startApp>> | undefined;
afterEach(() => app?.stop());

test('TimeApi tells the time after a delay between its settings', async () => {
  app = await startApp(['TimeApi'], { TIME_API_MIN_MS: '300', TIME_API_MAX_MS: '400' });
  const began = performance.now();
  const before = Date.now();
  const { status, body } = await get(`${app.url}/api/TimeApi`).answer;
  expect(performance.now() - began).toBeGreaterThan(290);
  expect(status).toBe(200);
  const now = Date.parse(JSON.parse(body).now);
  expect(now).toBeGreaterThanOrEqual(before + 290);
  expect(now).toBeLessThanOrEqual(Date.now());
});

test('TimeApi refuses a setting that is no number, and names it in the log', async () => {
  app = await startApp(['TimeApi'], { TIME_API_MIN_MS: 'soon' });
  expect((await within(5_000, 'the answer', get(`${app.url}/api/TimeApi`).answer)).status).toBe(500);
  await expect.poll(() => app?.log()).toMatch(/TIME_API_MIN_MS .*'soon'/);
});

test('without TIME_API_URL both call the TimeApi of their own app, whatever the request says', async () => {
  app = await startApp(portalFunctions, { TIME_API_MIN_MS: '1', TIME_API_MAX_MS: '2', TIME_API_URL: '' });
  const headers = {
    'x-forwarded-host': 'evil.example',
    'x-original-host': 'evil.example',
    forwarded: 'host=evil.example',
  };
  for (const path of ['Portal/Index', 'Portal/IndexAsync']) {
    const response = await fetch(`${app.url}/api/${path}`, { headers });
    expect([response.status, await response.json()]).toEqual([
      200,
      { now: expect.stringMatching(/^20\d\d-.*Z$/) },
    ]);
    expect(response.headers.get('content-type')).toBe('application/json');
  }
  const { url } = app;
  await expect.poll(() => information(url)).toEqual({ total: 8, available: 8, blocked: 0, queued: 0 });
});

test('a wrong number of threads is a 500 that names the setting in the log', async () => {
  app = await startApp(portalFunctions, { PORTAL_THREADS: 'many' });
  for (const path of ['Portal/Index', 'Portal/Information']) {
    expect((await within(5_000, path, get(`${app.url}/api/${path}`).answer)).status).toBe(500);
  }
  await expect.poll(() => app?.log()).toMatch(/PORTAL_THREADS .*'many'/);
});
