import { abortsBatch, asSqlError, Cancelled, fail, type SqlError } from './errors.js';
import { atLine, Reader } from './reader.js';
import type { Flow, Frame, Statement } from './session.js';
import { refusedWords } from './support.js';

/** Reads a statement, its first word being read, and gives what runs it. */
export type StatementParser = (r: Reader) => Statement['run'];

const parsers = new Map<string, StatementParser>();

export function addStatements(more: Readonly<Record<string, StatementParser>>): void {
  for (const [word, parser] of Object.entries(more)) parsers.set(word, parser);
}

export const startsStatement = (r: Reader): boolean =>
  r.token.kind === 'end' || parsers.has(r.token.key) || r.isAny(';', 'END', 'ELSE');

const cache = new Map<string, readonly Statement[]>();

/** Parses a whole batch before any of it runs; batches seen lately are not parsed again. */
export function parseBatch(sql: string): readonly Statement[] {
  const known = cache.get(sql);
  if (known) return known;
  const r = new Reader(sql);
  const { line, key } = r.token;
  // A procedure may be called without EXEC at the start of a batch.
  const isCall = r.isName() && !parsers.has(key) && !refusedWords.has(key);
  const first = isCall ? [{ line, word: 'EXEC', run: atLine(line, () => parsers.get('EXEC')!(r)) }] : [];
  const statements = [...first, ...parseBody(r, () => r.token.kind === 'end')];
  if (sql.length < 20_000) cache.set(sql, statements);
  if (cache.size > 200) cache.delete(cache.keys().next().value!);
  return statements;
}

/** Statements up to an END, which stays. */
export function parseBody(r: Reader, isEnd = () => r.is('END')): Statement[] {
  const body: Statement[] = [];
  while (r.take(';'));
  while (!isEnd()) {
    body.push(parseStatement(r));
    while (r.take(';'));
  }
  return body;
}

export function parseStatement(r: Reader): Statement {
  const { line, key: word } = r.token;
  return atLine(line, () => {
    const parser = parsers.get(word) ?? r.fail();
    r.next();
    return { line, word, run: parser(r) };
  });
}

export async function runStatements(statements: readonly Statement[], frame: Frame): Promise<Flow> {
  for (const statement of statements) {
    const pause = frame.pause();
    if (pause) await pause;
    const flow = await runStatement(statement, frame);
    if (flow) return flow;
  }
  return undefined;
}

/** Statements that are no work of their own: they give no DONE, and leave @@ERROR. */
const quiet = new Set(['BEGIN', 'IF', 'WHILE', 'EXEC', 'EXECUTE', 'DECLARE', 'BREAK', 'CONTINUE', 'RETURN']);
const conversions = new Set([235, 241, 242, 245, 8114, 8169]);
/** Errors that already ended an inner scope. */
const fatal = new WeakSet<SqlError>();

/** Runs one statement; an error that ends only the statement is reported here, and the next one runs. */
async function runStatement({ line, word, run }: Statement, frame: Frame): Promise<Flow> {
  const { session, response } = frame;
  const isQuiet = quiet.has(word);
  session.now = Date.now();
  session.line = line;
  if (session.request && !isQuiet) session.request.command = word;
  try {
    const flow = await run(frame);
    if (!isQuiet && word !== 'SET') session.lastError = 0;
    return flow;
  } catch (caught) {
    if (caught instanceof Cancelled) throw caught;
    const error = asSqlError(caught);
    if (error.line === 0) {
      error.line = line;
      error.procedure ??= frame.procedure;
    }
    session.lastError = error.number;
    session.rowCount = 0;
    const { xactAbort } = session.options;
    if (xactAbort || conversions.has(error.number)) {
      if (frame.tries > 0) session.isDoomed = session.transactionCount > 0;
      else if (session.end('ROLLBACK')) response.transaction('rollback');
    }
    // A THROW, and what TRY must see, leaves all the statements around.
    if (frame.tries > 0 || abortsBatch(error) || xactAbort || word === 'THROW' || fatal.has(error)) {
      fatal.add(error);
      throw error;
    }
    response.message(error.toMessage());
    const statement = (['select', 'insert', 'update', 'delete'] as const).find(
      (kind) => kind === word.toLowerCase(),
    );
    if (!isQuiet) response.statementDone({ statement: statement ?? 'other', failed: true });
    return undefined;
  }
}

/** The end of a statement that counts rows. */
export function counted(
  statement: 'select' | 'insert' | 'update' | 'delete',
  rows: number,
  { session, response }: Frame,
): undefined {
  session.rowCount = rows;
  response.statementDone({ statement, ...(!session.options.noCount && { rowCount: rows }) });
  return undefined;
}

export const done = ({ response }: Frame): undefined => void response.statementDone({ statement: 'other' });

export const variableOf = (name: string, { variables }: Frame) =>
  variables.get(name.toLowerCase()) ?? fail(137, name);
