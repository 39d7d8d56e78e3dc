/** The server of the client suites: that of TEST_SQL_CONNECTION_STRING, else an embedded one of their own. */
import { createCertificate } from '../../src/dev/cli/certificate.js';
import { startTdsServer } from '../../src/dev/tds/server.js';
import { createDatabase } from '../../src/dev/tsql/database.js';

export interface SqlServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly encrypt: boolean;
  readonly isEmbedded: boolean;
  close(): Promise<void>;
}

/** Only the keywords that the suites need; `Server=host,port;User Id=..;Password=..;Database=..;Encrypt=..`. */
function fromConnectionString(text: string): SqlServer {
  const pairs = new Map(
    text.split(';').map((pair) => {
      const [key = '', ...value] = pair.split('=');
      return [key.trim().toLowerCase(), value.join('=').trim()];
    }),
  );
  const [host = 'localhost', port = '1433'] = (pairs.get('server') ?? pairs.get('data source') ?? '').split(
    ',',
  );
  return {
    host: host.replace(/^tcp:/i, ''),
    port: Number(port),
    user: pairs.get('user id') ?? pairs.get('uid') ?? 'sa',
    password: pairs.get('password') ?? pairs.get('pwd') ?? '',
    database: pairs.get('database') ?? pairs.get('initial catalog') ?? 'master',
    encrypt: !/^(false|no|optional)$/i.test(pairs.get('encrypt') ?? 'true'),
    isEmbedded: false,
    close: async () => {},
  };
}

export async function openSqlServer(): Promise<SqlServer> {
  const given = process.env['TEST_SQL_CONNECTION_STRING'];
  if (given) return fromConnectionString(given);
  const login = { user: 'sa', password: 'Clients;1=ä' };
  const engine = await createDatabase({ ...login, databases: ['master', 'tempdb', 'Clients'] });
  const server = await startTdsServer({ engine, port: 0, tls: await createCertificate() });
  return {
    host: '127.0.0.1',
    port: server.port,
    ...login,
    database: 'Clients',
    encrypt: false,
    isEmbedded: true,
    async close() {
      await server.close();
      await engine.close();
    },
  };
}
