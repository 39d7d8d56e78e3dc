import { sensitivityOf } from './codec.js';
import type { SqlType, SqlValue } from './contract.js';
import { fail, refuse } from './errors.js';
import { arity, type FunctionBinder, strictCall } from './function-binder.js';
import { coerce, isNullLiteral, type Node } from './node.js';
import {
  bigint,
  float,
  int,
  isBinary,
  isLarge,
  isString,
  isUnicode,
  nvarchar,
  serverCollation,
  textLength,
  varchar,
} from './types.js';

/** An argument as text; numbers and dates convert to varchar as SQL Server does implicitly. */
function asText(node: Node): Node {
  if (isString(node.type)) return node;
  return coerce(node, isNullLiteral(node) ? varchar(1) : varchar(8000));
}

const varying = (type: SqlType, length: number | 'max' = textLength(type)): SqlType =>
  isUnicode(type)
    ? nvarchar(length === 'max' ? 'max' : Math.min(length, 4000), type.collation)
    : varchar(length === 'max' ? 'max' : Math.min(length, 8000), type.collation);

/** A function of one text to text. */
function map(run: (text: string) => string): FunctionBinder {
  return (args, name) => {
    arity(name, args, 1);
    const text = asText(args[0]!);
    return strictCall(name, varying(text.type), [text], ([s]) => run(s as string));
  };
}

function cut(from: 'LEFT' | 'RIGHT'): FunctionBinder {
  return (args, name) => {
    arity(name, args, 2);
    const text = asText(args[0]!);
    return strictCall(name, varying(text.type), [text, coerce(args[1]!, int)], ([s, n]) => {
      const count = n as number;
      if (count < 0) fail(537);
      return from === 'LEFT' ? (s as string).slice(0, count) : count === 0 ? '' : (s as string).slice(-count);
    });
  };
}

function substring(args: readonly Node[], name: string): Node {
  arity(name, args, 3);
  const [a, start, length] = args as [Node, Node, Node];
  const binary = isBinary(a.type);
  const source = binary ? a : asText(a);
  const type: SqlType = binary
    ? { name: 'varbinary', length: source.type.length ?? 'max' }
    : varying(source.type);
  return strictCall(name, type, [source, coerce(start, int), coerce(length, int)], ([s, from, count]) => {
    if ((count as number) < 0) fail(537);
    const begin = (from as number) - 1;
    const end = Math.max(0, begin + (count as number));
    return (s as string | Uint8Array).slice(Math.max(0, begin), end);
  });
}

/** The text without trailing blanks, which LEN does not count. */
function len(args: readonly Node[], name: string): Node {
  arity(name, args, 1);
  if (isBinary(args[0]!.type)) return dataLength(args, name);
  const text = asText(args[0]!);
  const large = text.type.length === 'max';
  return strictCall(name, large ? bigint : int, [text], ([s]) => {
    const n = (s as string).replace(/ +$/, '').length;
    return large ? BigInt(n) : n;
  });
}

function dataLength(args: readonly Node[], name: string): Node {
  arity(name, args, 1);
  const { type } = args[0]!;
  const large = type.length === 'max' || isLarge(type);
  const fixed: Record<string, number> = {
    bit: 1,
    tinyint: 1,
    smallint: 2,
    int: 4,
    bigint: 8,
    real: 4,
    float: 8,
    money: 8,
    smallmoney: 4,
    uniqueidentifier: 16,
    date: 3,
    smalldatetime: 4,
    datetime: 8,
  };
  return strictCall(name, large ? bigint : int, [args[0]!], ([value]) => {
    const n =
      value instanceof Uint8Array
        ? value.length
        : typeof value === 'string' && isString(type)
          ? value.length * (isUnicode(type) ? 2 : 1)
          : (fixed[type.name] ?? refuse(`DATALENGTH of ${type.name}`));
    return large ? BigInt(n) : n;
  });
}

