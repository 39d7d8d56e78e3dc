import type { ServerMessage } from './contract.js';

/** Number, class (severity) and text as in sys.messages; `%s` takes the arguments in their order. */
const messages: Readonly<Record<number, readonly [severity: number, text: string]>> = {
  102: [15, "Incorrect syntax near '%s'."],
  105: [15, "Unclosed quotation mark after the character string '%s'."],
  107: [15, "The column prefix '%s' does not match with a table name or alias name used in the query."],
  109: [
    15,
    'There are more columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.',
  ],
  110: [
    15,
    'There are fewer columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.',
  ],
  113: [15, "Missing end comment mark '*/'."],
  116: [
    16,
    'Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.',
  ],
  120: [
    15,
    'The select list for the INSERT statement contains fewer items than the insert list. The number of SELECT values must match the number of INSERT columns.',
  ],
  121: [
    15,
    'The select list for the INSERT statement contains more items than the insert list. The number of SELECT values must match the number of INSERT columns.',
  ],
  134: [
    15,
    "The variable name '%s' has already been declared. Variable names must be unique within a query batch or stored procedure.",
  ],
  135: [15, 'Cannot use a BREAK statement outside the scope of a WHILE statement.'],
  136: [15, 'Cannot use a CONTINUE statement outside the scope of a WHILE statement.'],
  137: [15, 'Must declare the scalar variable "%s".'],
  141: [
    15,
    'A SELECT statement that assigns a value to a variable must not be combined with data-retrieval operations.',
  ],
  145: [15, 'ORDER BY items must appear in the select list if SELECT DISTINCT is specified.'],
  147: [
    15,
    'An aggregate may not appear in the WHERE clause unless it is in a subquery contained in a HAVING clause or a select list, and the column being aggregated is an outer reference.',
  ],
  148: [15, "Incorrect time syntax in time string '%s' used with WAITFOR."],
  156: [15, "Incorrect syntax near the keyword '%s'."],
  174: [15, 'The %s function requires %s argument(s).'],
  195: [15, "'%s' is not a recognized built-in function name."],
  201: [16, "Procedure or function '%s' expects parameter '%s', which was not supplied."],
  205: [
    16,
    'All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions in their target lists.',
  ],
  206: [16, 'Operand type clash: %s is incompatible with %s'],
  207: [16, "Invalid column name '%s'."],
  208: [16, "Invalid object name '%s'."],
  209: [16, "Ambiguous column name '%s'."],
  213: [16, 'Column name or number of supplied values does not match table definition.'],
  217: [16, 'Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).'],
  220: [16, 'Arithmetic overflow error for data type %s, value = %s.'],
  232: [16, 'Arithmetic overflow error for type %s, value = %s.'],
  235: [16, 'Cannot convert a char value to money. The char value has incorrect syntax.'],
  240: [
    16,
    'Types don\'t match between the anchor and the recursive part in column "%s" of recursive query "%s".',
  ],
  241: [16, 'Conversion failed when converting date and/or time from character string.'],
  242: [16, 'The conversion of a %s data type to a %s data type resulted in an out-of-range value.'],
  245: [16, "Conversion failed when converting the %s value '%s' to data type %s."],
  257: [
    16,
    'Implicit conversion from data type %s to %s is not allowed. Use the CONVERT function to run this query.',
  ],
  266: [
    16,
    'Transaction count after EXECUTE indicates a mismatching number of BEGIN and COMMIT statements. Previous count = %s, current count = %s.',
  ],
  281: [16, '%s is not a valid style number when converting from %s to a character string.'],
  306: [
    16,
    'The text, ntext, and image data types cannot be compared or sorted, except when using IS NULL or LIKE operator.',
  ],
  402: [16, 'The data types %s and %s are incompatible in the %s operator.'],
  512: [
    16,
    'Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= or when the subquery is used as an expression.',
  ],
  515: [
    16,
    "Cannot insert the value NULL into column '%s', table '%s'; column does not allow nulls. %s fails.",
  ],
  517: [16, "Adding a value to a '%s' column caused an overflow."],
  529: [16, 'Explicit conversion from data type %s to %s is not allowed.'],
  530: [
    16,
    'The statement terminated. The maximum recursion %s has been exhausted before statement completion.',
  ],
  535: [
    16,
    'The datediff function resulted in an overflow. The number of dateparts separating two date/time instances is too large. Try to use datediff with a less precise datepart.',
  ],
  537: [16, 'Invalid length parameter passed to the LEFT or SUBSTRING function.'],
  544: [
    16,
    "Cannot insert explicit value for identity column in table '%s' when IDENTITY_INSERT is set to OFF.",
  ],
  545: [
    16,
    "Explicit value must be specified for identity column in table '%s' either when IDENTITY_INSERT is set to ON or when a replication user is inserting into a NOT FOR REPLICATION identity column.",
  ],
  911: [16, "Database '%s' does not exist. Make sure that the name is entered correctly."],
  1007: [15, "The number '%s' is out of the range for numeric representation (maximum precision 38)."],
  1205: [
    13,
    'Transaction (Process ID %s) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction.',
  ],
  1222: [16, 'Lock request time out period exceeded.'],
  1785: [16, '%s'],
  1919: [16, "Column '%s' in table '%s' is of a type that is invalid for use as a key column in an index."],
  2601: [
    14,
    "Cannot insert duplicate key row in object '%s' with unique index '%s'. The duplicate key value is (%s).",
  ],
  2627: [
    14,
    "Violation of %s constraint '%s'. Cannot insert duplicate key in object '%s'. The duplicate key value is (%s).",
  ],
  2628: [16, "String or binary data would be truncated in table '%s', column '%s'. Truncated value: '%s'."],
  2705: [
    16,
    "Column names in each table must be unique. Column name '%s' in table '%s' is specified more than once.",
  ],
  2714: [16, "There is already an object named '%s' in the database."],
  2715: [16, 'Column, parameter, or variable #%s: Cannot find data type %s.'],
  2716: [16, 'Column, parameter, or variable #%s: Cannot specify a column width on data type %s.'],
  2717: [15, "The size (%s) given to the type '%s' exceeds the maximum allowed (%s)."],
  2724: [10, '%s'],
  2743: [16, '%s'],
  2744: [
    16,
    "Multiple identity columns specified for table '%s'. Only one identity column per table is allowed.",
  ],
  2750: [
    16,
    'Column or parameter #%s: Specified column precision %s is greater than the maximum precision of 38.',
  ],
  2751: [
    16,
    'Column or parameter #%s: Specified column scale %s is greater than the specified precision of %s.',
  ],
  2760: [16, 'The specified schema name "%s" either does not exist or you do not have permission to use it.'],
  2812: [16, "Could not find stored procedure '%s'."],
  3609: [16, 'The transaction ended in the trigger. The batch has been aborted.'],
  3701: [11, "Cannot drop the %s '%s', because it does not exist or you do not have permission."],
  3902: [16, 'The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.'],
  3903: [16, 'The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.'],
  3930: [
    16,
    'The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.',
  ],
  3998: [
    16,
    'Uncommittable transaction is detected at the end of the batch. The transaction is rolled back.',
  ],
  4060: [11, 'Cannot open database "%s" requested by the login. The login failed.'],
  4104: [16, 'The multi-part identifier "%s" could not be bound.'],
  4121: [
    16,
    'Cannot find either column "%s" or the user-defined function or aggregate "%s", or the name is ambiguous.',
  ],
  4145: [
    15,
    "An expression of non-boolean type specified in a context where a condition is expected, near '%s'.",
  ],
  5074: [16, '%s'],
  8107: [16, "IDENTITY_INSERT is already ON for table '%s'. Cannot perform SET operation for table '%s'."],
  8102: [16, "Cannot update identity column '%s'."],
  8110: [16, "Cannot add multiple PRIMARY KEY constraints to table '%s'."],
  8111: [16, "Cannot define PRIMARY KEY constraint on nullable column in table '%s'."],
  8114: [16, 'Error converting data type %s to %s.'],
  8115: [16, 'Arithmetic overflow error converting %s to data type %s.'],
  8116: [16, 'Argument data type %s is invalid for argument %s of %s function.'],
  8117: [16, 'Operand data type %s is invalid for %s operator.'],
  8120: [
    16,
    "Column '%s' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.",
  ],
  8134: [16, 'Divide by zero error encountered.'],
  8143: [16, "Parameter '%s' was supplied multiple times."],
  8144: [16, 'Procedure or function %s has too many arguments specified.'],
  8145: [16, '%s is not a parameter for procedure %s.'],
  8146: [16, 'Procedure %s has no parameters and arguments were supplied.'],
  8152: [16, 'String or binary data would be truncated.'],
  8155: [16, "No column name was specified for column %s of '%s'."],
  8156: [16, "The column '%s' was specified multiple times for '%s'."],
  8158: [16, "'%s' has more columns than were specified in the column list."],
  8159: [16, "'%s' has fewer columns than were specified in the column list."],
  8162: [
    16,
    'The formal parameter "%s" was not declared as an OUTPUT parameter, but the actual parameter passed in requested output.',
  ],
  8169: [16, 'Conversion failed when converting from a character string to uniqueidentifier.'],
  8178: [16, "The parameterized query '%s' expects the parameter '%s', which was not supplied."],
  9436: [16, '%s'],
  9806: [16, 'The datepart %s is not supported by date function %s.'],
  9810: [16, 'The datepart %s is not supported by date function %s for data type %s.'],
  10704: [
    15,
    'To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement inside a CATCH block, or add error parameters to the THROW statement.',
  ],
  10751: [16, '%s'],
  17809: [20, '%s'],
  18456: [14, "Login failed for user '%s'."],
  40510: [16, '%s is not supported by the embedded server.'],
};

