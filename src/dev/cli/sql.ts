import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { parseFaultRules } from '../faults/fault-rules.js';
import { Faults } from '../faults/faults.js';
import type { SqlEngine } from '../sql-engine.js';
import { startTdsServer, type TdsServer } from '../tds/server.js';
import { createDatabase } from '../tsql/database.js';
import { createCertificate } from './certificate.js';
import { type Command, parseOptions, parsePort } from './command.js';
import { EmbeddedServerError, tellParent } from './embedded.js';
import { faultProcedures } from './fault-procedures.js';
import { replayProcedure } from './replay-procedure.js';
import { obeyParent, stopSignal } from './signals.js';
import { defaultLogin, embeddedPort } from './sql-plan.js';

const help = `Usage: npm run sql -- [options]

Runs the embedded SQL server alone, on 127.0.0.1. It is a development stand-in, not SQL Server.

  --port N          the port to listen on; 0 picks a free one (default ${embeddedPort})
  --user NAME       the login that it accepts (default ${defaultLogin.user})
  --database NAME   a database that it has; may be repeated (default ${defaultLogin.database})
  --faults FILE     rules of what shall go wrong, as JSON; docs/embedded-sql-server.md describes them
  --replay          also serve the procedure dev.replay: rows encoded once, for benchmarks
  --verbose         also show what clients do wrong
  --help            this text

The password is ${defaultLogin.password}, unless the environment variable SQL_PASSWORD has another.`;

export const sql: Command = {
  summary: 'runs the embedded SQL server alone',

  async run(args) {
    const values = parseOptions(
      args,
      {
        port: { type: 'string', default: String(embeddedPort) },
        user: { type: 'string', default: defaultLogin.user },
        database: { type: 'string', multiple: true, default: [defaultLogin.database] },
        faults: { type: 'string' },
        replay: { type: 'boolean', default: false },
        verbose: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
      help,
    );
    if (values.help) {
      console.log(help);
      return 0;
    }
    const port = parsePort('--port', values.port, help);
    const file = values.faults;
    const faults = new Faults(file === undefined ? [] : parseFaultRules(await readFile(file, 'utf8'), file));
    const database = await createDatabase({
      user: values.user,
      password: process.env['SQL_PASSWORD'] ?? defaultLogin.password,
      databases: ['master', 'tempdb', ...values.database],
      procedures: { ...faultProcedures(faults), ...(values.replay && { 'dev.replay': replayProcedure }) },
    });
    return serve(faults.wrap(database), port, values.verbose);
  },
};

/** As a child of the start command it says in a message what alone it prints. */
async function serve(engine: SqlEngine, port: number, verbose: boolean): Promise<number> {
  const server = await listen(engine, port, verbose);
  const stop = async () => {
    await server.close();
    await engine.close();
  };
  if (process.send) {
    obeyParent(stop);
    tellParent({ kind: 'ready', port: server.port });
    return new Promise(() => {});
  }
  const stopping = stopSignal(() => console.log('Stopping.'));
  console.log(`Ready: SQL on 127.0.0.1:${server.port}`);
  if (!stopping.aborted) await once(stopping, 'abort');
  await stop();
  return 0;
}

async function listen(engine: SqlEngine, port: number, verbose: boolean): Promise<TdsServer> {
  const log = verbose ? { log: (line: string) => console.error(line) } : {};
  try {
    return await startTdsServer({ engine, port, tls: await createCertificate(), ...log });
  } catch (error) {
    await engine.close();
    throw new EmbeddedServerError('EPORT', portMessage(error as NodeJS.ErrnoException, port));
  }
}

function portMessage({ code, message }: NodeJS.ErrnoException, port: number): string {
  const option = process.send ? '--sql-port' : '--port';
  const remedy = `choose another port with ${option} (0 picks a free one)`;
  if (code === 'EADDRINUSE')
    return `Port ${port} for SQL is taken by another program. Stop that, or ${remedy}.`;
  if (code === 'EACCES') return `Port ${port} for SQL may not be used by this user: ${remedy}.`;
  return `Port ${port} for SQL can't be listened on (${message}): ${remedy}.`;
}
