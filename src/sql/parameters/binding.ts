import type { Request } from 'tedious';
import type { WireValue } from './wire.js';

type TediousType = Parameters<Request['addParameter']>[1];

/** A parameter as tedious takes it. */
export interface Binding {
  /** Without the `@`. */
  readonly name: string;
  readonly type: TediousType;
  readonly value: WireValue;
}

interface ParameterData {
  readonly value: WireValue;
  readonly collation?: { toBuffer(): Buffer };
}

/** The type that tedious is given for every parameter: what it writes is encoded already. */
const encoded = {
  id: 0,
  type: 'ENCODED',
  name: 'Encoded',
  declaration: ({ value }: ParameterData) => value.declaration,
  validate: (value: WireValue) => value,
  generateTypeInfo({ value, collation }: ParameterData) {
    if (value.collationAt !== undefined && collation !== undefined) {
      collation.toBuffer().copy(value.typeInfo, value.collationAt);
    }
    return value.typeInfo;
  },
  generateParameterLength: ({ value }: ParameterData) => value.bytes,
  *generateParameterData() {},
} as unknown as TediousType;

export function bindingOf(name: string, value: WireValue): Binding {
  return { name, type: encoded, value };
}
