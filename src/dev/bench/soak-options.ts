import { decimalNumber, parseOptions, wholeNumber } from './arguments.js';
import { soakRowCount } from './soak-rows.js';

export const soakHelp = `Usage: npm run soak -- [options]

Lets simulated users read rows for a long time, while some leave, some read slowly, and the SQL server has faults; then checks
that nothing was wrong, hangs, or is left over. The exit code is 1 if anything is.

  --minutes N   how long; may have a fraction (default 10)
  --users N     simulated users (default 200)
  --rows N      rows of a request at most (default ${soakRowCount})
  --faults N    percent of the requests that meet a fault at the server (default 2)
  --help        this text`;

export interface SoakOptions {
  readonly minutes: number;
  readonly users: number;
  readonly rows: number;
  readonly faultShare: number;
}

/**
 * @returns undefined when the help is asked for.
 * @throws BenchUsageError
 */
export function parseSoakOptions(args: readonly string[]): SoakOptions | undefined {
  const values = parseOptions(
    args,
    {
      minutes: { type: 'string', default: '10' },
      users: { type: 'string', default: '200' },
      rows: { type: 'string', default: String(soakRowCount) },
      faults: { type: 'string', default: '2' },
      help: { type: 'boolean', short: 'h', default: false },
    },
    soakHelp,
  );
  if (values.help) return undefined;
  return {
    minutes: decimalNumber('--minutes', values.minutes, 0.01, 10_000),
    users: wholeNumber('--users', values.users, 1, 5_000),
    rows: wholeNumber('--rows', values.rows, 1, soakRowCount),
    faultShare: decimalNumber('--faults', values.faults, 0, 100) / 100,
  };
}
