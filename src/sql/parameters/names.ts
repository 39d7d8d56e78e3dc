import { SqlStreamError } from '../errors.js';

/** 2,100 is SQL Server's limit for a call; sp_executesql takes two of them itself. */
const most = 2_098;
/** Identifiers of T-SQL ("Database identifiers"); names are put into the text of the declarations, so nothing else may pass. */
const identifier = /^[\p{L}\p{N}_@#$]{1,127}$/u;

/** @throws SqlStreamError with `code`; names are without the `@` */
export function checkNames(names: readonly string[], code: 'EOptions' | 'EParameter'): void {
  const phase = code === 'EOptions' ? 'setup' : 'parameters';
  if (names.length > most) {
    throw new SqlStreamError(
      code,
      `${names.length} parameters are too many: ${most} can be sent. Pass a list as one JSON text and read it with OPENJSON.`,
      { phase },
    );
  }
  const seen = new Set<string>();
  for (const name of names) {
    const lower = name.toLowerCase();
    const problem = !identifier.test(name)
      ? 'is no name for a parameter: use letters, digits, _, @, # and $'
      : seen.has(lower)
        ? 'is given twice'
        : undefined;
    if (problem !== undefined)
      throw new SqlStreamError(code, `@${name} ${problem}.`, { phase, subject: name });
    seen.add(lower);
  }
}
