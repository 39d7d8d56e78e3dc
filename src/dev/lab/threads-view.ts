import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { baseUrl, exitCode, parseOptions, UsageError } from './arguments.js';
import { deadline } from './deadline.js';
import { interruption } from './interrupt.js';
import { checkReport, type ThreadsReport } from './threads-report.js';
import { threadsText } from './threads-text.js';

const help = `Usage: npm run threads -- [options]

Shows the threads of a local runtime that block: what each waits for, since when, for which request, and the stack at
which it stands; then the requests that wait for a thread.

  --url U      the runtime (default http://127.0.0.1:7071)
  --watch      shows it anew each second until Ctrl-C
  --json FILE  also keeps what was read, for --from
  --from FILE  shows a kept file instead of asking a runtime
  --help       this text`;

/** @returns 0; 1 when the runtime or the file can't be read; 2 for wrong options */
export function main(args: readonly string[]): Promise<number> {
  return exitCode(() => run(args));
}

async function run(args: readonly string[]): Promise<number> {
  const values = parseOptions(
    args,
    {
      url: { type: 'string', default: 'http://127.0.0.1:7071' },
      watch: { type: 'boolean', default: false },
      json: { type: 'string' },
      from: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
    help,
  );
  if (values.help) {
    console.log(help);
    return 0;
  }
  if (values.from !== undefined) {
    if (values.watch || values.json !== undefined) {
      throw new UsageError('--from shows a file as it is: --watch and --json make no sense with it.');
    }
    process.stdout.write(threadsText(await fromFile(values.from)));
    return 0;
  }
  const url = `${baseUrl('--url', values.url)}/admin/threads`;
  if (!values.watch) {
    process.stdout.write(threadsText(await fetchReport(url, values.json)));
    return 0;
  }
  return watch(url, values.json);
}

async function watch(url: string, file: string | undefined): Promise<number> {
  const { signal, release } = interruption();
  const terminal = process.stdout.isTTY === true;
  try {
    while (!signal.aborted) {
      const report = await fetchReport(url, file, signal);
      process.stdout.write(`${terminal ? '\x1b[2J\x1b[H' : ''}${threadsText(report)}${terminal ? '' : '\n'}`);
      await sleep(1_000, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    release();
  }
  return 0;
}

async function fetchReport(
  url: string,
  file: string | undefined,
  other?: AbortSignal,
): Promise<ThreadsReport> {
  const { signal, release } = deadline(10_000, other);
  try {
    const response = await fetch(url, { signal });
    if (!response.ok)
      throw new Error(`${url} answered ${response.status}: it is no runtime that shows its threads.`);
    const text = await response.text();
    const report = checkReport(parseJson(text, url), url);
    if (file !== undefined) await writeFile(file, text);
    return report;
  } catch (error) {
    throw signal.aborted || error instanceof TypeError ? unreachable(url, error) : error;
  } finally {
    release();
  }
}

/** What `fetch` throws is a TypeError that says nothing; its cause does. */
function unreachable(url: string, error: unknown): Error {
  const { cause = error } = error as Error;
  const why = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message ?? cause;
  return new Error(
    `${url} can't be read (${why}). Start the runtime with npm start, or name it with --url.`,
    { cause },
  );
}

async function fromFile(file: string): Promise<ThreadsReport> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${file} can't be read (${error.code}).`);
  });
  return checkReport(parseJson(text, file), file);
}

function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${source} holds no JSON.`);
  }
}
