import type { ParameterValue } from '../types.js';
import { instantOf, parseInstant, toUtc } from './instants.js';
import * as wire from './wire.js';

/** Why a value can't be sent as its type; the caller knows the name of the parameter. */
export class WrongValue extends Error {}

interface TypeText {
  readonly name: string;
  /** `max`, or the numbers in the parentheses. */
  readonly max: boolean;
  readonly numbers: readonly number[];
}

type Encode = (value: Exclude<ParameterValue, undefined>, type: TypeText) => wire.WireValue;

const longestText = 4_000;
const longestBinary = 8_000;

function wrong(reason: string): never {
  throw new WrongValue(reason);
}

/** `decimal ( 19 , 4 )` */
export function parseType(text: string): TypeText {
  const match = /^\s*(\w+)\s*(?:\(\s*(max|\d+(?:\s*,\s*\d+)?)\s*\))?\s*$/i.exec(text);
  if (match === null) wrong(`has the type '${text}', which can't be read`);
  const [, name = '', inside = ''] = match;
  const max = inside.toLowerCase() === 'max';
  const numbers = max || inside === '' ? [] : inside.split(',').map(Number);
  return { name: name.toLowerCase(), max, numbers };
}

function wholeNumber(min: bigint, max: bigint, bytes: 1 | 2 | 4 | 8): Encode {
  return (value, { name }) => {
    if (value === null) return wire.integer(name, null, bytes);
    const isWhole =
      typeof value === 'bigint' ||
      (typeof value === 'number' && Number.isSafeInteger(value)) ||
      (typeof value === 'string' && /^[+-]?\d+$/.test(value.trim()));
    if (!isWhole) wrong(`is no whole number, which ${name} needs`);
    const whole = BigInt(
      typeof value === 'string' ? value.trim().replace(/^\+/, '') : (value as number | bigint),
    );
    if (whole < min || whole > max) wrong(`is outside ${name}: ${min} to ${max}`);
    return wire.integer(name, whole, bytes);
  };
}

function digitsOf(value: ParameterValue, name: string): { unscaled: bigint; digits: number; scale: number } {
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value;
  const match = typeof text === 'string' ? /^\s*([+-]?)(\d*)(?:\.(\d*))?\s*$/.exec(text) : null;
  if (match === null || (match[2] === '' && !match[3])) {
    return wrong(`is no decimal number, which ${name} needs (exact ones are text: '12.50')`);
  }
  const [, sign, before = '', after = ''] = match;
  const unscaled = BigInt(`${before}${after}` || '0');
  const digits = Math.max(1, before.replace(/^0+/, '').length + after.length);
  return { unscaled: sign === '-' ? -unscaled : unscaled, digits, scale: after.length };
}

function scaledTo(value: ParameterValue, name: string, scale: number): bigint {
  const number = digitsOf(value, name);
  if (number.scale <= scale) return number.unscaled * 10n ** BigInt(scale - number.scale);
  const factor = 10n ** BigInt(number.scale - scale);
  if (number.unscaled % factor !== 0n)
    wrong(`has more than ${scale} digits after the point, and would be rounded`);
  return number.unscaled / factor;
}

const decimal: Encode = (value, { name, numbers }) => {
  const own = value === null ? { digits: 18, scale: 0 } : digitsOf(value, name);
  const [precision = Math.max(own.digits, own.scale), scale = numbers.length === 0 ? own.scale : 0] = numbers;
  if (precision < 1 || precision > 38 || scale > precision)
    wrong(`needs decimal(${precision},${scale}), which does not exist`);
  const declaration = `decimal(${precision},${scale})`;
  if (value === null) return wire.decimal(declaration, null, precision, scale);
  const unscaled = scaledTo(value, declaration, scale);
  if ((unscaled < 0n ? -unscaled : unscaled) >= 10n ** BigInt(precision))
    wrong(`has too many digits for ${declaration}`);
  return wire.decimal(declaration, unscaled, precision, scale);
};

/** Sent as a decimal(19,4), which the server turns into money exactly. */
function money(most: bigint): Encode {
  return (value, { name }) => {
    if (value === null) return wire.decimal(name, null, 19, 4);
    const unscaled = scaledTo(value, name, 4);
    if (unscaled < -most - 1n || unscaled > most) wrong(`is outside ${name}`);
    return wire.decimal(name, unscaled, 19, 4);
  };
}

function float(bytes: 4 | 8): Encode {
  return (value, { name }) => {
    if (value === null) return wire.float(name, null, bytes);
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    const fits = typeof number === 'number' && Number.isFinite(bytes === 4 ? Math.fround(number) : number);
    if (!fits) wrong(`is no number that ${name} can hold`);
    return wire.float(name, number as number, bytes);
  };
}

