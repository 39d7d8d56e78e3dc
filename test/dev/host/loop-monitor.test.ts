import { expect, test } from 'vitest';
import { type Finished, run, within } from '../../helpers/run.js';

/** The main thread of a process is watched, and tests run in a thread of their own: so each test is a process. */
async function watched(text: string): Promise<Finished> {
  const monitor = new URL('../../../.build/dev/host/loop-monitor.js', import.meta.url).href;
  const code = `import { execFileSync } from 'node:child_process';
    import { startLoopMonitor } from '${monitor}';
    const monitor = startLoopMonitor();
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    function computeFor(ms) { for (const end = Date.now() + ms; Date.now() < end; ); }
    await sleep(500);
    ${text}
    await sleep(300);
    console.log(JSON.stringify(monitor.snapshot()));
    await monitor.stop();`;
  return within(15_000, 'the process', run(process.execPath, ['--input-type=module', '-e', code]));
}

test('what holds the event loop for over 200 ms is told with its duration and stack', async () => {
  const { code, stdout, stderr } = await watched('function handler() { computeFor(700); } handler();');
  expect([code, stderr]).toEqual([0, '']);
  const { longest, delayMs, utilization } = JSON.parse(stdout);
  expect(longest.ms).toBeGreaterThan(550);
  expect(longest.ms).toBeLessThan(3_000);
  expect(Math.abs(Date.now() - Date.parse(longest.at))).toBeLessThan(15_000);
  expect(longest.stack).toMatch(/^at computeFor \(file:\/\/.+:\d+:\d+\)\nat handler \(/);
  expect(delayMs.max).toBeGreaterThan(550);
  expect(utilization).toBeGreaterThan(0.2);
});

test('a call that blocks outside of JavaScript is found at its caller', async () => {
  const { stdout, stderr } = await watched(
    `function fakeAsync() { return execFileSync(process.execPath, ['-e', 'setTimeout(() => {}, 600)']); } fakeAsync();`,
  );
  expect(stderr).toBe('');
  const { longest } = JSON.parse(stdout);
  expect(longest.ms).toBeGreaterThan(400);
  expect(longest.stack).toMatch(/^at fakeAsync \(/m);
});

test('of several the longest is told', async () => {
  const { stdout } = await watched(
    `function short() { computeFor(350); } function long() { computeFor(900); }
     short(); await sleep(300); long(); await sleep(300); short();`,
  );
  expect(JSON.parse(stdout).longest.stack).toMatch(/^at computeFor .*\nat long /);
});

test('a loop that is never held has nothing to tell', async () => {
  const { stdout } = await watched('await sleep(500);');
  const { longest, utilization } = JSON.parse(stdout);
  expect(longest).toBe(null);
  expect(utilization).toBeLessThan(0.9);
});

test('the process ends by itself while it is watched', async () => {
  const monitor = new URL('../../../.build/dev/host/loop-monitor.js', import.meta.url).href;
  const code = `import { startLoopMonitor } from '${monitor}'; startLoopMonitor();`;
  const finished = run(process.execPath, ['--input-type=module', '-e', code]);
  expect(await within(10_000, 'the process', finished)).toMatchObject({ code: 0, stderr: '' });
});
