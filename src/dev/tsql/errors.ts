/**
 * Number, severity and text, compared with "Database Engine events and errors" of the SQL Server documentation, which lists
 * sys.messages (MicrosoftDocs/sql-docs, docs/relational-databases/errors-events). 108 is 15 there, but servers send 16.
 * 8624 and 40510 have words of the embedded server's own.
 */
const texts = `
102 15 Incorrect syntax near '%s'.
105 15 Unclosed quotation mark after the character string '%s'.
107 15 The column prefix '%s' does not match with a table name or alias name used in the query.
108 16 The ORDER BY position number %s is out of range of the number of items in the select list.
109 15 There are more columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.
110 15 There are fewer columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.
113 15 Missing end comment mark '*/'.
120 15 The select list for the INSERT statement contains fewer items than the insert list. The number of SELECT values must match the number of INSERT columns.
121 15 The select list for the INSERT statement contains more items than the insert list. The number of SELECT values must match the number of INSERT columns.
137 15 Must declare the scalar variable "%s".
141 15 A SELECT statement that assigns a value to a variable must not be combined with data-retrieval operations.
147 15 An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a HAVING clause or a select list, and the column being aggregated is an outer reference.
148 15 Incorrect time syntax in time string '%s' used with WAITFOR.
156 15 Incorrect syntax near the keyword '%s'.
168 15 The floating point value '%s' is out of the range of computer representation (8 bytes).
174 15 The %s function requires %s argument(s).
195 15 '%s' is not a recognized built-in function name.
201 16 Procedure or function '%s' expects parameter '%s', which was not supplied.
206 16 Operand type clash: %s is incompatible with %s
207 16 Invalid column name '%s'.
208 16 Invalid object name '%s'.
209 16 Ambiguous column name '%s'.
213 16 Column name or number of supplied values does not match table definition.
217 16 Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).
220 16 Arithmetic overflow error for data type %s, value = %s.
232 16 Arithmetic overflow error for type %s, value = %s.
235 16 Cannot convert a char value to money. The char value has incorrect syntax.
241 16 Conversion failed when converting date and/or time from character string.
242 16 The conversion of a %s data type to a %s data type resulted in an out-of-range value.
245 16 Conversion failed when converting the %s value '%s' to data type %s.
248 16 The conversion of the %s value '%s' overflowed an int column.
257 16 Implicit conversion from data type %s to %s is not allowed. Use the CONVERT function to run this query.
266 16 Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = %s, current count = %s.
306 16 The text, ntext, and image data types cannot be compared or sorted, except when using IS NULL or LIKE operator.
402 16 The data types %s and %s are incompatible in the %s operator.
448 16 Invalid collation '%s'.
468 16 Cannot resolve the collation conflict between "%s" and "%s" in the %s operation.
515 16 Cannot insert the value NULL into column '%s', table '%s'; column does not allow nulls. %s fails.
529 16 Explicit conversion from data type %s to %s is not allowed.
537 16 Invalid length parameter passed to the LEFT or SUBSTRING function.
544 16 Cannot insert explicit value for identity column in table '%s' when IDENTITY_INSERT is set to OFF.
1007 15 The number '%s' is out of the range for numeric representation (maximum precision 38).
1222 16 Lock request time out period exceeded.
1911 16 Column name '%s' does not exist in the target table or view.
2627 14 Violation of PRIMARY KEY constraint '%s'. Cannot insert duplicate key in object 'dbo.%s'. The duplicate key value is (%s).
2628 16 String or binary data would be truncated in table '%s', column '%s'. Truncated value: '%s'.
2705 16 Column names in each table must be unique. Column name '%s' in table '%s' is specified more than once.
2714 16 There is already an object named '%s' in the database.
2715 16 Column, parameter, or variable #1: Cannot find data type %s.
2716 16 Column, parameter, or variable #1: Cannot specify a column width on data type %s.
2717 15 The size (%s) given to the type '%s' exceeds the maximum allowed (%s).
2750 16 Column or parameter #1: Specified column precision %s is greater than the maximum precision of 38.
2751 16 Column or parameter #1: Specified column scale %s is greater than the specified precision of %s.
2812 16 Could not find stored procedure '%s'.
3701 11 Cannot drop the %s '%s', because it does not exist or you do not have permission.
3902 16 The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.
3903 16 The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.
3930 16 The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.
3998 16 Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.
4060 11 Cannot open database "%s" requested by the login. The login failed.
4104 16 The multi-part identifier "%s" could not be bound.
4145 15 An expression of non-boolean type specified in a context where a condition is expected, near '%s'.
8102 16 Cannot update identity column '%s'.
8111 16 Cannot define PRIMARY KEY constraint on nullable column in table '%s'.
8114 16 Error converting data type %s to %s.
8115 16 Arithmetic overflow error converting %s to data type %s.
8117 16 Operand data type %s is invalid for %s operator.
8120 16 Column '%s' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.
8134 16 Divide by zero error encountered.
8144 16 Procedure or function %s has too many arguments specified.
8145 16 %s is not a parameter for procedure %s.
8162 16 The formal parameter "%s" was not declared as an OUTPUT parameter, but the actual parameter passed in requested output.
8169 16 Conversion failed when converting from a character string to uniqueidentifier.
8170 16 Insufficient result space to convert uniqueidentifier value to char.
8178 16 The parameterized query '%s' expects the parameter '%s', which was not supplied.
8624 16 Internal error of the embedded server. The statement was not completed.
8631 17 Internal error: Server stack limit has been reached. Please look for potentially deep nesting in your query, and try to simplify it.
10704 15 To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement inside a CATCH block, or add error parameters to the THROW statement.
18456 14 Login failed for user '%s'.
35100 16 Error number %s in the THROW statement is outside the valid range. Specify an error number in the valid range of 50000 to 2147483647.
40510 16 %s is not supported by the embedded server.
50000 16 %s`;
const messages = new Map(
  [...texts.matchAll(/^(\d+) (\d+) (.*)$/gm)].map(([, number, severity, text]) => [
    Number(number),
    [Number(severity), text!] as const,
  ]),
);