/** Finds text under the collation; case-insensitive search goes by upper case, character by character. */
function find(text: string, part: string, collation: string, from: number): number {
  const sensitivity = sensitivityOf(collation);
  if (sensitivity.endsWith('AI')) refuse('Searching under an accent-insensitive collation');
  if (!sensitivity.startsWith('CI')) return text.indexOf(part, from);
  const fold = (s: string): string =>
    s.replace(/./gsu, (c) => (c.toUpperCase().length === c.length ? c.toUpperCase() : c));
  return fold(text).indexOf(fold(part), from);
}

function charIndex(args: readonly Node[], name: string): Node {
  arity(name, args, 2, 3);
  const [part, text] = [asText(args[0]!), asText(args[1]!)];
  const collation = text.type.collation ?? serverCollation;
  const large = text.type.length === 'max';
  const start = args[2] ? [coerce(args[2], int)] : [];
  return strictCall(name, large ? bigint : int, [part, text, ...start], ([p, t, from]) => {
    const n =
      p === '' ? 0 : find(t as string, p as string, collation, Math.max(0, ((from as number) ?? 1) - 1)) + 1;
    return large ? BigInt(n) : n;
  });
}

function replace(args: readonly Node[], name: string): Node {
  arity(name, args, 3);
  const texts = args.map(asText);
  const [source] = texts as [Node];
  const collation = source.type.collation ?? serverCollation;
  const unicode = texts.some((text) => isUnicode(text.type));
  const large = texts.some((text) => text.type.length === 'max');
  const type = unicode ? nvarchar(large ? 'max' : 4000) : varchar(large ? 'max' : 8000);
  return strictCall(name, type, texts, ([s, from, to]) => {
    const [text, part] = [s as string, from as string];
    if (part === '') return text;
    let result = '';
    let at = 0;
    for (let i = find(text, part, collation, 0); i >= 0; i = find(text, part, collation, at)) {
      result += text.slice(at, i) + to;
      at = i + part.length;
    }
    return limited(result + text.slice(at), type);
  });
}

/** Results of functions that are not (max) end at 8,000 bytes. */
const limited = (text: string, type: SqlType): string =>
  type.length === 'max' ? text : text.slice(0, type.length);

function replicate(args: readonly Node[], name: string): Node {
  arity(name, args, 2);
  const text = asText(args[0]!);
  const type = varying(text.type, text.type.length === 'max' ? 'max' : 8000);
  return strictCall(name, type, [text, coerce(args[1]!, int)], ([s, n]) => {
    if ((n as number) < 0) return null;
    if ((s as string).length * (n as number) > 250_000_000)
      refuse('A string of more than 250,000,000 characters');
    const limit =
      type.length === 'max' ? (n as number) : Math.ceil(type.length! / Math.max(1, (s as string).length));
    return limited((s as string).repeat(Math.min(n as number, limit)), type);
  });
}

/** CONCAT and CONCAT_WS: NULL counts as empty text. */
function concat(separated: boolean): FunctionBinder {
  return (args, name) => {
    arity(name, args, separated ? 3 : 2, 254);
    const texts = args.map((arg) => (isNullLiteral(arg) ? arg : asText(arg)));
    const unicode = texts.some((text) => isUnicode(text.type));
    const large = texts.some((text) => text.type.length === 'max');
    const type = unicode ? nvarchar(large ? 'max' : 4000) : varchar(large ? 'max' : 8000);
    const run = (values: readonly SqlValue[]): SqlValue => {
      const parts = separated
        ? values.slice(1).filter((value) => value !== null)
        : values.map((value) => value ?? '');
      return limited(parts.join(separated ? ((values[0] as string) ?? '') : ''), type);
    };
    return { k: 'call', name, type, nullable: false, args: texts, lenient: true, run };
  };
}

function trim(kind: 'LTRIM' | 'RTRIM' | 'TRIM'): FunctionBinder {
  return map((s) =>
    kind === 'LTRIM'
      ? s.replace(/^ +/, '')
      : kind === 'RTRIM'
        ? s.replace(/ +$/, '')
        : s.replace(/^ +| +$/g, ''),
  );
}

