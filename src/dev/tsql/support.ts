/**
 * What this server supports and what it refuses, as data: the refusals of words are raised from here, the others beside
 * their syntax, and the tables of the documentation are made of this file.
 */

/** Words of T-SQL that are refused by name where they would otherwise be a syntax error, with what they stand for. */
export const refusedWords: ReadonlyMap<string, string> = new Map(
  `MERGE, ALTER, TRUNCATE, WITH, VIEW, FUNCTION, TRIGGER, TYPE, SCHEMA, SEQUENCE, DATABASE, LOGIN, INDEX, STATISTICS, SYNONYM,
  CLUSTERED, NONCLUSTERED, BULK, OPEN, FETCH, CLOSE, DEALLOCATE, CURSOR, GOTO, SAVE, DISTRIBUTED, DIALOG, ATOMIC, BACKUP,
  RESTORE, DBCC, KILL, GRANT, DENY, REVOKE, CHECKPOINT, SHUTDOWN, RECONFIGURE, REVERT, USE, DISTINCT, HAVING, UNION, EXCEPT,
  INTERSECT, OFFSET, FOR, INTO, PERCENT, RIGHT, FULL, OUTER, APPLY, PIVOT, UNPIVOT, TABLESAMPLE, CROSS:
  CROSS APPLY, OVER, LIKE, ALL, ANY, SOME,
  AT, &, |, ^, ~, UNIQUE, CHECK, FOREIGN, REFERENCES, OUTPUT, READONLY, TIME: WAITFOR TIME, DEFAULT: DEFAULT as a value, EXEC: INSERT ... EXEC, TABLE:
  A table variable, SELECT: A subquery, EXISTS: EXISTS elsewhere than right after IF, TOP: TOP in INSERT UPDATE and DELETE`
    .split(/,\s+/)
    .map((entry) => entry.split(/:\s+/) as [string, string?])
    .map(([word, meaning = word]) => [word, meaning]),
);

/** Functions refused by name; any other that is not supported is error 195. */
export const refusedFunctions: ReadonlySet<string> = new Set(
  `ABS APP_NAME AVG CEILING CHAR CHARINDEX CHECKSUM CHOOSE CONCAT CONCAT_WS COUNT_BIG DATALENGTH DATEADD DATEDIFF DATENAME
  DATEPART DAY DB_ID DENSE_RANK EOMONTH FLOOR FORMAT HASHBYTES HOST_NAME ISJSON ISNUMERIC JSON_QUERY JSON_VALUE LAG LEAD LEFT
  LTRIM MONTH NCHAR OBJECT_NAME PATINDEX POWER QUOTENAME RAND RANK REPLACE REPLICATE REVERSE RIGHT ROUND ROW_NUMBER RTRIM
  SCHEMA_NAME SERVERPROPERTY SIGN SPACE SQRT STR STRING_AGG STUFF SUSER_SNAME SWITCHOFFSET SYSDATETIME TRANSLATE TRIM
  TRY_CAST TRY_CONVERT TRY_PARSE UNICODE USER_NAME YEAR`.split(/\s+/),
);

/** Values of SET options that are as this server works; others would change results. */
export const fixedOptions: Readonly<Record<string, string>> = {
  ANSI_NULLS: 'ON',
  ANSI_NULL_DFLT_ON: 'ON',
  ANSI_PADDING: 'ON',
  ANSI_WARNINGS: 'ON',
  CONCAT_NULL_YIELDS_NULL: 'ON',
  DATEFIRST: '7',
  DATEFORMAT: 'MDY',
  FMTONLY: 'OFF',
  IMPLICIT_TRANSACTIONS: 'OFF',
  LANGUAGE: 'US_ENGLISH',
  NOEXEC: 'OFF',
  NUMERIC_ROUNDABORT: 'OFF',
  QUOTED_IDENTIFIER: 'ON',
  ROWCOUNT: '0',
};
/** Options without any effect here, whatever their value. ARITHABORT is implied by ANSI_WARNINGS. */
export const ignoredOptions: ReadonlySet<string> = new Set([
  'ARITHABORT',
  'CURSOR_CLOSE_ON_COMMIT',
  'DEADLOCK_PRIORITY',
  'TEXTSIZE',
]);

const supported = `
Query: SELECT, TOP (n), FROM, WHERE, GROUP BY columns, ORDER BY; INNER, LEFT and CROSS JOIN; GENERATE_SERIES
Query: Conditions of comparisons, AND, OR, NOT, IN (list), BETWEEN, IS NULL; EXISTS right after IF; CASE; COLLATE
Changes: INSERT (VALUES, SELECT), UPDATE, DELETE
Tables: CREATE TABLE with IDENTITY, DEFAULT, NULL, COLLATE, PRIMARY KEY; #temp tables; DROP TABLE [IF EXISTS]
Procedures: CREATE [OR ALTER] and DROP PROCEDURE; parameters with constants as defaults, OUTPUT, return values; EXEC; sp_executesql
Control: DECLARE, SET, IF, WHILE, BREAK, CONTINUE, RETURN, WAITFOR DELAY, TRY ... CATCH, THROW, RAISERROR, PRINT
Transactions: BEGIN, COMMIT, ROLLBACK TRANSACTION; XACT_ABORT, LOCK_TIMEOUT
Hints: Table hints in WITH (...), OPTION, isolation levels, CLUSTERED and NONCLUSTERED: read, without effect`;

const refused = `
Query: Subqueries, common table expressions; FROM in UPDATE and DELETE; grouping by expressions; names of other databases
Tables: Computed columns, rowversion and sql_variant columns; CREATE and DROP within a transaction; changing a primary key
Types: hierarchyid, geometry, geography, json, vector; CAST to xml; comparing sql_variant; styles of CONVERT
Values: Half of a surrogate pair, or a character outside the code page of a varchar's collation; cutting text in code pages of two bytes and UTF-8
Values: Conversions of a float to more digits than it holds; money multiplied to more than four decimals; SUM of wide decimals
Values: Ordering by uniqueidentifier; keys and groups of datetimeoffset; arithmetic on dates
Settings: Values of SET options that would change results, such as ANSI_NULLS OFF; IDENTITY_INSERT
Procedures: EXECUTE of a string, sp_executesql within T-SQL, defaults that are not constants; RAISERROR with a message number`;

function table(text: string, ...more: string[]): string[] {
  const rows = [...text.trim().split('\n'), ...more].map((row) =>
    row.replace(/^(\w+): (.*)$/, '| $1 | $2 |'),
  );
  return ['| Area | Constructs |', '|---|---|', ...rows];
}

/** Lines of a Markdown table of what works; `functions` and `views` are the names that the binder knows. */
export const supportedMarkdown = (functions: readonly string[], views: readonly string[]): string[] =>
  table(supported, `Functions: ${functions.join(', ')}`, `Catalog: ${views.join(', ')}`);

export const refusedMarkdown = (): string[] =>
  table(
    refused,
    `Words: ${[...refusedWords.values()].join(', ').replace('|', '\\|')}`,
    `Functions: ${[...refusedFunctions].join(', ')}`,
  );