/** An error as SQL Server would raise it; what a client may see of a failure. */
export class SqlError extends Error {
  override readonly name = 'SqlError';
  readonly number: number;
  readonly class: number;
  readonly state: number;
  line = 0;
  procedure: string | undefined;

  constructor(number: number, severity: number, state: number, message: string) {
    super(message);
    this.number = number;
    this.class = severity;
    this.state = state;
  }

  toMessage() {
    const { number, state, message, line, procedure } = this;
    return { number, state, class: this.class, message, line, ...(procedure && { procedure }) };
  }
}

type Argument = string | number | bigint;

export function sqlError(number: number, ...values: readonly Argument[]): SqlError {
  const [severity, text] = messages.get(number)!;
  let next = 0;
  return new SqlError(
    number,
    severity,
    1,
    text.replaceAll('%s', () => String(values[next++] ?? '')),
  );
}

/** Throws the error of that number in SQL Server's words. */
export function fail(number: number, ...values: readonly Argument[]): never {
  throw sqlError(number, ...values);
}

/** Refuses by name what SQL Server has and this engine does not: 40510, which no client takes for transient. */
export const refuse = (what: string): never => fail(40510, what);

/** Errors in which SQL Server gives up the whole batch, not the statement alone (conversions, binding, limits). */
const batchAborting = new Set([
  206, 207, 208, 209, 235, 241, 242, 245, 248, 257, 306, 402, 468, 529, 4104, 8114, 8117, 8120, 8169, 1222,
  40510,
]);
export const abortsBatch = (error: SqlError): boolean => batchAborting.has(error.number) || error.class >= 20;

/** Raised when a request is cancelled: nothing is sent for it, and no CATCH sees it. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

/** Anything thrown as what a client may know of it; an error that is not SQL's has no details. */
export function asSqlError(error: unknown): SqlError {
  if (error instanceof SqlError) return error;
  return sqlError(error instanceof RangeError && /call stack/i.test(error.message) ? 8631 : 8624);
}
