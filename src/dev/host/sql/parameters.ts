export interface SqlParameter {
  /** Without the leading @. */
  readonly name: string;
  readonly value: string | null;
}

export class ParameterError extends Error {
  override readonly name = 'ParameterError';
}

/**
 * Parameters by the extension's own rules (SqlBindingUtilities.ParseParameters): the text, in which the values of the request already stand,
 * is split at commas and each part at equals signs. So a value with one of them makes it malformed, or adds a parameter; the word null, in any case,
 * is NULL; everything else is a string.
 *
 * @throws ParameterError
 */
export function parseParameters(text: string): SqlParameter[] {
  return text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', value, ...more] = part.split('=');
      if (value === undefined || more.length > 0) {
        throw new ParameterError(
          'The parameters of the sql binding are malformed: "@name=value" parts, separated by commas, were expected. ' +
            'A value of the request that holds , or = does this; sqlStream() takes such values.',
        );
      }
      if (!name.startsWith('@')) {
        throw new ParameterError(
          `The parameters of the sql binding are malformed: the name '${name}' must begin with @.`,
        );
      }
      return { name: name.slice(1), value: value.toLowerCase() === 'null' ? null : value };
    });
}
