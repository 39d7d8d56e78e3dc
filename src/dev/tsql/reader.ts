import type { Name, Query } from './ast.js';
import { fail } from './errors.js';
import { atLine, type Token, tokenize } from './lexer.js';

/** Words that are no names unless in brackets (Transact-SQL reference, "Reserved keywords"; those that matter here). */
const reserved = new Set(
  `ADD ALL ALTER AND ANY AS ASC BEGIN BETWEEN BREAK BULK BY CASE CHECK CLOSE COLLATE COLUMN COMMIT CONSTRAINT
  CONTINUE CONVERT COALESCE CREATE CROSS CURSOR DATABASE DBCC DEALLOCATE DECLARE DEFAULT DELETE DENY DESC DISTINCT DROP ELSE END ESCAPE
  EXCEPT EXEC EXECUTE EXISTS FETCH FOR FOREIGN FROM FULL FUNCTION GOTO GRANT GROUP HAVING HOLDLOCK
  IDENTITY_INSERT IF IN INDEX INNER INSERT INTERSECT INTO IS JOIN KEY KILL LEFT LIKE MERGE NOT NULL NULLIF OF ON OPEN
  OPTION OR ORDER OUTER OVER PERCENT PIVOT PRIMARY PRINT PROC PROCEDURE RAISERROR RECONFIGURE REFERENCES RESTORE RETURN
  REVERT REVOKE RIGHT ROLLBACK SAVE SELECT SET SHUTDOWN SOME TABLE TABLESAMPLE THEN TO TOP TRAN TRANSACTION TRIGGER
  TRUNCATE TRY_CONVERT UNION UNIQUE UNPIVOT UPDATE USE VALUES VIEW WAITFOR WHEN WHERE WHILE WITH`.split(
    /\s+/,
  ),
);

/** The tokens of a batch and a place among them; what every part of the parser reads from. */
export class Reader {
  readonly sql: string;
  /** Parses a query inside an expression. */
  readonly query: (r: Reader) => Query;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(sql: string, query: (r: Reader) => Query) {
    this.sql = sql;
    this.query = query;
    this.#tokens = tokenize(sql);
  }

  get token(): Token {
    return this.#tokens[this.#at]!;
  }

  peek(ahead = 1): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]!;
  }

  next(): Token {
    const token = this.token;
    if (token.kind !== 'end') this.#at++;
    return token;
  }

  /** The end of the token read last, as an offset into the text. */
  get lastEnd(): number {
    return this.#at === 0 ? 0 : this.#tokens[this.#at - 1]!.end;
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

  /** 102 or 156 at the token that does not fit; at the end of the text, SQL Server names the last one. */
  fail(): never {
    const token = this.token.kind === 'end' && this.#at > 0 ? this.#tokens[this.#at - 1]! : this.token;
    return atLine(token.line, () => fail(reserved.has(token.key) ? 156 : 102, token.text));
  }

  isName(): boolean {
    const { kind, key } = this.token;
    return kind === 'quoted' || (kind === 'word' && !reserved.has(key));
  }

  name(): string {
    if (!this.isName()) this.fail();
    return this.next().text;
  }

  /** `a`, `a.b`, `a..b`, up to four parts. */
  qualifiedName(): Name {
    const parts = [this.name()];
    while (this.take('.')) parts.push(this.is('.') ? '' : this.name());
    if (parts.length > 4) this.fail();
    return parts;
  }

  variable(): string {
    if (this.token.kind !== 'variable' || this.token.text.startsWith('@@')) this.fail();
    return this.next().text;
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
    const negative = this.take('-');
    if (this.token.kind !== 'number' || !/^\d+$/.test(this.token.text)) this.fail();
    return (negative ? -1 : 1) * Number(this.next().text);
  }
}
