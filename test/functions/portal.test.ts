import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { within } from '../helpers/run.js';
import { get, information, portalFunctions, startApp, startSlowService } from './portal-app.js';

let service: Awaited<ReturnType<typeof startSlowService>>;
let app: Awaited<ReturnType<typeof startApp>>;

beforeAll(async () => {
  service = await startSlowService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  app = await startApp(portalFunctions, { TIME_API_URL: service.url, PORTAL_THREADS: '2' });
});
afterEach(() => app.stop());

const eventually = (look: () => unknown, expected: unknown) =>
  expect.poll(look, { timeout: 15_000, interval: 20 }).toEqual(expected);

const index = () => get(`${app.url}/api/Portal/Index`);
const indexAsync = () => get(`${app.url}/api/Portal/IndexAsync`);
const idle = { total: 2, available: 2, blocked: 0, queued: 0 };

test('all threads are available before the first call', async () => {
  expect(await information(app.url)).toEqual(idle);
});

test('Portal/Index blocks one thread a call; the calls beyond wait, and their calls are not made', async () => {
  const calls = [index(), index(), index(), index(), index()];
  await eventually(() => information(app.url), { total: 2, available: 0, blocked: 2, queued: 3 });
  await eventually(() => service.waiting(), 2);
  await sleep(200);
  expect(service.waiting()).toBe(2);
  for (const expected of [2, 2, 1]) {
    await eventually(() => service.waiting(), expected);
    service.answer();
  }
  const answers = await Promise.all(calls.map(({ answer }) => answer));
  expect(answers).toEqual(Array(5).fill({ status: 200, body: '{"now":"2026-11-30T10:20:30.000Z"}' }));
  await eventually(() => information(app.url), idle);
});

test('Portal/IndexAsync makes all calls at once and blocks nothing', async () => {
  const calls = Array.from({ length: 20 }, indexAsync);
  await eventually(() => service.waiting(), 20);
  await eventually(() => information(app.url), idle);
  service.answer();
  const answers = await Promise.all(calls.map(({ answer }) => answer));
  expect(answers).toEqual(Array(20).fill({ status: 200, body: '{"now":"2026-11-30T10:20:30.000Z"}' }));
});

test.each([
  ['Portal/Index', index],
  ['Portal/IndexAsync', indexAsync],
])('%s stops its call when its client leaves', async (_name, call) => {
  const left = service.left();
  const client = call();
  await eventually(() => service.waiting(), 1);
  client.leave();
  await eventually(() => service.left() - left, 1);
  await eventually(() => information(app.url), idle);
});

test('a client that leaves the queue makes no call, and those behind it move up', async () => {
  const [first, second, third, fourth] = [index(), index(), index(), index()];
  await eventually(() => information(app.url), { total: 2, available: 0, blocked: 2, queued: 2 });
  third.leave();
  await eventually(() => information(app.url), { total: 2, available: 0, blocked: 2, queued: 1 });
  service.answer();
  await eventually(() => service.waiting(), 1);
  service.answer();
  const answers = await Promise.all([first, second, fourth].map(({ answer }) => answer));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

test.each([
  ['Portal/Index', index],
  ['Portal/IndexAsync', indexAsync],
])('%s answers 500 when TimeApi fails, and says why in the log only', async (_name, call) => {
  const client = call();
  await eventually(() => service.waiting(), 1);
  service.answer(503, 'secret of the service');
  const { status, body } = await within(5_000, 'the answer', client.answer);
  expect(status).toBe(500);
  expect(body).not.toMatch(/secret|TimeApi|at /);
  await eventually(() => /TimeApi answered 503/.test(app.log()), true);
  await eventually(() => information(app.url), idle);
});
