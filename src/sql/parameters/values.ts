import { SqlStreamError } from '../errors.js';
import type { ParameterRecord, ParameterValue, TypedParameter } from '../types.js';
import { type Binding, bindingOf } from './binding.js';
import { checkNames } from './names.js';
import { encoders, parseType, WrongValue } from './types.js';

/** The type that a bare value is sent with. One length for all texts keeps one plan in the server's cache. */
function typeFor(value: ParameterValue): string {
  switch (typeof value) {
    case 'boolean':
      return 'bit';
    case 'bigint':
      return value >= -(2n ** 63n) && value < 2n ** 63n ? 'bigint' : 'decimal(38,0)';
    case 'number':
      if (!Number.isSafeInteger(value)) return 'float';
      return value >= -2_147_483_648 && value <= 2_147_483_647 ? 'int' : 'bigint';
    case 'string':
      return 'nvarchar';
    default:
      if (value === null) return 'nvarchar';
      if (value instanceof Date) return 'datetime2(7)';
      if (value instanceof Uint8Array) return 'varbinary';
      throw new WrongValue(
        'has a type that can not be sent: use text, numbers, booleans, Date, Buffer or null',
      );
  }
}

function isTyped(value: unknown): value is TypedParameter {
  const isPlain =
    typeof value === 'object' && value !== null && !(value instanceof Date) && !(value instanceof Uint8Array);
  return isPlain && 'type' in value && 'value' in value && typeof value.type === 'string';
}

/** @throws SqlStreamError `EParameter`; its message has the name and never the value */
export function bindValue(name: string, given: ParameterValue | TypedParameter): Binding {
  try {
    const value = isTyped(given) ? given.value : given;
    if (value === undefined) throw new WrongValue('is undefined: use null for NULL');
    const type = parseType(isTyped(given) ? given.type : typeFor(value));
    const encode = encoders[type.name];
    if (encode === undefined) throw new WrongValue(`has the type '${type.name}', which is not known`);
    return bindingOf(name, encode(value, type));
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    throw new SqlStreamError('EParameter', `@${name} ${error.message}.`, {
      phase: 'parameters',
      subject: name,
    });
  }
}

/** @throws SqlStreamError `EParameter` */
export function bindValues(record: ParameterRecord): Binding[] {
  const entries = Object.entries(record).map(([name, value]) => [name.replace(/^@/, ''), value] as const);
  checkNames(
    entries.map(([name]) => name),
    'EParameter',
  );
  return entries.map(([name, value]) => bindValue(name, value));
}
