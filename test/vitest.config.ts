import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    // Two cores are what the smallest machine that runs this has; more workers only make the tests
    // with deadlines compete with each other.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // A machine that CI shares with others can stand still for longer than a deadline here; the report names what was
    // run twice. Where a person looks, a test that fails now and then fails.
    retry: process.env['CI'] ? 1 : 0,
  },
});
