import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { within } from '../../helpers/run.js';
import { fixture, raw, rawSocket, type StartedApp, startApp } from './apps.js';

const guid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

describe.each([
  ['streamed', 'false'],
  ['typed data', 'true'],
])('HTTP with %s', (_name, typed) => {
  let app: StartedApp;
  beforeAll(async () => {
    app = await startApp(fixture('basic'), { env: { TYPED: typed, FROM_BOTH: 'environment' } });
  });
  afterAll(() => app.host.stop());

  const echo = async (path: string, init?: RequestInit) => (await app.get(path, init)).json();

  test('method, address, headers and raw bytes of the body reach the handler unchanged', async () => {
    const body = Buffer.from([0, 255, 254, 13, 10, 200]);
    const seen = await echo('/api/Echo?b=%C3%BC%20x', {
      method: 'PUT',
      body,
      headers: { 'x-one': 'a, b', cookie: 'c=1; d=2', 'content-type': 'application/octet-stream' },
    });
    expect(seen).toMatchObject({
      method: 'PUT',
      url: `${app.host.url}/api/Echo?b=%C3%BC%20x`,
      query: [['b', 'ü x']],
      body: body.toString('base64'),
      functionName: 'Echo',
      invocationId: expect.stringMatching(guid),
    });
    expect(seen.headers).toMatchObject({
      'x-one': 'a, b',
      cookie: 'c=1; d=2',
      'content-type': 'application/octet-stream',
    });
  });

  test('a body of 5 MB, and one sent in chunks, arrive whole', async () => {
    const body = Buffer.alloc(5_000_000, 'abcdefg');
    expect((await echo('/api/Echo', { method: 'POST', body })).body).toBe(body.toString('base64'));
    const answer = await raw(
      app.host,
      'POST /api/Echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
    );
    expect(answer.text).toContain(Buffer.from('abcde').toString('base64'));
  });

  test('a body over the limit of the real host is refused before it is sent', async () => {
    const text =
      'POST /api/Echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 104857601\r\n\r\nabc';
    const socket = rawSocket(app.host, text);
    const first = await within(3_000, 'the answer', new Promise((resolve) => socket.once('data', resolve)));
    expect(String(first)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  test('a form is parsed by the handler', async () => {
    const body = new FormData();
    body.append('name', 'a=b,c');
    const answer = await app.get('/api/Form', { method: 'POST', body });
    expect(await answer.json()).toEqual([['name', 'a=b,c']]);
  });

  test('a repeated name in the query is as in Azure', async () => {
    const { query } = await echo('/api/Echo?a=1&a=2');
    expect(query).toEqual(
      typed === 'true'
        ? [['a', '1,2']]
        : [
            ['a', '1'],
            ['a', '2'],
          ],
    );
  });

  test('paths have no letter case; an unknown path and a wrong method are 404', async () => {
    expect((await app.get('/API/trivial/')).status).toBe(200);
    const unknown = await app.get('/api/nothing');
    expect([unknown.status, await unknown.text()]).toEqual([404, '']);
    expect((await app.get('/api/Trivial', { method: 'POST' })).status).toBe(404);
    expect((await app.get('/api/Trivial', { method: 'HEAD' })).status).toBe(404);
    expect((await app.get('/api/Trivial', { method: 'OPTIONS' })).status).toBe(404);
    expect((await app.get('/api/Off')).status).toBe(404);
  });

  test('HEAD and OPTIONS reach functions that name them', async () => {
    const head = await app.get('/api/Echo', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await echo('/api/Echo', { method: 'OPTIONS' })).method).toBe('OPTIONS');
  });

  test('GET with a body is answered, the body ignored', async () => {
    const text = 'GET /api/Echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc';
    const { text: answer } = await within(3_000, 'the answer', raw(app.host, text));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('"body":""');
  });

  test.each([204, 205, 304])('status %i has no body', async (status) => {
    const answer = await app.get(`/api/status/${status}`);
    expect([answer.status, await answer.text()]).toEqual([status, '']);
  });

  test('headers and cookies of the response pass, each cookie on its own', async () => {
    const answer = await app.get('/api/Cookies');
    expect(answer.headers.get('x-custom')).toBe('yes');
    const cookies = answer.headers.getSetCookie().map((one) => one.toLowerCase());
    expect(cookies).toHaveLength(2);
    expect(cookies[0]).toMatch(/^a=1; path=\/; (httponly; samesite=lax|samesite=lax; httponly)$/);
    expect(cookies[1]).toContain('b=x%20y');
    expect(cookies[1]).toContain('max-age=60');
  });

  test.each(['Throws', 'ThrowsLate', 'ReturnsString', 'BadStatus'])(
    '%s: 500 at once, with the invocation and no stack, and one line in the log',
    async (name) => {
      const answer = await within(3_000, 'the answer', app.get(`/api/${name}`));
      expect(answer.status).toBe(500);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      const text = await answer.text();
      const { invocationId, code } = JSON.parse(text);
      expect([code, invocationId]).toEqual(['FunctionFailed', answer.headers.get('x-ms-invocation-id')]);
      expect(text).not.toMatch(/secret|handlers\.js|only a string/);
      await app.logged(
        new RegExp(`Executed 'Functions.${name}' \\(Failed, Id=${invocationId}, Duration=\\d+ms\\) `),
      );
      expect(app.log().filter((line) => line.includes(invocationId))).toHaveLength(2);
    },
  );

  test('the log says where a handler threw', async () => {
    await app.get('/api/Throws');
    const line = await app.logged(/'Functions.Throws' \(Failed/);
    expect(line).toMatch(/TypeError: a secret of the handler at .*handlers\.js:\d+:\d+$/);
  });

  test.each(['ReturnsNothing', 'ReturnsNull'])('%s: 204', async (name) => {
    const answer = await within(3_000, 'the answer', app.get(`/api/${name}`));
    expect([answer.status, await answer.text()]).toEqual([204, '']);
  });

  test('headers of the host that a client sends are replaced', async () => {
    const id = '00000000-0000-0000-0000-000000000000';
    const { headers, url, invocationId } = await echo('/api/Echo', {
      headers: { 'x-ms-invocation-id': id, 'x-forwarded-host': 'evil', 'x-forwarded-proto': 'https' },
    });
    expect(invocationId).not.toBe(id);
    expect(headers['x-ms-invocation-id']).toBe(invocationId);
    expect([headers['x-forwarded-host'], headers['x-forwarded-proto']]).toEqual([
      new URL(app.host.url).host,
      'http',
    ]);
    expect(url).toBe(`${app.host.url}/api/Echo`);
  });

  test('the trace of the caller goes on in the function, with a span of its own', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const traceparent = `00-${trace}-b7ad6b7169203331-01`;
    const seen = await echo('/api/Echo', { headers: { traceparent, tracestate: 'a=1' } });
    expect(seen.traceParent).toMatch(new RegExp(`^00-${trace}-(?!b7ad6b7169203331)[\\da-f]{16}-01$`));
    expect(seen.traceState).toBe('a=1');
    expect((await echo('/api/Echo')).traceParent).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-00$/);
  });

  test('the worker has the settings, beaten by the environment, and what Core Tools adds', async () => {
    const environment = await echo('/api/Environment');
    expect(environment).toMatchObject({
      FROM_FILE: 'file',
      FROM_BOTH: 'environment',
      FUNCTIONS_WORKER_RUNTIME: 'node',
      AZURE_FUNCTIONS_ENVIRONMENT: 'Development',
      WEBSITE_HOSTNAME: new URL(app.host.url).host,
    });
  });

  test('routes: literal before constraint before parameter, optional parts, catch-all, decoded values', async () => {
    const route = async (path: string) => {
      const answer = await app.get(`/api/${path}`);
      return answer.status === 200 ? answer.json() : answer.status;
    };
    expect(await route('posts/latest')).toEqual({ name: 'PostLatest', params: {} });
    expect(await route('posts/05')).toEqual({ name: 'PostInt', params: { id: '05' } });
    expect(await route('posts/5.0')).toEqual({ name: 'Post', params: { id: '5.0' } });
    expect(await route('posts/a%20%C3%BC%2Fb')).toEqual({ name: 'Post', params: { id: 'a ü%2Fb' } });
    expect(await route('posts/1/comments')).toMatchObject({ name: 'Comment', params: { id: '1' } });
    expect(await route('files/a/b.txt')).toEqual({ name: 'Files', params: { path: 'a/b.txt' } });
    expect(await route('guid/x')).toBe(404);
    expect(await route('alpha/abc')).toEqual({ name: 'Alpha', params: { name: 'abc' } });
    expect(await route('alpha/abcde')).toBe(404);
    expect(await route('default')).toEqual({ name: 'Default', params: { size: '10' } });
  });

  test('what the app logs is in the log, debug lines only on demand', async () => {
    await app.get('/api/Logs');
    await app.logged(/\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\] an information$/);
    await app.logged(/\] a warning$/);
    await app.logged(/\] a console line$/);
    await app.logged(/Executed 'Functions.Logs' \(Succeeded, Id=/);
    expect(app.log().filter((line) => line.includes('a debug line'))).toEqual([]);
  });

  test('the home page, a bad Host header, and a target in absolute form', async () => {
    expect((await app.get('/')).headers.get('content-type')).toMatch(/^text\/html/);
    const close = 'Connection: close\r\n\r\n';
    expect((await raw(app.host, `GET /api/Trivial HTTP/1.1\r\nHost: a b/c\r\n${close}`)).text).toMatch(
      /^HTTP\/1.1 400/,
    );
    const absolute = `GET http://elsewhere/api/Trivial HTTP/1.1\r\nHost: x\r\n${close}`;
    expect((await raw(app.host, absolute)).text).toMatch(/^HTTP\/1.1 200/);
  });
});