/** An error as SQL Server would raise it; what a client may see of a failure. */
export class SqlError extends Error {
  readonly number: number;
  readonly class: number;
  readonly state: number;
  line = 0;
  procedure: string | undefined;

  constructor(number: number, severity: number, state: number, message: string) {
    super(message);
    this.name = 'SqlError';
    this.number = number;
    this.class = severity;
    this.state = state;
  }

  toMessage(): ServerMessage {
    const { number, state, message, line, procedure } = this;
    return { number, state, class: this.class, message, line, ...(procedure && { procedure }) };
  }
}

export function sqlError(number: number, ...values: readonly (string | number | bigint)[]): SqlError {
  const [severity, text] = messages[number] ?? [16, '%s'];
  let next = 0;
  return new SqlError(
    number,
    severity,
    1,
    text.replaceAll('%s', () => String(values[next++] ?? '')),
  );
}

/** Throws the error of that number in SQL Server's words. */
export function fail(number: number, ...values: readonly (string | number | bigint)[]): never {
  throw sqlError(number, ...values);
}

/** The number of all refusals. Azure SQL's "statement not supported"; no client takes it for transient. */
const refusalNumber = 40510;

/** Refuses by name what SQL Server has and this engine does not. */
export function refuse(what: string): never {
  return fail(refusalNumber, what);
}

/** Errors in which SQL Server gives up the whole batch, not the statement alone (conversions, binding, limits). */
const batchAborting = new Set([
  206, 207, 208, 209, 235, 241, 242, 245, 257, 306, 402, 529, 530, 4104, 4121, 8114, 8117, 8120, 8169, 1205,
  1222,
]);

export function abortsBatch(error: SqlError): boolean {
  return batchAborting.has(error.number) || error.number === refusalNumber || error.class >= 20;
}

/** Raised when a request is cancelled: nothing is sent for it, and no CATCH sees it. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}
