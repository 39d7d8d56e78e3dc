import { expect, test } from 'vitest';
import { within } from '../helpers/run.js';
import { eventually, gate, makePool, part } from './helpers.js';

const aborted = { name: 'BlockingPoolError', code: 'EAborted' };

test('an abort frees the blocked thread at once and tells the I/O', async () => {
  const pool = makePool({ min: 1, max: 1 });
  const io = gate();
  const controller = new AbortController();
  const job = pool.run({ ...part('echo'), start: io.start, signal: controller.signal });
  await eventually(() => expect(pool.counts().blocked).toBe(1));
  controller.abort('client left');
  await expect(job).rejects.toMatchObject({ ...aborted, cause: 'client left' });
  expect(io.signal()?.aborted).toBe(true);
  const next = pool.run({ ...part('echo'), start: async () => 'next' });
  expect(await within(5_000, 'the next job', next)).toBe('next');
  expect(pool.snapshot().threads.map(({ id }) => id)).toEqual([1]);
});

test('data that comes after an abort does not reach the next job', async () => {
  const pool = makePool({ min: 1, max: 1 });
  const [late, own] = [gate(), gate()];
  const controller = new AbortController();
  const job = pool.run({ ...part('echo'), start: late.start, signal: controller.signal });
  await eventually(() => expect(pool.counts().blocked).toBe(1));
  controller.abort();
  await expect(job).rejects.toMatchObject(aborted);
  const next = pool.run({ ...part('echo'), start: own.start });
  await eventually(() => expect(pool.counts().blocked).toBe(1));
  late.open('late');
  own.open('own');
  expect(await next).toBe('own');
});

test('an aborted job that waits leaves the queue and starts no I/O', async () => {
  const pool = makePool({ min: 1, max: 1 });
  const [held, never] = [gate(), gate()];
  const first = pool.run({ ...part('echo'), start: held.start });
  const controller = new AbortController();
  const second = pool.run({ ...part('echo'), start: never.start, signal: controller.signal });
  await eventually(() => expect(pool.counts()).toMatchObject({ blocked: 1, queued: 1 }));
  controller.abort();
  await expect(second).rejects.toMatchObject(aborted);
  expect(pool.counts().queued).toBe(0);
  held.open('x');
  await first;
  expect(never.started()).toBe(0);
});

test('a signal that has aborted before starts nothing', async () => {
  const pool = makePool();
  const io = gate();
  const job = pool.run({ ...part('echo'), start: io.start, signal: AbortSignal.abort() });
  await expect(job).rejects.toMatchObject(aborted);
  expect([io.started(), pool.counts().total]).toEqual([0, 0]);
});

test('an abort amid the CPU part drops the result, and the thread goes on when it is done', async () => {
  const pool = makePool({ min: 1, max: 1 });
  const controller = new AbortController();
  const job = pool.run({ ...part('compute', 300), start: async () => 1, signal: controller.signal });
  await eventually(() =>
    expect(pool.snapshot().threads[0]).toMatchObject({ state: 'running', functionName: null }),
  );
  controller.abort();
  await expect(job).rejects.toMatchObject(aborted);
  const next = pool.run({ ...part('echo'), start: async () => 'next' });
  expect(await within(5_000, 'the next job', next)).toBe('next');
});

test('after 1,000 aborted jobs no thread is lost, none is new, and all serve', async () => {
  const pool = makePool({ min: 4, max: 4 });
  pool.start();
  await eventually(() => expect(pool.counts().idle).toBe(4));
  const abortOne = async (index: number) => {
    const controller = new AbortController();
    const io = gate();
    const job = pool.run({ ...part('echo'), start: io.start, signal: controller.signal });
    job.catch(() => {});
    // Some are aborted in the queue, some on their way to the thread, some while it stands still.
    if (index % 3 === 0) await eventually(() => expect(io.started()).toBe(1));
    else if (index % 3 === 1) await new Promise(setImmediate);
    controller.abort();
    await expect(job).rejects.toMatchObject(aborted);
  };
  for (let round = 0; round < 25; round++) {
    await within(10_000, 'aborts', Promise.all(Array.from({ length: 40 }, (_, i) => abortOne(i))));
  }
  await eventually(() =>
    expect(pool.counts()).toEqual({ total: 4, idle: 4, blocked: 0, running: 0, queued: 0 }),
  );
  expect(pool.snapshot().threads.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  const results = Array.from({ length: 40 }, (_, i) => pool.run({ ...part('echo'), start: async () => i }));
  expect(await within(5_000, 'jobs', Promise.all(results))).toEqual(Array.from({ length: 40 }, (_, i) => i));
});
