import { fileURLToPath } from 'node:url';
import { onTestFinished, vi } from 'vitest';
import { type Running, start } from '../../helpers/run.js';

const built = new URL('../../../.build/dev/bench/', import.meta.url);

/** A program of this room as a process of its own: what it starts are compiled files. */
export function startProgram(name: 'bench' | 'soak', args: readonly string[]): Running {
  const file = fileURLToPath(new URL(`${name}.js`, built));
  const code = `process.exitCode = await (await import(${JSON.stringify(file)})).main(process.argv.slice(1));`;
  const running = start(process.execPath, ['--input-type=module', '-e', code, '--', ...args]);
  onTestFinished(() => {
    running.process.kill('SIGKILL');
  });
  return running;
}

/** What the test's own process prints. */
export function captureOutput(): { out(): string; err(): string } {
  const [out, err] = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')];
  for (const spy of [out, err]) spy.mockImplementation(() => {});
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const text = (spy: typeof out) => spy.mock.calls.map((call) => call.join(' ')).join('\n');
  return { out: () => text(out), err: () => text(err) };
}
