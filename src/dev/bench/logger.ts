import { setMaxListeners } from 'node:events';
import { parseArgs } from 'node:util';
import { writeLoggerApp } from './logger-app.js';
import { load } from './logger-load.js';
import { reportLines } from './logger-report.js';
import { startLoggerRuntime } from './logger-runtime.js';
import { type RunFigures, runFigures } from './logger-statistics.js';

const help = `Usage: npm run bench:logger -- [options]

Loads a trivial function of the local runtime with the logger cache and without it, in turn, each run on a runtime started for it;
prints requests per second and latencies as medians over the runs with their spread, and whether the settings differ.

  --runs N         runs of each setting (default 5)
  --time N         seconds of one run, after a second that is not counted (default 5)
  --connections N  connections that are kept alive, each with one request at a time (default 16)
  --help           this text`;

const warmUpMs = 1_000;

/** What was typed can't be understood. Exit code 2. */
class UsageError extends Error {
  readonly code = 'EUSAGE';
}

/**
 * @returns 0, also when the settings do not differ; 130 after Ctrl-C
 * @throws Error with the code EUSAGE for wrong options; Error when the runtime does not start or a request fails
 */
export async function main(args: readonly string[]): Promise<number> {
  const options = parse(args);
  if (options === undefined) {
    console.log(help);
    return 0;
  }
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const interrupt = () => controller.abort(new Error('Interrupted.'));
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    const { cached, uncached } = await measureAll(options, controller.signal);
    console.log(['', ...reportLines(cached, uncached)].join('\n'));
    return 0;
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    console.log('Interrupted: no comparison.');
    return 130;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

interface Options {
  readonly runs: number;
  readonly timeMs: number;
  readonly connections: number;
}

async function measureAll({ runs, timeMs, connections }: Options, signal: AbortSignal) {
  const figures = { cached: [] as RunFigures[], uncached: [] as RunFigures[] };
  const app = await writeLoggerApp();
  try {
    console.log(`${2 * runs} runs of ${timeMs / 1_000} s, ${connections} connections`);
    for (let round = 1; round <= runs; round++) {
      // Whatever changes on the machine meanwhile meets both, and neither is always the first.
      for (const cache of round % 2 === 1 ? [true, false] : [false, true]) {
        const one = await measure(app.folder, cache, { durationMs: timeMs, connections, signal });
        figures[cache ? 'cached' : 'uncached'].push(one);
        const name = cache ? 'with the cache' : 'without';
        console.log(
          `  round ${round} of ${runs}, ${name}: ${one.requestsPerSecond.toFixed(0)} requests/s, mean ${one.mean.toFixed(2)} ms`,
        );
      }
    }
  } finally {
    await app.remove();
  }
  return figures;
}

async function measure(
  appDir: string,
  cache: boolean,
  options: { readonly durationMs: number; readonly connections: number; readonly signal: AbortSignal },
): Promise<RunFigures> {
  const runtime = await startLoggerRuntime(appDir, cache, options.signal);
  try {
    const url = `${runtime.url}/api/Trivial`;
    await load({ ...options, url, durationMs: Math.min(warmUpMs, options.durationMs) });
    const { latenciesMs, elapsedMs } = await load({ ...options, url });
    return runFigures(latenciesMs, elapsedMs);
  } finally {
    await runtime.stop();
  }
}

function parse(args: readonly string[]): Options | undefined {
  const values = parseValues(args);
  if (values.help) return undefined;
  const count = (option: 'runs' | 'time' | 'connections', most: number) => {
    const text = values[option];
    if (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= most) return Number(text);
    throw new UsageError(`--${option} takes a whole number from 1 to ${most}, not '${text}'.\n\n${help}`);
  };
  return {
    runs: count('runs', 1_000),
    timeMs: count('time', 3_600) * 1_000,
    connections: count('connections', 1_000),
  };
}

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        runs: { type: 'string', default: '5' },
        time: { type: 'string', default: '5' },
        connections: { type: 'string', default: '16' },
        help: { type: 'boolean', short: 'h', default: false },
      },
      strict: true,
      allowPositionals: false,
    }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message.split('. ')[0] : error}\n\n${help}`);
  }
}
