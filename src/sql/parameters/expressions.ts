import { randomUUID } from 'node:crypto';
import { SqlStreamError } from '../errors.js';
import type { BindingData } from '../types.js';

type Part = { readonly text: string } | { readonly expression: string };

/** Text with binding expressions, read once and resolved for each request. */
export interface Template {
  readonly parts: readonly Part[];
}

function setupError(message: string, subject: string): SqlStreamError {
  return new SqlStreamError('EOptions', message, { phase: 'setup', subject });
}

function withSettings(text: string, environment: NodeJS.ProcessEnv): string {
  return text.replace(/%([^%]*)%?/g, (found, name: string) => {
    if (!found.endsWith('%') || found.length === 1) {
      throw setupError(`The % in '${text}' has no closing %: settings are written %name%.`, text);
    }
    const value = environment[name];
    if (value === undefined) throw setupError(`The app setting '${name}' of %${name}% is missing.`, name);
    return value;
  });
}

/**
 * Reads `{route}`, `{Query.name}`, `{Headers.name}`, `{rand-guid}`, `{sys.randguid}`, `{sys.utcnow}` and `{DateTime}`, and puts app settings in for `%name%`.
 *
 * @throws SqlStreamError `EOptions` for a setting that is missing or a brace without its partner
 */
export function compileTemplate(text: string, environment: NodeJS.ProcessEnv = process.env): Template {
  const parts: Part[] = [];
  for (const piece of text.split(/(\{[^{}]*\})/)) {
    if (/^\{[^{}]*\}$/.test(piece)) {
      const expression = piece.slice(1, -1).trim();
      if (expression === '') throw setupError(`'${text}' has an empty binding expression {}.`, text);
      parts.push({ expression });
    } else if (/[{}]/.test(piece)) throw setupError(`'${text}' has a brace without its partner.`, text);
    else if (piece !== '') parts.push({ text: withSettings(piece, environment) });
  }
  return { parts };
}

function only(expression: string, name: string, pairs: Iterable<[string, string]>): string {
  const wanted = name.toLowerCase();
  const found = [...pairs].filter(([key]) => key.toLowerCase() === wanted);
  if (found.length === 1) return found[0]![1];
  const problem = found.length === 0 ? 'is missing in the request' : 'is given more than once';
  throw new SqlStreamError('EParameter', `{${expression}} ${problem}.`, {
    phase: 'parameters',
    subject: expression,
  });
}

const generated: Record<string, () => string> = {
  'rand-guid': randomUUID,
  'sys.randguid': randomUUID,
  'sys.utcnow': () => new Date().toISOString(),
  datetime: () => new Date().toISOString(),
};

/**
 * The value of one expression. Names are found whatever their letter case, as in the Functions host.
 *
 * @throws SqlStreamError `EParameter`; `subject` is the expression
 */
export function resolveExpression(expression: string, data: BindingData): string {
  const lower = expression.toLowerCase();
  if (lower.startsWith('query.')) return only(expression, expression.slice(6), data.query);
  if (lower.startsWith('headers.')) return only(expression, expression.slice(8), data.headers);
  return generated[lower]?.() ?? only(expression, expression, Object.entries(data.params));
}

/** @throws SqlStreamError `EParameter` for an expression that the request has no value for */
export function resolveTemplate(template: Template, data: BindingData): string {
  return template.parts
    .map((part) => ('text' in part ? part.text : resolveExpression(part.expression, data)))
    .join('');
}
