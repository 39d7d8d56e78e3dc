import { SqlStreamError } from '../errors.js';
import type { BindingData } from '../types.js';
import type { Binding } from './binding.js';
import { compileTemplate, resolveTemplate, type Template } from './expressions.js';
import { checkNames } from './names.js';
import { bindValue } from './values.js';

/** `value` is undefined for the word null in the template, which is NULL. */
interface TemplateParameter {
  readonly name: string;
  readonly value: Template | undefined;
}

function fail(pair: string, reason: string): never {
  throw new SqlStreamError(
    'EOptions',
    `The parameters have '${pair}', which ${reason}: write @name1=value1,@name2=value2.`,
    { phase: 'setup', subject: pair },
  );
}

/** Cuts at a comma or the like, but not within an expression or a setting. */
function split(text: string, at: ',' | '='): string[] {
  const pieces = text.match(/\{[^{}]*\}|%[^%]*%|[,=]|[^{%,=]+|[{%]/g) ?? [];
  const result = [''];
  for (const piece of pieces) {
    if (piece === at) result.push('');
    else result[result.length - 1] += piece;
  }
  return result;
}

/**
 * Reads the binding's `parameters`: `@id={id},@name={Query.name},@kind=null`. It is split before any value is put in, so a value may hold commas and
 * equals signs. Only the word null (in any letter case) of the template itself is NULL; a request that says "null" means that text.
 *
 * @throws SqlStreamError `EOptions`
 */
export function parseParameters(text: string, environment: NodeJS.ProcessEnv): TemplateParameter[] {
  if (text.trim() === '') return [];
  const parameters = split(text, ',').map((pair) => {
    const [name = '', value, ...more] = split(pair, '=');
    if (value === undefined) fail(pair, 'has no =');
    if (more.length > 0) fail(pair, 'has more than one =');
    if (!name.trim().startsWith('@')) fail(pair, 'does not begin with @');
    const isNull = value.trim().toLowerCase() === 'null';
    return { name: name.trim().slice(1), value: isNull ? undefined : compileTemplate(value, environment) };
  });
  checkNames(
    parameters.map((parameter) => parameter.name),
    'EOptions',
  );
  return parameters;
}

/** All values are text, as the binding's are. */
export function bindTemplate(parameters: readonly TemplateParameter[], data: BindingData): Binding[] {
  return parameters.map(({ name, value }) =>
    bindValue(name, value === undefined ? null : resolveTemplate(value, data)),
  );
}