const bit: Encode = (value, { name }) => {
  if (value === null || typeof value === 'boolean') return wire.bit(value);
  const text = String(value).toLowerCase();
  if (text === '1' || text === 'true') return wire.bit(true);
  if (text === '0' || text === 'false') return wire.bit(false);
  return wrong(`is no ${name}: use true or false`);
};

function characters(byDefault: 'sized' | 'max', most: number): Encode {
  return (value, { name, max, numbers }) => {
    if (value !== null && typeof value !== 'string') wrong(`is no text, which ${name} needs`);
    const [size = most] = numbers;
    if (size < 1 || size > most) wrong(`has the type ${name}(${size}): use 1 to ${most}, or max`);
    if (numbers.length > 0 && value !== null && value.length > size) wrong(`is longer than ${name}(${size})`);
    const isMax =
      max || byDefault === 'max' || (numbers.length === 0 && value !== null && value.length > longestText);
    const declaration = byDefault === 'max' ? name : `${name}(${isMax ? 'max' : size})`;
    // varchar(8000) in UTF-16 is more than fits a short value.
    return wire.text(declaration, value, isMax || (value !== null && value.length > longestText));
  };
}

function bytes(fixed: 'varbinary' | 'image'): Encode {
  return (value, { name, max, numbers }) => {
    if (value !== null && !(value instanceof Uint8Array)) wrong(`is no Buffer, which ${name} needs`);
    const [size = longestBinary] = numbers;
    if (size < 1 || size > longestBinary)
      wrong(`has the type ${name}(${size}): use 1 to ${longestBinary}, or max`);
    if (numbers.length > 0 && value !== null && value.length > size) wrong(`is longer than ${name}(${size})`);
    const isMax =
      max || fixed === 'image' || (numbers.length === 0 && value !== null && value.length > longestBinary);
    return wire.binary(fixed === 'image' ? name : `${name}(${isMax ? 'max' : size})`, value, isMax);
  };
}

/** datetime and smalldatetime are sent as datetime2(7), and rounded by the server as it rounds. */
function instant(kind: 'date' | 'time' | 'datetime2' | 'datetimeoffset'): Encode {
  return (value, { name, numbers }) => {
    const [scale] = numbers;
    if (scale !== undefined && scale > 7) wrong(`has the type ${name}(${scale}): use 0 to 7`);
    const declaration = scale === undefined ? name : `${name}(${scale})`;
    if (value === null) return wire.instant(declaration, kind, null);
    const parsed =
      value instanceof Date
        ? instantOf(value)
        : typeof value === 'string'
          ? parseInstant(value.trim())
          : undefined;
    const needsDay = kind !== 'time';
    if (parsed === undefined || parsed.hasDay !== (needsDay || value instanceof Date)) {
      wrong(
        `is no ${name}: write ${kind === 'time' ? '10:20:30' : kind === 'date' ? '2026-11-30' : '2026-11-30T10:20:30'}`,
      );
    }
    if (kind === 'date' && parsed.ticks !== 0 && !(value instanceof Date))
      wrong(`has a time, which ${name} can't hold`);
    if (kind !== 'datetimeoffset') {
      if (parsed.offset !== 0) wrong(`has an offset, which ${name} can't hold`);
      return wire.instant(declaration, kind, parsed);
    }
    if (parsed.zone === undefined) wrong(`has no offset, which ${name} needs: add Z or +07:00`);
    return wire.instant(declaration, kind, toUtc(parsed) ?? wrong(`is outside the years 1 to 9999 in UTC`));
  };
}

const guid: Encode = (value, { name }) => {
  if (value === null) return wire.guid(null);
  const isGuid = typeof value === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
  return isGuid ? wire.guid(value) : wrong(`is no ${name}`);
};

export const encoders: Record<string, Encode> = {
  bit,
  tinyint: wholeNumber(0n, 255n, 1),
  smallint: wholeNumber(-(2n ** 15n), 2n ** 15n - 1n, 2),
  int: wholeNumber(-(2n ** 31n), 2n ** 31n - 1n, 4),
  bigint: wholeNumber(-(2n ** 63n), 2n ** 63n - 1n, 8),
  decimal,
  numeric: decimal,
  money: money(2n ** 63n - 1n),
  smallmoney: money(2n ** 31n - 1n),
  real: float(4),
  float: float(8),
  char: characters('sized', 8_000),
  varchar: characters('sized', 8_000),
  nchar: characters('sized', 4_000),
  nvarchar: characters('sized', 4_000),
  text: characters('max', 8_000),
  ntext: characters('max', 8_000),
  xml: characters('max', 8_000),
  binary: bytes('varbinary'),
  varbinary: bytes('varbinary'),
  image: bytes('image'),
  uniqueidentifier: guid,
  date: instant('date'),
  time: instant('time'),
  smalldatetime: instant('datetime2'),
  datetime: instant('datetime2'),
  datetime2: instant('datetime2'),
  datetimeoffset: instant('datetimeoffset'),
};
