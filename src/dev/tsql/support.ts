/**
 * What this server supports and what it refuses, as data: the refusals below are raised from here or beside
 * their syntax, and the tables of the documentation are made of this file.
 */

export interface SupportRow {
  readonly area: string;
  readonly construct: string;
  readonly note?: string;
}

/** Statements refused by their first words. */
export const refusedStatements: Readonly<Record<string, string>> = {
  MERGE: 'MERGE',
  'ALTER TABLE': 'ALTER TABLE',
  'ALTER DATABASE': 'ALTER DATABASE',
  'CREATE VIEW': 'CREATE VIEW',
  'CREATE OR ALTER VIEW': 'CREATE OR ALTER VIEW',
  'CREATE FUNCTION': 'CREATE FUNCTION',
  'CREATE OR ALTER FUNCTION': 'CREATE OR ALTER FUNCTION',
  'CREATE TRIGGER': 'CREATE TRIGGER',
  'CREATE OR ALTER TRIGGER': 'CREATE OR ALTER TRIGGER',
  'CREATE TYPE': 'CREATE TYPE',
  'CREATE SCHEMA': 'CREATE SCHEMA',
  'CREATE SEQUENCE': 'CREATE SEQUENCE',
  'CREATE DATABASE': 'CREATE DATABASE',
  'CREATE LOGIN': 'CREATE LOGIN',
  'CREATE USER': 'CREATE USER',
  'CREATE STATISTICS': 'CREATE STATISTICS',
  'CREATE SYNONYM': 'CREATE SYNONYM',
  CREATE: 'CREATE of anything but tables and procedures (an index too)',
  ALTER: 'ALTER of anything but procedures',
  DROP: 'DROP of anything but tables and procedures',
  'BULK INSERT': 'BULK INSERT',
  'INSERT BULK': 'Bulk load (INSERT BULK)',
  OPEN: 'A cursor',
  FETCH: 'A cursor',
  CLOSE: 'A cursor',
  DEALLOCATE: 'A cursor',
  GOTO: 'GOTO',
  'SAVE TRAN': 'SAVE TRANSACTION',
  'SAVE TRANSACTION': 'SAVE TRANSACTION',
  'BEGIN DISTRIBUTED': 'BEGIN DISTRIBUTED TRANSACTION',
  'BEGIN DIALOG': 'Service Broker',
  'EXECUTE AS': 'EXECUTE AS',
  'EXEC AS': 'EXECUTE AS',
  BACKUP: 'BACKUP',
  RESTORE: 'RESTORE',
  DBCC: 'DBCC',
  KILL: 'KILL',
  GRANT: 'GRANT',
  DENY: 'DENY',
  REVOKE: 'REVOKE',
  CHECKPOINT: 'CHECKPOINT',
  SHUTDOWN: 'SHUTDOWN',
  RECONFIGURE: 'RECONFIGURE',
  REVERT: 'REVERT',
};

export const refusedFunctions: ReadonlySet<string> = new Set(
  `OPENJSON OPENXML OPENROWSET OPENQUERY OPENDATASOURCE JSON_VALUE JSON_QUERY JSON_MODIFY ISJSON JSON_OBJECT JSON_ARRAY FORMAT PARSE
  TRY_PARSE CHECKSUM BINARY_CHECKSUM CHECKSUM_AGG SOUNDEX DIFFERENCE COMPRESS DECOMPRESS HASHBYTES GROUPING
  GROUPING_ID LAG LEAD FIRST_VALUE LAST_VALUE PERCENT_RANK CUME_DIST PERCENTILE_CONT PERCENTILE_DISC STDEV STDEVP VAR VARP
  APPROX_COUNT_DISTINCT CONTAINS FREETEXT PATINDEX NEWSEQUENTIALID CURSOR_STATUS TEXTPTR DATE_BUCKET DATETRUNC RAND`.split(
    /\s+/,
  ),
);

