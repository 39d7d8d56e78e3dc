import { fail } from './errors.js';

export type TokenKind =
  | 'word'
  | 'quoted'
  | 'variable'
  | 'string'
  | 'nstring'
  | 'number'
  | 'hex'
  | 'op'
  | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** As written; strings and bracketed names without their quotes. */
  readonly text: string;
  /** Upper-case word or operator; '' for quoted names and literals, which are never keywords. */
  readonly key: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

const pattern = new RegExp(
  [
    String.raw`(?<space>\s+|--[^\n]*)`,
    '(?<hex>0[xX][0-9a-fA-F]*)',
    String.raw`(?<number>\$?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|\$)`,
    String.raw`(?<variable>@{1,2}[\p{L}\p{N}_@#$]+)`,
    String.raw`(?<word>[\p{L}_#][\p{L}\p{N}_@#$]*)`,
    String.raw`(?<op><=|>=|<>|!=|!<|!>|\+=|-=|\*=|/=|%=|&=|\|=|\^=|::|[-+*/%&|^~=<>!(),.;:?{}])`,
  ].join('|'),
  'uy',
);

/** Splits T-SQL text into tokens; raises 102, 105 and 113 at the line where they are. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let at = 0;
  const push = (kind: TokenKind, text: string, end: number, key = ''): void => {
    tokens.push({ kind, text, key, line, start: at, end });
    advance(end);
  };
  const advance = (end: number): void => {
    for (let i = at; i < end; i++) if (sql.charCodeAt(i) === 10) line++;
    at = end;
  };
  while (at < sql.length) {
    const c = sql[at]!;
    const national = (c === 'N' || c === 'n') && sql[at + 1] === "'";
    if (c === "'" || national) {
      const [text, end] = delimited(sql, at + (national ? 2 : 1), "'", line);
      push(national ? 'nstring' : 'string', text, end);
    } else if (c === '[' || c === '"') {
      const [text, end] = delimited(sql, at + 1, c === '[' ? ']' : '"', line);
      push('quoted', text, end);
    } else if (c === '/' && sql[at + 1] === '*') {
      advance(commentEnd(sql, at));
    } else {
      pattern.lastIndex = at;
      const match = pattern.exec(sql);
      if (!match) atLine(line, () => fail(102, c));
      const groups = match!.groups!;
      const text = match![0];
      if (groups['space'] !== undefined) advance(at + text.length);
      else {
        const kind = (['hex', 'number', 'variable', 'word', 'op'] as const).find(
          (k) => groups[k] !== undefined,
        )!;
        const key = kind === 'word' || kind === 'op' ? text.toUpperCase() : '';
        push(kind, text, at + text.length, key);
      }
    }
  }
  tokens.push({ kind: 'end', text: '', key: '', line, start: at, end: at });
  return tokens;
}

function delimited(sql: string, start: number, close: string, line: number): [string, number] {
  for (let from = start; ; ) {
    const end = sql.indexOf(close, from);
    if (end < 0) atLine(line, () => fail(105, sql.slice(start, start + 128)));
    if (sql[end + 1] !== close) return [sql.slice(start, end).replaceAll(close + close, close), end + 1];
    from = end + 2;
  }
}

/** Comments nest in T-SQL. */
function commentEnd(sql: string, start: number): number {
  let depth = 0;
  for (let i = start; i < sql.length - 1; i++) {
    if (sql[i] === '/' && sql[i + 1] === '*') {
      depth++;
      i++;
    } else if (sql[i] === '*' && sql[i + 1] === '/') {
      i++;
      if (--depth === 0) return i + 1;
    }
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
