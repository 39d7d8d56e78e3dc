import { afterEach, expect, test, vi } from 'vitest';
import { findPool, sharedPool, threadsSetting } from '../../src/threads/index.js';

afterEach(() => vi.unstubAllEnvs());

test('a shared pool is made by the first call and found by its name', async () => {
  expect(findPool('shared')).toBe(undefined);
  const pool = sharedPool('shared', { min: 1, max: 3 });
  expect(sharedPool('shared', { min: 2, max: 2 })).toBe(pool);
  expect(findPool('shared')).toBe(pool);
  expect(pool.snapshot()).toMatchObject({ name: 'shared', min: 1, max: 3 });
  await pool.close();
});

test('a number of threads comes from an app setting', () => {
  expect(threadsSetting('SOME_THREADS', 8)).toBe(8);
  vi.stubEnv('SOME_THREADS', '');
  expect(threadsSetting('SOME_THREADS', 8)).toBe(8);
  vi.stubEnv('SOME_THREADS', '12');
  expect(threadsSetting('SOME_THREADS', 8)).toBe(12);
});

test.each(['0', '-1', 'eight', '1.5', '99999'])('the setting %s is refused by name and value', (text) => {
  vi.stubEnv('SOME_THREADS', text);
  const error = { code: 'EOptions', message: expect.stringMatching(`SOME_THREADS .*'${text}'`) };
  expect(() => threadsSetting('SOME_THREADS', 8)).toThrow(expect.objectContaining(error));
});
