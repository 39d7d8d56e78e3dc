import { SqlStreamError } from '../errors.js';

export interface DataSource {
  /** Host name or IP address, without brackets; `.` and `(local)` are localhost. */
  readonly server: string;
  /** 1433 unless given; undefined when an instance name is to be looked up at the SQL Server Browser (UDP 1434). */
  readonly port: number | undefined;
  readonly instanceName: string | undefined;
}

function refuse(text: string, reason: string): never {
  throw new SqlStreamError('EConnectionString', `Data Source '${text}' ${reason}`, {
    phase: 'setup',
    subject: 'Data Source',
  });
}

function parsePort(text: string, digits: string): number {
  const port = Number(digits);
  if (!/^\d+$/.test(digits) || port < 1 || port > 65_535)
    refuse(text, `has the port '${digits}': use 1 to 65535.`);
  return port;
}

/**
 * `[tcp:]host[\instance][,port]`; a port beats an instance, as in SqlClient. Other protocols and LocalDB are refused.
 *
 * @throws SqlStreamError `EConnectionString`
 */
export function parseDataSource(text: string): DataSource {
  let rest = text.trim();
  const protocol = /^([a-z]+):(?!:)/i.exec(rest);
  if (protocol !== null) {
    if (protocol[1]?.toLowerCase() !== 'tcp') {
      refuse(text, `asks for the protocol '${protocol[1]}': only tcp can be used.`);
    }
    rest = rest.slice(protocol[0].length).trim();
  }
  if (/^\(localdb\)/i.test(rest)) refuse(text, 'names a LocalDB instance: only TCP can be used.');
  if (rest.startsWith('\\\\')) refuse(text, 'names a pipe: only TCP can be used.');

  const match = /^(?:\[(?<v6>[^\]]+)\]|(?<host>[^\\,]*))(?<tail>.*)$/.exec(rest);
  const host = (match?.groups?.['v6'] ?? match?.groups?.['host'] ?? '').trim();
  const tail = match?.groups?.['tail'] ?? '';
  // Both orders occur in the wild: host\instance,port and host,port\instance.
  const parts =
    /^\s*(?:\\(?<before>[^,\\]*))?\s*(?:,\s*(?<port>[^\\]*?))?\s*(?:\\(?<after>[^,\\]*))?\s*$/.exec(tail);
  if (parts === null) refuse(text, String.raw`can't be read: write host\instance or host,port.`);
  const { before, port, after } = parts.groups as { before?: string; port?: string; after?: string };
  const instanceName = (before ?? after)?.trim();
  if (host === '') refuse(text, 'names no server.');
  if (instanceName === '') refuse(text, String.raw`has an empty instance name after \.`);
  const isDefaultInstance = instanceName === undefined || instanceName.toUpperCase() === 'MSSQLSERVER';
  return {
    server: host === '.' || host.toLowerCase() === '(local)' ? 'localhost' : host,
    port: port !== undefined ? parsePort(text, port) : isDefaultInstance ? 1433 : undefined,
    instanceName: port !== undefined || isDefaultInstance ? undefined : instanceName,
  };
}