function stuff(args: readonly Node[], name: string): Node {
  arity(name, args, 4);
  const [text, insert] = [asText(args[0]!), asText(args[3]!)];
  const type = isUnicode(text.type) || isUnicode(insert.type) ? nvarchar(4000) : varchar(8000);
  return strictCall(
    name,
    type,
    [text, coerce(args[1]!, int), coerce(args[2]!, int), insert],
    ([s, start, count, t]) => {
      const [from, n, source] = [start as number, count as number, s as string];
      if (from < 1 || n < 0 || from > source.length) return null;
      return limited(source.slice(0, from - 1) + t + source.slice(from - 1 + n), type);
    },
  );
}

/** STR(x [, length [, decimals]]): right-justified, asterisks when it does not fit. */
function str(args: readonly Node[], name: string): Node {
  arity(name, args, 1, 3);
  const [x, length, decimals] = args as [Node, Node?, Node?];
  const rest = [length, decimals].filter((node) => node !== undefined).map((node) => coerce(node!, int));
  return strictCall(name, varchar(8000), [coerce(x!, float), ...rest], ([value, n, d]) => {
    const width = (n as number) ?? 10;
    const text = (value as number).toFixed(Math.min(16, (d as number) ?? 0));
    return text.length > width ? '*'.repeat(width) : text.padStart(width);
  });
}

export const textFunctions: Readonly<Record<string, FunctionBinder>> = {
  LEN: len,
  DATALENGTH: dataLength,
  UPPER: map((s) => s.toUpperCase()),
  LOWER: map((s) => s.toLowerCase()),
  REVERSE: map((s) => [...s].reverse().join('')),
  LTRIM: trim('LTRIM'),
  RTRIM: trim('RTRIM'),
  TRIM: trim('TRIM'),
  LEFT: cut('LEFT'),
  RIGHT: cut('RIGHT'),
  SUBSTRING: substring,
  CHARINDEX: charIndex,
  REPLACE: replace,
  REPLICATE: replicate,
  CONCAT: concat(false),
  CONCAT_WS: concat(true),
  STUFF: stuff,
  STR: str,
  SPACE: (args, name) => {
    arity(name, args, 1);
    return strictCall(name, varchar(8000), [coerce(args[0]!, int)], ([n]) =>
      (n as number) < 0 ? null : ' '.repeat(Math.min(8000, n as number)),
    );
  },
  CHAR: (args, name) => {
    arity(name, args, 1);
    return strictCall(name, { name: 'char', length: 1 }, [coerce(args[0]!, int)], ([n]) =>
      (n as number) < 0 || (n as number) > 255
        ? null
        : new TextDecoder('windows-1252').decode(Uint8Array.of(n as number)),
    );
  },
  NCHAR: (args, name) => {
    arity(name, args, 1);
    return strictCall(name, { name: 'nchar', length: 1 }, [coerce(args[0]!, int)], ([n]) =>
      (n as number) < 0 || (n as number) > 65_535 ? null : String.fromCharCode(n as number),
    );
  },
  ASCII: (args, name) => {
    arity(name, args, 1);
    return strictCall(name, int, [asText(args[0]!)], ([s]) => {
      const code = (s as string).charCodeAt(0);
      return s === '' ? null : code > 127 ? refuse('ASCII of a character beyond 127') : code;
    });
  },
  UNICODE: (args, name) => {
    arity(name, args, 1);
    return strictCall(name, int, [asText(args[0]!)], ([s]) =>
      s === '' ? null : (s as string).charCodeAt(0),
    );
  },
  QUOTENAME: (args, name) => {
    arity(name, args, 1, 2);
    const texts = args.map(asText);
    return strictCall(name, nvarchar(258), texts, ([s, q]) => {
      const pairs: Record<string, string> = {
        '[': '[]',
        ']': '[]',
        "'": "''",
        '"': '""',
        '(': '()',
        ')': '()',
      };
      const pair = pairs[(q as string) ?? '['];
      return pair && (s as string).length <= 128
        ? pair[0] + (s as string).replaceAll(pair[1]!, pair[1]! + pair[1]!) + pair[1]
        : null;
    });
  },
};
