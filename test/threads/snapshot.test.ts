import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { eventually, gate, makePool, type Pool, part } from './helpers.js';

function loadBlogs(pool: Pool, io: ReturnType<typeof gate<string>>, invocationId: string) {
  return pool.run({ ...part('readTheTable'), start: io.start, functionName: 'Blog', invocationId });
}

test('a blocked thread tells for whom, since when, and where in its code it stands', async () => {
  const pool = makePool({ name: 'sql binding', min: 1, max: 1 });
  const io = gate();
  const before = Date.now();
  const job = loadBlogs(pool, io, 'i-1');
  await eventually(() => expect(pool.counts().blocked).toBe(1));
  const snapshot = pool.snapshot();
  expect(snapshot).toMatchObject({ name: 'sql binding', min: 1, max: 1, queue: [], completed: 0 });
  const [thread] = snapshot.threads;
  expect(thread).toMatchObject({ id: 1, state: 'blocked', functionName: 'Blog', invocationId: 'i-1' });
  expect(thread?.part).toMatch(/parts\.js#readTheTable$/);
  const since = Date.parse(thread?.since ?? '');
  expect(since).toBeGreaterThanOrEqual(before - 50);
  expect(since).toBeLessThanOrEqual(Date.now() + 50);
  const frames = (thread?.stack ?? '').split('\n');
  expect(frames.map((frame) => /^at (?:async )?(\w+)/.exec(frame)?.[1]).slice(0, 3)).toEqual([
    'readSyncOverAsync',
    'readTheTable',
    'runJob',
  ]);
  expect(frames[1]).toMatch(/test\/threads\/parts\.js:\d+:\d+\)$/);
  expect(thread?.startedBy).toMatch(/^at loadBlogs \(/);
  io.open('rows');
  await job;
});

test('the stack is gone when the thread is idle again', async () => {
  const pool = makePool({ min: 1, max: 1 });
  const io = gate();
  const job = loadBlogs(pool, io, 'i-1');
  await eventually(() => expect(pool.counts().blocked).toBe(1));
  io.open('rows');
  await job;
  expect(pool.snapshot().threads[0]).toMatchObject({
    state: 'idle',
    functionName: null,
    invocationId: null,
    part: null,
    stack: null,
    startedBy: null,
  });
  await eventually(() => expect(pool.snapshot().completed).toBe(1));
});

test('a CPU part shows as running, not as blocked', async () => {
  const pool = makePool({ min: 1, max: 1 });
  const job = pool.run({ ...part('compute', 200), start: async () => 1, functionName: 'Primes' });
  const states = new Set<string>();
  while (pool.snapshot().completed === 0) {
    const [thread] = pool.snapshot().threads;
    if (thread?.functionName === 'Primes') states.add(thread.state);
    await sleep(10);
  }
  await job;
  expect([...states]).toEqual(['running']);
});

test('the queue is listed oldest first', async () => {
  const pool = makePool({ min: 1, max: 1 });
  const io = gate();
  const jobs = [];
  for (const id of ['i-1', 'i-2', 'i-3']) {
    jobs.push(loadBlogs(pool, io, id));
    await sleep(5);
  }
  await eventually(() => expect(pool.counts().blocked).toBe(1));
  const { queue } = pool.snapshot();
  expect(queue.map(({ invocationId }) => invocationId)).toEqual(['i-2', 'i-3']);
  expect(Date.parse(queue[0]?.since ?? '')).toBeLessThan(Date.parse(queue[1]?.since ?? ''));
  io.open('x');
  await Promise.all(jobs);
});

test('a snapshot is plain JSON', async () => {
  const pool = makePool({ min: 2, max: 2 });
  const io = gate();
  const job = loadBlogs(pool, io, 'i-1');
  await eventually(() => expect(pool.counts()).toMatchObject({ blocked: 1, idle: 1 }));
  const snapshot = pool.snapshot();
  expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
  io.open('x');
  await job;
});
