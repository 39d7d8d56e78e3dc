import { expect, test } from 'vitest';
import { within } from '../../helpers/run.js';
import { startCli } from '../../helpers/runtime.js';

test('the generated parts of the documents are what the code makes of them', async () => {
  const { code, stderr } = await within(20_000, 'docs --check', startCli(['docs', '--check']).finished);
  expect(stderr).toBe('');
  expect(code).toBe(0);
});
