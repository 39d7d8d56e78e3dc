import type { Database, Table } from './catalog.js';
import { codecOf } from './codec.js';
import type { SqlType, SqlValue } from './contract.js';
import type { Session } from './session.js';
import {
  bit,
  datetime,
  int,
  isMoney,
  isString,
  isUnicode,
  nvarchar,
  serverCollation,
  varchar,
} from './types.js';

interface View {
  readonly columns: readonly (readonly [name: string, type: SqlType])[];
  rows(session: Session): Iterable<readonly SqlValue[]>;
}

const name = nvarchar(128);
const smallint: SqlType = { name: 'smallint' };
const char2: SqlType = { name: 'char', length: 2 };
const object = [
  ['name', name],
  ['object_id', int],
  ['schema_id', int],
  ['type', char2],
  ['type_desc', nvarchar(60)],
  ['create_date', datetime],
  ['modify_date', datetime],
] as const;

/** system_type_id, max_length, precision and scale as sys.columns has them (sys.types). */
const typeIds: Readonly<
  Record<string, readonly [id: number, bytes: number, precision: number, scale: number]>
> = {
  image: [34, 16, 0, 0],
  text: [35, 16, 0, 0],
  uniqueidentifier: [36, 16, 0, 0],
  date: [40, 3, 10, 0],
  time: [41, 5, 16, 7],
  datetime2: [42, 8, 27, 7],
  datetimeoffset: [43, 10, 34, 7],
  tinyint: [48, 1, 3, 0],
  smallint: [52, 2, 5, 0],
  int: [56, 4, 10, 0],
  smalldatetime: [58, 4, 16, 0],
  real: [59, 4, 24, 0],
  money: [60, 8, 19, 4],
  datetime: [61, 8, 23, 3],
  float: [62, 8, 53, 0],
  sql_variant: [98, 8016, 0, 0],
  ntext: [99, 16, 0, 0],
  bit: [104, 1, 1, 0],
  decimal: [106, 17, 38, 38],
  smallmoney: [122, 4, 10, 4],
  bigint: [127, 8, 19, 0],
  varbinary: [165, 8000, 0, 0],
  varchar: [167, 8000, 0, 0],
  binary: [173, 8000, 0, 0],
  char: [175, 8000, 0, 0],
  timestamp: [189, 8, 0, 0],
  nvarchar: [231, 8000, 0, 0],
  nchar: [239, 8000, 0, 0],
  xml: [241, -1, 0, 0],
};

function columnFacts(type: SqlType): { id: number; bytes: number; precision: number; scale: number } {
  const [id, bytes, precision, scale] = typeIds[type.name]!;
  if (type.length !== undefined)
    return {
      id,
      bytes: type.length === 'max' ? -1 : type.length * (isUnicode(type) ? 2 : 1),
      precision: 0,
      scale: 0,
    };
  if (type.name === 'decimal') {
    const p = type.precision!;
    return { id, bytes: p < 10 ? 5 : p < 20 ? 9 : p < 29 ? 13 : 17, precision: p, scale: type.scale! };
  }
  if (type.scale === undefined || isMoney(type)) return { id, bytes, precision, scale };
  // Fewer digits take fewer bytes, and a place less each; without a fraction, none for the point either.
  const s = type.scale;
  return {
    id,
    bytes: bytes - (s < 3 ? 2 : s < 5 ? 1 : 0),
    precision: precision - 7 + s - (s === 0 ? 1 : 0),
    scale: s,
  };
}

const allTables = (session: Session, database: Database = session.currentDatabase): Table[] => [
  ...database.tables.values(),
];

const tableRow = (table: Table): SqlValue[] => [
  table.name,
  table.id,
  1,
  'U ',
  'USER_TABLE',
  table.created,
  table.created,
];
const procedureRows = (session: Session): SqlValue[][] =>
  [...session.currentDatabase.procedures.values()].map((p) => [
    p.name,
    p.id,
    1,
    'P ',
    'SQL_STORED_PROCEDURE',
    p.created,
    p.modified,
  ]);

const columnRow =
  (table: Table) =>
  (column: Table['columns'][number], i: number): SqlValue[] => {
    const { id, bytes, precision, scale } = columnFacts(column.type);
    return [
      table.id,
      column.name,
      i + 1,
      id,
      id,
      bytes,
      precision,
      scale,
      isString(column.type) ? (column.type.collation ?? serverCollation) : null,
      column.nullable,
      column.identity,
    ];
  };

