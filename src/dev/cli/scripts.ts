import { resolve } from 'node:path';
import { runScripts } from '../scripts/run-scripts.js';
import { type Command, parseOptions, UsageError } from './command.js';

const help = `Usage: npm run scripts -- [options]

Runs the T-SQL scripts of a folder, in name order, on any server. Batches are separated by GO.

  --folder DIR      the folder with the scripts *.sql (default sql)
  --setting NAME    the environment variable that holds the connection string (default SqlConnectionString)
  --help            this text`;

export const scripts: Command = {
  summary: 'runs the T-SQL scripts of sql/ on the server of a connection string',

  async run(args) {
    const values = parseOptions(
      args,
      {
        folder: { type: 'string', default: 'sql' },
        setting: { type: 'string', default: 'SqlConnectionString' },
        help: { type: 'boolean', short: 'h', default: false },
      },
      help,
    );
    if (values.help) {
      console.log(help);
      return 0;
    }
    const connectionString = process.env[values.setting];
    if (!connectionString) {
      throw new UsageError(
        `The environment variable ${values.setting} is not set: it names the server.`,
        help,
      );
    }
    const folder = resolve(values.folder);
    const names = await runScripts({ folder, connectionString, onScript: (name) => console.log(name) });
    if (names.length === 0) throw new UsageError(`There is no *.sql in ${folder}.`, help);
    return 0;
  },
};
