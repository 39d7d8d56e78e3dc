import { baseUrl, durationMs, exitCode, parseOptions, UsageError, wholeNumber } from './arguments.js';
import { costLines } from './cost.js';
import { interruption } from './interrupt.js';
import { startRuntime } from './runtime-process.js';
import { Users, type UsersResult } from './users.js';

const help = `Usage: npm run requester -- [options]

Calls /api/Portal/Index, which blocks a thread for each call, and then /api/Portal/IndexAsync, which awaits, with the same
users for the same time; counts the answers, and works out the servers and the money.

  --users N        simulated users (default 176, 22 times 8)
  --time T         of each of the two runs: 45s, 2m (default 45s)
  --url U          a runtime or function app that runs (default: starts the local runtime on free ports)
  --server-cost N  the price of one server (default 12000)
  --currency C     (default BRL)
  --help           this text`;

/** @returns 0 when both actions answered; 1 when one did not, or something failed; 2 for wrong options; 130 after Ctrl-C */
export function main(args: readonly string[]): Promise<number> {
  return exitCode(() => run(args));
}

async function run(args: readonly string[]): Promise<number> {
  const values = parseOptions(
    args,
    {
      users: { type: 'string', default: '176' },
      time: { type: 'string', default: '45s' },
      url: { type: 'string' },
      'server-cost': { type: 'string', default: '12000' },
      currency: { type: 'string', default: 'BRL' },
      help: { type: 'boolean', short: 'h', default: false },
    },
    help,
  );
  if (values.help) {
    console.log(help);
    return 0;
  }
  const users = wholeNumber('--users', values.users, 1, 10_000);
  const runMs = durationMs('--time', values.time);
  const serverCost = Number(values['server-cost']);
  if (!(serverCost > 0)) throw new UsageError(`--server-cost takes a price, not '${values['server-cost']}'.`);
  const given = values.url === undefined ? undefined : baseUrl('--url', values.url);

  const interrupt = interruption();
  const { signal } = interrupt;
  let runtime: Awaited<ReturnType<typeof startRuntime>> | undefined;
  try {
    if (given === undefined) console.log('Starting the local runtime ...');
    runtime = given === undefined ? await startRuntime(signal) : undefined;
    const url = given ?? (runtime as { url: string }).url;
    console.log(`${users} users, ${runMs / 1_000} s for each action, on ${url}`);
    const sync = await measure('Portal/Index', { url, users, durationMs: runMs, signal });
    const async = signal.aborted
      ? undefined
      : await measure('Portal/IndexAsync', { url, users, durationMs: runMs, signal });
    if (async === undefined || signal.aborted) {
      console.log('Interrupted: no comparison.');
      return 130;
    }
    console.log(
      ['', ...costLines(sync.answered, async.answered, { serverCost, currency: values.currency })].join('\n'),
    );
    return sync.answered > 0 && async.answered > 0 ? 0 : 1;
  } catch (error) {
    if (signal.aborted) return 130;
    throw error;
  } finally {
    await runtime?.stop();
    interrupt.release();
  }
}

interface Run {
  readonly url: string;
  readonly users: number;
  readonly durationMs: number;
  readonly signal: AbortSignal;
}

/** One line that changes on a terminal; elsewhere, a line every five seconds. */
async function measure(action: string, options: Run): Promise<UsersResult> {
  const users = new Users({ ...options, url: `${options.url}/api/${action}` });
  const began = performance.now();
  const terminal = process.stdout.isTTY === true;
  let busy = false;
  const show = async () => {
    if (busy) return;
    busy = true;
    const threads = await threadsText(options.url);
    busy = false;
    const seconds = Math.round((performance.now() - began) / 1_000);
    const failed = users.failed === 0 ? '' : `, ${users.failed} failed`;
    const line = `${action}  ${seconds} s  ${users.answered} answered${failed}, ${users.inFlight} under way${threads}`;
    process.stdout.write(terminal ? `\r${line.padEnd(110)}` : `${line}\n`);
  };
  const timer = setInterval(show, terminal ? 1_000 : 5_000);
  const result = await users.run();
  clearInterval(timer);
  if (terminal) process.stdout.write(`\r${' '.repeat(110)}\r`);
  const failures = Object.entries(result.failures).map(([what, times]) => `${times} times ${what}`);
  console.log(
    `${action}: ${result.answered} answered in ${(result.elapsedMs / 1_000).toFixed(1)} s, ${result.unfinished} unfinished, ` +
      `${failures.length === 0 ? 'none failed' : `failed: ${failures.join(', ')}`}`,
  );
  return result;
}

/** Portal/Information; a server that has none, or is too busy for it, is no reason to stop. */
async function threadsText(url: string): Promise<string> {
  try {
    const response = await fetch(`${url}/api/Portal/Information`, { signal: AbortSignal.timeout(2_000) });
    const { total, blocked, queued } = (await response.json()) as Record<string, unknown>;
    return response.ok ? `; threads blocked ${blocked} of ${total}, ${queued} calls wait for one` : '';
  } catch {
    return '';
  }
}
