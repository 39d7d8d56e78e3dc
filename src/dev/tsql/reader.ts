import { fail, refuse } from './errors.js';
import { refusedWords } from './support.js';
import type { Name } from './syntax.js';

type Kind = 'word' | 'quoted' | 'variable' | 'string' | 'nstring' | 'number' | 'hex' | 'op' | 'end';

export interface Token {
  readonly kind: Kind;
  /** As written; strings and bracketed names without their quotes. */
  readonly text: string;
  /** Upper-case word or operator; '' for quoted names and literals, which are never keywords. */
  readonly key: string;
  readonly line: number;
}

const pattern = new RegExp(
  [
    String.raw`(?<space>\s+|--[^\n]*)`,
    `(?<nstring>[Nn]'(?:[^']|'')*')`,
    `(?<string>'(?:[^']|'')*')`,
    String.raw`(?<quoted>\[(?:[^\]]|\]\])*\]|"(?:[^"]|"")*")`,
    '(?<hex>0[xX][0-9a-fA-F]*)',
    String.raw`(?<number>\$?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)`,
    String.raw`(?<variable>@{1,2}[\p{L}\p{N}_@#$]+)`,
    String.raw`(?<word>[\p{L}_#][\p{L}\p{N}_@#$]*)`,
    '(?<comment>/[*])',
    String.raw`(?<op><=|>=|<>|!=|!<|!>|\+=|-=|\*=|/=|%=|&=|\|=|\^=|[-+*/%&|^~=<>(),.;])`,
  ].join('|'),
  'uy',
);

const unquoted: Partial<Record<Kind, (text: string) => string>> = {
  string: (text) => text.slice(1, -1).replaceAll("''", "'"),
  nstring: (text) => text.slice(2, -1).replaceAll("''", "'"),
  quoted: (text) => text.slice(1, -1).replaceAll(text.at(-1)! + text.at(-1)!, text.at(-1)!),
};

/** Splits T-SQL text into tokens; raises 102, 105 and 113 at the line where they are. */
function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (let at = 0; at < sql.length; ) {
    pattern.lastIndex = at;
    const groups = pattern.exec(sql)?.groups;
    const c = sql[at]!;
    if (!groups)
      atLine(line, () =>
        fail(/['"[nN]/.test(c) ? 105 : 102, /['"[nN]/.test(c) ? sql.slice(at + 1, at + 129) : c),
      );
    const [kind, found] = Object.entries(groups!).find(([, value]) => value !== undefined)!;
    const text = kind === 'comment' ? sql.slice(at, commentEnd(sql, at)) : found!;
    if (kind !== 'space' && kind !== 'comment') {
      const key = kind === 'word' || kind === 'op' ? text.toUpperCase() : '';
      tokens.push({ kind: kind as Kind, text: unquoted[kind as Kind]?.(text) ?? text, key, line });
    }
    for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) line++;
    at += text.length;
  }
  tokens.push({ kind: 'end', text: '', key: '', line });
  return tokens;
}

/** Comments nest in T-SQL. */
function commentEnd(sql: string, start: number): number {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  let depth = 0;
  for (let mark = marks.exec(sql); mark; mark = marks.exec(sql)) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return fail(113);
}

/** Runs what may raise an error and gives the error its line. */
export function atLine<T>(line: number, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const e = error as { line?: number };
    if (e.line === 0) e.line = line;
    throw error;
  }
}

/** Words that are no names unless in brackets (Transact-SQL reference, "Reserved keywords"; those that matter here). */
const reserved = new Set(
  `ADD ALL ALTER AND ANY AS ASC AT BEGIN BETWEEN BREAK BULK BY CASE CHECK CLOSE COLLATE COLUMN COMMIT CONSTRAINT
  CONTINUE CONVERT COALESCE CREATE CROSS CURSOR DATABASE DBCC DEALLOCATE DECLARE DEFAULT DELETE DENY DESC DISTINCT
  DROP ELSE END ESCAPE EXCEPT EXEC EXECUTE EXISTS FETCH FOR FOREIGN FROM FULL FUNCTION GOTO GRANT GROUP HAVING
  HOLDLOCK IDENTITY_INSERT IF IN INDEX INNER INSERT INTERSECT INTO IS JOIN KEY KILL LEFT LIKE MERGE NOT NULL NULLIF
  OF ON OPEN OPTION OR ORDER OUTER OVER PERCENT PIVOT PRIMARY PRINT PROC PROCEDURE RAISERROR RECONFIGURE REFERENCES
  RESTORE RETURN REVERT REVOKE RIGHT ROLLBACK SAVE SELECT SET SHUTDOWN SOME TABLE TABLESAMPLE THEN TO TOP TRAN
  TRANSACTION TRIGGER TRUNCATE TRY_CONVERT UNION UNIQUE UNPIVOT UPDATE USE VALUES VIEW WAITFOR WHEN WHERE WHILE
  WITH`.split(/\s+/),
);

/** The tokens of a batch and a place among them; what every part of the parser reads from. */
export class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(sql: string) {
    this.#tokens = tokenize(sql);
  }

  get token(): Token {
    return this.#tokens[this.#at]!;
  }

  peek(ahead = 1): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]!;
  }

  next(): Token {
    const { token } = this;
    if (token.kind !== 'end') this.#at++;
    return token;
  }

  is(...keys: readonly string[]): boolean {
    return keys.every((key, i) => this.peek(i).key === key);
  }

  isAny(...keys: readonly string[]): boolean {
    return keys.includes(this.token.key);
  }

  /** Reads the keys when they are all there. */
  take(...keys: readonly string[]): boolean {
    if (!this.is(...keys)) return false;
    this.#at += keys.length;
    return true;
  }

  expect(...keys: readonly string[]): void {
    for (const key of keys) if (!this.take(key)) this.fail();
  }

  /** A refused word, else 102 or 156, at the token that does not fit; at the end, SQL Server names the last one. */
  fail(): never {
    const isPast = this.token.kind === 'end' && this.#at > 0;
    const { key, line, text } = isPast ? this.#tokens[this.#at - 1]! : this.token;
    const refused = isPast ? undefined : refusedWords.get(key);
    return atLine(line, () => (refused ? refuse(refused) : fail(reserved.has(key) ? 156 : 102, text)));
  }

  isName(): boolean {
    const { kind, key } = this.token;
    return kind === 'quoted' || (kind === 'word' && !reserved.has(key));
  }

  name(): string {
    return this.isName() ? this.next().text : this.fail();
  }

  /** `a`, `a.b`, `a..b`, up to four parts. */
  qualifiedName(): Name {
    const parts = [this.name()];
    while (this.take('.')) parts.push(this.is('.') ? '' : this.name());
    return parts.length <= 4 ? parts : this.fail();
  }

  variable(): string {
    const isVariable = this.token.kind === 'variable' && !this.token.text.startsWith('@@');
    return isVariable ? this.next().text : this.fail();
  }

  list<T>(item: () => T): T[] {
    const items = [item()];
    while (this.take(',')) items.push(item());
    return items;
  }

  inParentheses<T>(item: () => T): T {
    this.expect('(');
    const value = item();
    this.expect(')');
    return value;
  }

  integer(): number {
    const isNegative = this.take('-');
    if (this.token.kind !== 'number' || !/^\d+$/.test(this.token.text)) this.fail();
    return (isNegative ? -1 : 1) * Number(this.next().text);
  }
}