/** Other refusals, raised where their syntax is read or their meaning would be needed. */
const refusedElsewhere: readonly SupportRow[] = [
  { area: 'Query', construct: 'CROSS APPLY, OUTER APPLY, PIVOT, UNPIVOT, TABLESAMPLE' },
  { area: 'Query', construct: 'TOP ... PERCENT, TOP ... WITH TIES' },
  { area: 'Query', construct: 'FOR JSON, FOR XML, FOR BROWSE' },
  { area: 'Query', construct: 'GROUP BY ROLLUP, CUBE, GROUPING SETS' },
  { area: 'Query', construct: 'Window functions other than ROW_NUMBER, RANK, DENSE_RANK; window frames' },
  { area: 'Query', construct: 'Table functions other than GENERATE_SERIES; table variables; OUTPUT clauses' },
  { area: 'Query', construct: 'Comparisons with ALL, ANY, SOME; IS [NOT] DISTINCT FROM; AT TIME ZONE' },
  { area: 'Query', construct: 'SELECT @v with a compound operator; INSERT ... EXEC' },
  {
    area: 'Tables',
    construct:
      'Computed columns, CHECK, FOREIGN KEY, SPARSE, rowversion and sql_variant columns, partitions, temporal and memory-optimized tables',
  },
  {
    area: 'Types',
    construct:
      'hierarchyid, geometry, geography, json, vector; table-valued parameters; CAST to xml; comparing sql_variant',
  },
  {
    area: 'Arithmetic',
    construct: 'money multiplied or averaged with more than four decimals in the result',
  },
  {
    area: 'Settings',
    construct:
      'Values of SET options that would change results, such as ANSI_NULLS OFF or IMPLICIT_TRANSACTIONS ON',
  },
  {
    area: 'Procedures',
    construct: 'WITH ENCRYPTION, EXECUTE AS; default values that are expressions; cursors',
  },
];

export const supported: readonly SupportRow[] = [
  {
    area: 'Query',
    construct: 'SELECT, DISTINCT, TOP (n), FROM, WHERE, GROUP BY, HAVING, ORDER BY, OFFSET ... FETCH',
  },
  {
    area: 'Query',
    construct:
      'INNER, LEFT, RIGHT, FULL and CROSS JOIN; subqueries in FROM, scalar, IN, EXISTS; VALUES in FROM',
  },
  {
    area: 'Query',
    construct: 'UNION [ALL], EXCEPT, INTERSECT; common table expressions, recursive ones with MAXRECURSION',
  },
  {
    area: 'Query',
    construct:
      'GENERATE_SERIES; ROW_NUMBER, RANK, DENSE_RANK; COUNT, COUNT_BIG, SUM, AVG, MIN, MAX, STRING_AGG',
  },
  {
    area: 'Changes',
    construct:
      'INSERT (VALUES, SELECT, DEFAULT VALUES), UPDATE, DELETE (both with FROM and TOP), TRUNCATE TABLE, SELECT ... INTO',
  },
  {
    area: 'Tables',
    construct:
      'CREATE TABLE with IDENTITY, DEFAULT, NULL, PRIMARY KEY, UNIQUE; #temp tables; DROP TABLE [IF EXISTS]',
  },
  {
    area: 'Procedures',
    construct:
      'CREATE [OR ALTER], ALTER, DROP PROCEDURE; parameters with constants as defaults, OUTPUT, return values; EXEC, EXEC (text), sp_executesql',
  },
  {
    area: 'Control',
    construct:
      'DECLARE, SET, IF, WHILE, BREAK, CONTINUE, RETURN, WAITFOR, TRY ... CATCH, THROW, RAISERROR, PRINT, USE',
  },
  {
    area: 'Transactions',
    construct: 'BEGIN, COMMIT, ROLLBACK TRANSACTION; XACT_ABORT, LOCK_TIMEOUT',
    note: 'Locking is per server: a transaction that changed data holds off all other sessions.',
  },
  {
    area: 'Hints',
    construct: 'Table hints, OPTION, isolation levels, CLUSTERED and NONCLUSTERED',
    note: 'Read, without effect.',
  },
];

/** Rows of a Markdown table of what works; `functions` are the names that the binder knows. */
export function supportedMarkdown(functions: readonly string[], views: readonly string[]): string[] {
  const rows: readonly SupportRow[] = [
    ...supported,
    { area: 'Functions', construct: functions.join(', ') },
    { area: 'Catalog', construct: views.join(', ') },
  ];
  return table(rows);
}

export function refusedMarkdown(): string[] {
  return table([
    { area: 'Statements', construct: [...new Set(Object.values(refusedStatements))].join(', ') },
    { area: 'Functions', construct: [...refusedFunctions].join(', ') },
    ...refusedElsewhere,
  ]);
}

function table(rows: readonly SupportRow[]): string[] {
  const line = ({ area, construct, note }: SupportRow): string =>
    `| ${area} | ${construct}${note ? ` (${note})` : ''} |`;
  return ['| Area | Constructs |', '|---|---|', ...rows.map(line)];
}
