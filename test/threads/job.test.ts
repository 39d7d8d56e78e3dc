import { expect, test } from 'vitest';
import { textPart } from '../../src/threads/index.js';
import { within } from '../helpers/run.js';
import { eventually, gate, makePool, part } from './helpers.js';

const now = async (value: unknown) => value;

test('a job gives what its CPU part makes of what its I/O brings', async () => {
  const pool = makePool({ min: 1 });
  expect(await pool.run({ ...part('multiply', 6), start: () => now(7) })).toBe(42);
});

test('bytes reach the thread and come back without a change, also slices of a shared buffer', async () => {
  const pool = makePool({ min: 1 });
  const whole = new Uint8Array([1, 2, 3]);
  const slice = new Uint8Array([9, 1, 2, 3, 9]).subarray(1, 4);
  expect(await pool.run({ ...part('echo'), start: () => now(whole) })).toEqual(new Uint8Array([1, 2, 3]));
  expect(await pool.run({ ...part('echo'), start: () => now(slice) })).toEqual(new Uint8Array([1, 2, 3]));
  expect([whole.byteLength, slice.byteLength]).toEqual([0, 3]);
});

test('the text part makes text of UTF-8 bytes', async () => {
  const pool = makePool({ min: 1 });
  expect(await pool.run({ ...textPart, start: () => now(Buffer.from('olá ✓')) })).toBe('olá ✓');
});

test('the I/O starts when a thread takes the job, not before', async () => {
  const pool = makePool({ min: 1, max: 1 });
  const [first, second] = [gate(), gate()];
  const one = pool.run({ ...part('echo'), start: first.start });
  const two = pool.run({ ...part('echo'), start: second.start });
  await eventually(() => expect(pool.counts()).toMatchObject({ blocked: 1, queued: 1 }));
  expect([first.started(), second.started()]).toEqual([1, 0]);
  first.open('a');
  expect(await one).toBe('a');
  second.open('b');
  expect(await two).toBe('b');
});

test('a rejection of the I/O reaches the caller as the very same error', async () => {
  const pool = makePool({ min: 1 });
  const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const result = pool.run({ ...part('echo'), start: () => Promise.reject(error) });
  expect(await result.catch((reason) => reason)).toBe(error);
  const thrown = pool.run({
    ...part('echo'),
    start: () => {
      throw error;
    },
  });
  expect(await thrown.catch((reason) => reason)).toBe(error);
});

test('a CPU part may catch a failed read and go on', async () => {
  const pool = makePool({ min: 1 });
  expect(await pool.run({ ...part('catchAndGoOn'), start: () => Promise.reject(new Error('x')) })).toBe(
    'went on',
  );
});

test('an error of the CPU part is the cause of the job’s error', async () => {
  const pool = makePool({ min: 1 });
  const result = pool.run({ ...part('throwAfterRead'), start: () => now(1) });
  await expect(result).rejects.toMatchObject({
    name: 'BlockingPoolError',
    code: 'EJobFailed',
    message: 'no such column',
    cause: { name: 'RangeError' },
  });
});

test.each([
  ['EJobModule', { module: 'file:///nowhere/part.js', exportName: 'x' }],
  ['EJobModule', part('noSuchExport')],
  ['EJobData', part('returnFunction')],
  ['EJobData', part('echo', () => {})],
])('%s names what is wrong with a job, and its thread takes the next one', async (code, wrong) => {
  const pool = makePool({ min: 1, max: 1 });
  await expect(pool.run({ ...wrong, start: () => now(1) })).rejects.toMatchObject({ code });
  expect(await pool.run({ ...part('echo'), start: () => now('next') })).toBe('next');
  expect(pool.snapshot().threads.map(({ id }) => id)).toEqual([1]);
});

test('I/O that brings what can’t be passed on fails its job, and the thread goes on', async () => {
  const pool = makePool({ min: 1, max: 1 });
  const result = pool.run({ ...part('echo'), start: () => now(() => {}) });
  await expect(result).rejects.toMatchObject({ code: 'EJobData' });
  expect(await pool.run({ ...part('echo'), start: () => now('next') })).toBe('next');
});

test('the I/O of a part that ends without reading is told that nobody waits, and its late data harms no other job', async () => {
  const pool = makePool({ min: 1, max: 1 });
  const unread = gate();
  expect(await pool.run({ ...part('ignore'), start: unread.start })).toBe('ignored');
  expect(unread.signal()?.aborted).toBe(true);
  const next = gate();
  const result = pool.run({ ...part('echo'), start: next.start });
  unread.open('late');
  await eventually(() => expect(pool.counts().blocked).toBe(1));
  next.open('own');
  expect(await result).toBe('own');
});

test('2,000 jobs on four threads each get their own data', async () => {
  const pool = makePool({ min: 4, max: 4 });
  const results = await within(
    15_000,
    'all jobs',
    Promise.all(
      Array.from({ length: 2_000 }, (_, i) => pool.run({ ...part('multiply', 2), start: () => now(i) })),
    ),
  );
  expect(results.every((value, i) => value === 2 * i)).toBe(true);
});
