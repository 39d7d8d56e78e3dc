import { SqlStreamError } from '../errors.js';

/**
 * One `keyword=value;`, as DbConnectionOptions of .NET reads it: `==` is an equals sign within a keyword; a value in
 * single or double quotes may hold anything, its own quote doubled; a bare value ends at `;` and may
 * neither begin nor end with a quote.
 */
const pair =
  /[\s;]*(?<key>(?:[^=\s;\p{Cc}]|\s+[^=\s\p{Cc}]|\s*==[^=\s\p{Cc}]?)+)\s*=(?!=)\s*(?<value>"(?:[^"\0]|"")*"|'(?:[^'\0]|'')*'|(?:(?!["'\s])(?:[^;\s\p{Cc}]|\s+[^;\s\p{Cc}])*(?<!["']))?)\s*(?:;|\0*\s*$)/uy;

function unquote(value: string): string {
  const quote = value[0];
  if (quote !== '"' && quote !== "'") return value;
  return value.slice(1, -1).replaceAll(quote + quote, quote);
}

/**
 * Splits a connection string; keywords in lower case, in the order of their appearance.
 *
 * @throws SqlStreamError `EConnectionString`; the message tells the position and never a part of the text, which may be a password
 */
export function splitPairs(text: string): [string, string][] {
  const pairs: [string, string][] = [];
  let at = 0;
  while (/[^\s;\0]/.test(text.slice(at))) {
    pair.lastIndex = at;
    const match = pair.exec(text);
    if (match === null) {
      const last = pairs.at(-1)?.[0];
      const where = last === undefined ? 'at its beginning' : `after the value of '${last}'`;
      throw new SqlStreamError(
        'EConnectionString',
        `The connection string can't be read ${where} (character ${at + 1}): write keyword=value pairs with ; between them, ` +
          'and put a value that holds ; or begins or ends with a quote in single or double quotes.',
        { phase: 'setup' },
      );
    }
    const { key, value } = match.groups as { key: string; value: string };
    pairs.push([key.toLowerCase().replaceAll('==', '='), unquote(value)]);
    at = pair.lastIndex;
  }
  return pairs;
}