const views: Readonly<Record<string, View>> = {
  'sys.tables': { columns: object, rows: (session) => allTables(session).map(tableRow) },
  'sys.procedures': { columns: object, rows: procedureRows },
  'sys.objects': {
    columns: object,
    rows: (session) => [...allTables(session).map(tableRow), ...procedureRows(session)],
  },
  'sys.columns': {
    columns: [
      ['object_id', int],
      ['name', name],
      ['column_id', int],
      ['system_type_id', { name: 'tinyint' }],
      ['user_type_id', int],
      ['max_length', smallint],
      ['precision', { name: 'tinyint' }],
      ['scale', { name: 'tinyint' }],
      ['collation_name', name],
      ['is_nullable', bit],
      ['is_identity', bit],
    ],
    rows: (session) => allTables(session).flatMap((table) => table.columns.map(columnRow(table))),
  },
  'sys.types': {
    columns: [
      ['name', name],
      ['system_type_id', { name: 'tinyint' }],
      ['user_type_id', int],
      ['max_length', smallint],
      ['precision', { name: 'tinyint' }],
      ['scale', { name: 'tinyint' }],
    ],
    rows: () =>
      Object.entries(typeIds).map(([type, [id, bytes, precision, scale]]) => [
        type,
        id,
        id,
        bytes,
        precision,
        scale,
      ]),
  },
  'sys.schemas': {
    columns: [
      ['name', name],
      ['schema_id', int],
      ['principal_id', int],
    ],
    rows: () => [
      ['dbo', 1, 1],
      ['INFORMATION_SCHEMA', 3, 3],
      ['sys', 4, 4],
    ],
  },
  'sys.databases': {
    columns: [
      ['name', name],
      ['database_id', int],
      ['create_date', datetime],
      ['compatibility_level', { name: 'tinyint' }],
      ['collation_name', name],
      ['state', { name: 'tinyint' }],
      ['state_desc', nvarchar(60)],
      ['is_read_only', bit],
    ],
    rows: (session) =>
      session.catalog.databases.map((d) => [
        d.name,
        d.id,
        d.created,
        160,
        serverCollation,
        0,
        'ONLINE',
        false,
      ]),
  },
  'sys.dm_exec_sessions': {
    columns: [
      ['session_id', smallint],
      ['login_time', datetime],
      ['host_name', name],
      ['program_name', name],
      ['client_interface_name', nvarchar(32)],
      ['login_name', name],
      ['status', nvarchar(30)],
      ['database_id', smallint],
      ['is_user_process', bit],
      ['open_transaction_count', int],
      ['row_count', { name: 'bigint' }],
      ['lock_timeout', int],
      ['last_request_start_time', datetime],
    ],
    rows: (session) =>
      session
        .peers()
        .map((s) => [
          s.id,
          s.loginTime,
          s.login.hostName,
          s.login.applicationName,
          s.login.libraryName.slice(0, 32),
          s.login.user,
          s.request ? 'running' : 'sleeping',
          s.currentDatabase.id,
          true,
          s.transactionCount,
          BigInt(s.rowCount),
          s.options.lockTimeout,
          s.lastRequestTime,
        ]),
  },
  'sys.dm_exec_requests': {
    columns: [
      ['session_id', smallint],
      ['request_id', int],
      ['start_time', datetime],
      ['status', nvarchar(30)],
      ['command', nvarchar(32)],
      ['database_id', smallint],
      ['wait_type', nvarchar(60)],
      ['wait_time', int],
      ['total_elapsed_time', int],
      ['open_transaction_count', int],
      ['blocking_session_id', smallint],
      ['text', nvarchar('max')],
    ],
    rows: (session) =>
      session.peers().flatMap((s) => {
        const r = s.request;
        if (!r) return [];
        const now = Date.now();
        const status = s === session ? 'running' : r.waitType ? 'suspended' : 'runnable';
        return [
          [
            s.id,
            0,
            r.startTime,
            status,
            r.command,
            s.currentDatabase.id,
            r.waitType ?? null,
            r.waitType ? now - r.waitSince : 0,
            now - r.startedMs,
            s.transactionCount,
            r.blockedBy ?? 0,
            r.text,
          ],
        ];
      }),
  },
  'sys.dm_exec_connections': {
    columns: [
      ['session_id', int],
      ['connect_time', datetime],
      ['net_transport', nvarchar(40)],
      ['client_net_address', varchar(48)],
    ],
    rows: (session) => session.peers().map((s) => [s.id, s.loginTime, 'TCP', s.login.clientAddress]),
  },
  'information_schema.tables': {
    columns: [
      ['TABLE_CATALOG', name],
      ['TABLE_SCHEMA', name],
      ['TABLE_NAME', name],
      ['TABLE_TYPE', varchar(10)],
    ],
    rows: (session) => allTables(session).map((table) => [session.database, 'dbo', table.name, 'BASE TABLE']),
  },
};

export const viewNames = (): string[] => Object.keys(views);

export const findView = (schema: string, view: string): View | undefined => {
  const key = `${schema}.${view.toLowerCase()}`;
  return Object.hasOwn(views, key) ? views[key] : undefined;
};

/** The rows as JSON for SQLite's json_each, in stored form; 64-bit integers keep all their digits. */
export function viewJson(view: View, session: Session): string {
  const codecs = view.columns.map(([, type]) => codecOf(type));
  const cell = (value: SqlValue, i: number): string => {
    if (value === null) return 'null';
    const raw = codecs[i]!.encode(value);
    return typeof raw === 'string' ? JSON.stringify(raw) : String(raw);
  };
  const rows: string[] = [];
  for (const row of view.rows(session)) rows.push(`[${row.map(cell).join(',')}]`);
  return `[${rows.join(',')}]`;
}
