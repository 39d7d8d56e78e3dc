import { parseCount, parseOptions, parsePort } from './command.js';

export const startHelp = `Usage: npm start -- [options]

Starts the app's functions, and the embedded SQL server when the app's connection string means it.

  --port N       the port of the functions; 0 picks a free one (default 7071)
  --address A    the address to listen on (default 127.0.0.1)
  --sql-port N   the port of the embedded SQL server; 0 picks a free one (default 14330)
  --app DIR      the directory of a v4 function app: its package.json, host.json, local.settings.json (default .)
  --no-sql       start no SQL server, whatever the connection string says
  --threads-min N       blocking threads for sql input bindings from the start (default 8)
  --threads-max N       and at most (default 128)
  --threads-interval T  ms after which one more starts while work waits (default 1000)
  --no-logger-cache     make a logger for each invocation instead of one for each function

  --verbose      also show the debug lines of host and worker
  --help         this text`;

export interface StartOptions {
  readonly port: number;
  readonly address: string;
  /** Undefined: the port that the connection string names. */
  readonly sqlPort: number | undefined;
  readonly app: string;
  readonly sql: boolean;
  readonly verbose: boolean;
  readonly loggerCache: boolean;
  /** The pool on which the host's sql input bindings block. */
  readonly threads: { readonly min: number; readonly max: number; readonly intervalMs: number };
}

/**
 * @returns undefined when the help is asked for.
 * @throws UsageError
 */
export function parseStartOptions(args: readonly string[]): StartOptions | undefined {
  const values = parseOptions(
    args,
    {
      port: { type: 'string', default: '7071' },
      address: { type: 'string', default: '127.0.0.1' },
      'sql-port': { type: 'string' },
      app: { type: 'string', default: '.' },
      'no-sql': { type: 'boolean', default: false },
      'threads-min': { type: 'string', default: '8' },
      'threads-max': { type: 'string', default: '128' },
      'threads-interval': { type: 'string', default: '1000' },
      'no-logger-cache': { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
    startHelp,
  );
  if (values.help) return undefined;
  const sqlPort = values['sql-port'];
  return {
    port: parsePort('--port', values.port, startHelp),
    address: values.address,
    sqlPort: sqlPort === undefined ? undefined : parsePort('--sql-port', sqlPort, startHelp),
    app: values.app,
    sql: !values['no-sql'],
    verbose: values.verbose,
    loggerCache: !values['no-logger-cache'],
    threads: {
      min: parseCount('--threads-min', values['threads-min'], startHelp),
      max: parseCount('--threads-max', values['threads-max'], startHelp),
      intervalMs: parseCount('--threads-interval', values['threads-interval'], startHelp),
    },
  };
}
