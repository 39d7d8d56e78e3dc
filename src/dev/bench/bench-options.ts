import { oneOrMoreOf, parseOptions, wholeNumber, wholeNumbers } from './arguments.js';
import { type Path, paths, type Setting } from './throughput.js';

export const parts = ['streams', 'requests'] as const;

export const benchHelp = `Usage: npm run bench -- [options]

Measures side by side how rows get from SQL Server to an HTTP client, and what a request costs. With the defaults
it takes about 25 minutes.

  --rows N          rows of each stream (default 1000000)
  --runs N          runs of each path; the tables show medians (default 3)
  --parts LIST      streams, requests (default streams,requests)
  --paths LIST      of the streams: ${paths.join(', ')}
                    (default all)
  --mixes LIST      columns: strings, numbers (default strings,numbers)
  --transports LIST plain, tls (default plain,tls)
  --users LIST      simulated users of the requests; each number is measured by itself (default 1000,2000)
  --seconds N       how long each run of the requests is measured (default 10)
  --close           the users open a connection for each request, instead of keeping theirs
  --write           write the tables into README.md, between the lines of <!-- begin bench --> and <!-- end bench -->
  --help            this text`;

export interface BenchOptions {
  readonly rows: number;
  readonly runs: number;
  readonly parts: readonly (typeof parts)[number][];
  readonly paths: readonly Path[];
  readonly settings: readonly Setting[];
  readonly users: readonly number[];
  readonly seconds: number;
  readonly keepAlive: boolean;
  readonly write: boolean;
}

/**
 * @returns undefined when the help is asked for.
 * @throws BenchUsageError
 */
export function parseBenchOptions(args: readonly string[]): BenchOptions | undefined {
  const values = parseOptions(
    args,
    {
      rows: { type: 'string', default: '1000000' },
      runs: { type: 'string', default: '3' },
      parts: { type: 'string', default: parts.join() },
      paths: { type: 'string', default: paths.join() },
      mixes: { type: 'string', default: 'strings,numbers' },
      transports: { type: 'string', default: 'plain,tls' },
      users: { type: 'string', default: '1000,2000' },
      seconds: { type: 'string', default: '10' },
      close: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
    benchHelp,
  );
  if (values.help) return undefined;
  const mixes = oneOrMoreOf('--mixes', values.mixes, ['strings', 'numbers'] as const);
  const transports = oneOrMoreOf('--transports', values.transports, ['plain', 'tls'] as const);
  return {
    rows: wholeNumber('--rows', values.rows, 1, 100_000_000),
    runs: wholeNumber('--runs', values.runs, 1, 100),
    parts: oneOrMoreOf('--parts', values.parts, parts),
    paths: oneOrMoreOf('--paths', values.paths, paths),
    settings: transports.flatMap((transport) => mixes.map((mix) => ({ mix, tls: transport === 'tls' }))),
    users: wholeNumbers('--users', values.users, 1, 10_000),
    seconds: wholeNumber('--seconds', values.seconds, 1, 3_600),
    keepAlive: !values.close,
    write: values.write,
  };
}
