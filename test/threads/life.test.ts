import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { run, within } from '../helpers/run.js';
import { eventually, gate, makePool, part } from './helpers.js';

test('a thread that dies fails its job clearly and is replaced', async () => {
  const pool = makePool({ min: 2, max: 2 });
  const job = pool.run({ ...part('die', 7), start: async () => 1 });
  await expect(job).rejects.toMatchObject({
    code: 'EThreadDied',
    message: expect.stringContaining('exit code 7'),
  });
  await eventually(() => expect(pool.counts()).toMatchObject({ total: 2, idle: 2 }));
  expect(Math.max(...pool.snapshot().threads.map(({ id }) => id))).toBe(3);
  expect(await pool.run({ ...part('echo'), start: async () => 'next' })).toBe('next');
});

test('a job that needs more memory than a thread may have fails, and the process lives', async () => {
  const pool = makePool({ min: 1, max: 1, maxHeapMb: 32 });
  const job = pool.run({ ...part('eatMemory'), start: async () => 1 });
  await expect(job).rejects.toMatchObject({
    code: 'EThreadDied',
    cause: { code: 'ERR_WORKER_OUT_OF_MEMORY' },
  });
  expect(await pool.run({ ...part('echo'), start: async () => 'next' })).toBe('next');
});

test('the I/O of a job whose thread dies is told', async () => {
  const pool = makePool({ min: 1, max: 1 });
  const io = gate();
  const job = pool.run({ ...part('eatMemory'), start: io.start });
  await expect(job).rejects.toMatchObject({ code: 'EThreadDied' });
  expect(io.signal()?.aborted).toBe(true);
});

// Starting 100 threads is 5 s of work for two cores that have nothing else to do.
test('close with 100 blocked threads and a queue wakes all and fails all', { timeout: 90_000 }, async () => {
  const pool = makePool({ min: 100, max: 100 });
  const io = gate();
  const jobs = Array.from({ length: 120 }, () => pool.run({ ...part('echo'), start: io.start }));
  const settled = Promise.allSettled(jobs);
  await eventually(() => expect(pool.counts()).toMatchObject({ blocked: 100, queued: 20 }), 60_000);
  await within(20_000, 'close', pool.close());
  const codes = (await settled).map((one) => (one.status === 'rejected' ? one.reason.code : one.value));
  expect(codes).toEqual(Array(120).fill('EClosed'));
  expect(pool.counts().total).toBe(0);
  expect(io.signal()?.aborted).toBe(true);
});

test('close ends a thread that computes without end', async () => {
  const pool = makePool({ min: 1, max: 1 });
  const job = pool.run({ ...part('compute', 1e9), start: async () => 1 });
  job.catch(() => {});
  await eventually(() => expect(pool.counts().running).toBe(1));
  await within(8_000, 'close', pool.close());
  await expect(job).rejects.toMatchObject({ code: 'EClosed' });
});

test('a closed pool refuses jobs, and closing it again is the same close', async () => {
  const pool = makePool({ min: 1 });
  pool.start();
  const closed = pool.close();
  expect(pool.close()).toBe(closed);
  await closed;
  await expect(pool.run({ ...part('echo'), start: async () => 1 })).rejects.toMatchObject({
    code: 'EClosed',
  });
  expect(pool.counts().total).toBe(0);
});

/** Runs a script against the compiled room in a process of its own. */
const script = (text: string) => {
  const room = new URL('../../.build/threads/index.js', import.meta.url).href;
  const code = `import { BlockingPool } from '${room}';
    const part = { module: 'data:text/javascript,export const f = (read) => read()', exportName: 'f' };
    ${text}`;
  return run(process.execPath, ['--input-type=module', '-e', code], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  });
};

test('idle threads do not keep a process alive, a job does', async () => {
  const finished = await within(
    10_000,
    'the process',
    script(`const pool = new BlockingPool({ min: 2 });
      const slow = new Promise((resolve) => setTimeout(() => resolve('late'), 300).unref());
      console.log(await pool.run({ ...part, start: () => slow }));`),
  );
  expect(finished).toEqual({ code: 0, stdout: 'late\n', stderr: '' });
});

test('a blocked thread takes under 15 MB', async () => {
  const finished = await script(`
    const pool = new BlockingPool({ min: 10, max: 60, intervalMs: 10 });
    let open;
    const io = new Promise((resolve) => { open = resolve; });
    const hold = (n) => Array.from({ length: n }, () => pool.run({ ...part, start: () => io }));
    const blocked = async (n) => { while (pool.counts().blocked < n) await new Promise((r) => setTimeout(r, 20)); };
    const jobs = hold(10);
    await blocked(10);
    const before = process.memoryUsage.rss();
    jobs.push(...hold(50));
    await blocked(60);
    console.log((process.memoryUsage.rss() - before) / 50);
    open('x');
    await Promise.all(jobs);`);
  expect(finished.stderr).toBe('');
  const bytes = Number(finished.stdout);
  expect(bytes).toBeGreaterThan(1e6);
  expect(bytes).toBeLessThan(15e6);
});
