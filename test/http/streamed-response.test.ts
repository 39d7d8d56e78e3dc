import { default as functions } from '@azure/functions';
import { expect, test, vi } from 'vitest';
import { createSqlStream } from '../../src/http/index.js';
import { plainRowBytes } from '../../src/sql/index.js';
import { fakeSource } from '../helpers/fake-rows.js';

const { HttpRequest, HttpResponse, InvocationContext } = functions;
vi.spyOn(console, 'info').mockReturnValue();

const texts = ['{"Id":1}', '{"Id":2}', '{"Id":3}'];
const json = '[{"Id":1},{"Id":2},{"Id":3}]';

function respond() {
  const source = fakeSource({ next: (index) => texts[index] });
  const stream = createSqlStream({ plainRowBytes, open: async () => source, clientSilenceMs: 30_000 });
  const request = new HttpRequest({ method: 'GET', url: 'http://localhost/' });
  const context = new InvocationContext({ logHandler: () => {} });
  return { source, response: stream.respond(request, context, { status: 201, headers: { 'x-mine': '1' } }) };
}

test('a response is one of the library, for hooks and wrappers that look at it', async () => {
  const response = await respond().response;
  expect(response).toBeInstanceOf(HttpResponse);
  expect(response.status).toBe(201);
  expect(response.headers.get('x-mine')).toBe('1');
  expect(await response.text()).toBe(json);
  expect(response.bodyUsed).toBe(true);
});

test('its body can be read in every way', async () => {
  expect(await (await respond().response).json()).toEqual(JSON.parse(json));
  expect(Buffer.from(await (await respond().response).arrayBuffer()).toString()).toBe(json);
  expect(await (await (await respond().response).blob()).text()).toBe(json);
  const reader = (await respond().response).body!.getReader();
  let text = '';
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
    text += Buffer.from(chunk.value);
  expect(text).toBe(json);
  text = '';
  for await (const chunk of (await respond().response).body!) text += Buffer.from(chunk);
  expect(text).toBe(json);
});

test('a copy has the same body', async () => {
  const response = await respond().response;
  const copy = response.clone();
  expect(await Promise.all([response.text(), copy.text()])).toEqual([json, json]);
  expect(copy.status).toBe(201);
});

test('another copy of the library can send it', async () => {
  // Which does not know its class, and makes a response of its members.
  const response = await respond().response;
  const { status, headers, body, cookies } = response;
  expect(await new HttpResponse({ status, headers, body, cookies }).text()).toBe(json);
});

test('giving up a body cancels its query', async () => {
  const { source, response } = respond();
  await (await response).body!.cancel();
  expect(source.cancelled).toBe(true);
});
