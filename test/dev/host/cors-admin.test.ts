import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixture, type StartedApp, startApp } from './apps.js';

let app: StartedApp;
beforeAll(async () => {
  app = await startApp(fixture('basic'), { adminPages: { '/admin/extra': () => ({ extra: 1 }) } });
});
afterAll(() => app.host.stop());

const origin = 'http://localhost:3000';

describe('CORS of local.settings.json', () => {
  test('a preflight request is answered for any function and path', async () => {
    const answer = await app.get('/api/Trivial', {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'x-one,content-type',
      },
    });
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'x-one,content-type',
      'access-control-allow-credentials': 'true',
      vary: 'Origin',
    });
  });

  test('answers, errors too, carry the origin when it is allowed', async () => {
    for (const [path, status] of [
      ['/api/Trivial', 200],
      ['/api/Throws', 500],
      ['/api/nothing', 404],
    ] as const) {
      const answer = await app.get(path, { headers: { origin } });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, origin]);
    }
    const other = await app.get('/api/Trivial', { headers: { origin: 'http://evil' } });
    expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([200, null]);
  });

  test('* allows all, by name when credentials go along', async () => {
    for (const [credentials, expected] of [
      [false, '*'],
      [true, 'http://any'],
    ] as const) {
      const open = await startApp(fixture('basic'), { cors: { origins: ['*'], credentials } });
      const answer = await open.get('/api/Trivial', { headers: { origin: 'http://any' } });
      expect(answer.headers.get('access-control-allow-origin')).toBe(expected);
      await open.host.stop();
    }
  });
});

describe('/admin/', () => {
  test('host/status and functions answer as Core Tools does', async () => {
    const status = await (await app.get('/admin/host/status')).json();
    expect(status).toMatchObject({ state: 'Running', version: expect.stringMatching(/^4\./) });
    const answer = await app.get('/Admin/Functions');
    const functions = JSON.parse(await answer.text()) as { name: string }[];
    const trivial = functions.find((one) => one.name === 'Trivial');
    expect(trivial).toMatchObject({ invoke_url_template: `${app.host.url}/api/Trivial`, isDisabled: false });
    expect((await app.get('/admin/functions/off')).status).toBe(200);
    expect((await app.get('/admin/nothing')).status).toBe(404);
    expect(await (await app.get('/admin/extra')).json()).toEqual({ extra: 1 });
  });
});
