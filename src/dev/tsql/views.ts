import type { SqlType, SqlValue } from '../sql-engine.js';
import type { Session } from './session.js';
import { bit, datetime, int, nvarchar, systemTypeId } from './types.js';

type Rows = (session: Session) => SqlValue[][];
const types: Readonly<Record<string, SqlType>> = {
  name: nvarchar(128),
  text: nvarchar('max'),
  int,
  small: { name: 'smallint' },
  bit,
  datetime,
};

const objects = (all: Iterable<{ name: string; id: number }>) =>
  [...all].map(({ name, id }) => [name, id, 1]);

/** The columns of each view, as `name:type`, and its rows. */
const views: Readonly<Record<string, readonly [columns: string, rows: Rows]>> = {
  tables: ['name:name object_id:int schema_id:int', ({ home }) => objects(home.tables.values())],
  procedures: ['name:name object_id:int schema_id:int', ({ home }) => objects(home.procedures.values())],
  columns: [
    'object_id:int name:name column_id:int system_type_id:int is_nullable:bit is_identity:bit',
    ({ home }) =>
      [...home.tables.values()].flatMap(({ id, columns }) =>
        columns.map(({ name, type, nullable, identity }, i) => [
          id,
          name,
          i + 1,
          systemTypeId(type),
          nullable,
          identity,
        ]),
      ),
  ],
  databases: [
    'name:name database_id:int',
    ({ shared }) => shared.databases.map(({ name }, i) => [name, i + 1]),
  ],
  dm_exec_sessions: [
    'session_id:small login_time:datetime host_name:name program_name:name login_name:name status:name',
    ({ shared }) =>
      [...shared.sessions.values()].map(({ id, loginTime, login, request }) => {
        const { hostName, applicationName, user } = login;
        return [id, loginTime, hostName, applicationName, user, request ? 'running' : 'sleeping'];
      }),
  ],
  dm_exec_requests: [
    'session_id:small start_time:datetime status:name command:name wait_type:name blocking_session_id:small text:text',
    (own) =>
      [...own.shared.sessions.values()].flatMap((session) => {
        if (!session.request) return [];
        const { startTime, command, waitType, text } = session.request;
        const status = session === own ? 'running' : waitType ? 'suspended' : 'runnable';
        const blocker = waitType?.startsWith('LCK') ? (own.shared.owner?.id ?? 0) : 0;
        return [[session.id, startTime, status, command, waitType, blocker, text]];
      }),
  ],
};

export const viewNames = (): string[] => Object.keys(views).map((name) => `sys.${name}`);

export function findView(name: string) {
  const [list, rows] = (Object.hasOwn(views, name.toLowerCase()) && views[name.toLowerCase()]) || [];
  const columns = list?.split(' ').map((column) => {
    const [own, type] = column.split(':') as [string, string];
    return { name: own, type: types[type]!, nullable: true };
  });
  return columns && rows && { columns, rows };
}
