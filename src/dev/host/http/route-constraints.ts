/**
 * The inline constraints of ASP.NET Core routing (learn.microsoft.com/aspnet/core/fundamentals/routing#route-constraints),
 * as tests of the text in the path.
 */
export type RouteConstraint = (value: string) => boolean;

/** Undefined for a constraint that is not known, or whose argument makes no sense. */
export function routeConstraint(name: string, argument: string | undefined): RouteConstraint | undefined {
  if (argument === undefined) return simple[name.toLowerCase()];
  const make = withArgument[name.toLowerCase()];
  return make?.(argument);
}

const integer = /^[+-]?\d+$/;
const guid = /^(?:[\da-f]{32}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i;
const bracedGuid = /^(?:\{(.*)\}|\((.*)\))$/;
const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
const double = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|Infinity|NaN)$/i;

const isInteger = (value: string, min: bigint, max: bigint) => {
  if (!integer.test(value)) return false;
  const number = BigInt(value.replace(/^\+/, ''));
  return number >= min && number <= max;
};
const isLong = (value: string) => isInteger(value, -(2n ** 63n), 2n ** 63n - 1n);

const simple: Record<string, RouteConstraint> = {
  int: (value) => isInteger(value, -2_147_483_648n, 2_147_483_647n),
  long: isLong,
  bool: (value) => /^(?:true|false)$/i.test(value),
  decimal: (value) => decimal.test(value),
  double: (value) => double.test(value),
  float: (value) => double.test(value),
  datetime: (value) => /\d/.test(value) && !Number.isNaN(Date.parse(value)),
  guid: (value) => guid.test(value.replace(bracedGuid, '$1$2')),
  alpha: (value) => /^[a-z]*$/i.test(value),
  required: (value) => value !== '',
};

const wholeNumber = /^\d+$/;
const pair = (argument: string, test: RegExp) => {
  const parts = argument.split(',').map((part) => part.trim());
  return parts.every((part) => test.test(part)) ? parts : [];
};

const withArgument: Record<string, (argument: string) => RouteConstraint | undefined> = {
  minlength: (argument) =>
    wholeNumber.test(argument) ? (value) => value.length >= Number(argument) : undefined,
  maxlength: (argument) =>
    wholeNumber.test(argument) ? (value) => value.length <= Number(argument) : undefined,
  length: (argument) => {
    const [min, max = min] = pair(argument, wholeNumber).map(Number);
    if (min === undefined || max === undefined) return undefined;
    return (value) => value.length >= min && value.length <= max;
  },
  min: (argument) =>
    integer.test(argument) ? (value) => isLong(value) && BigInt(value) >= BigInt(argument) : undefined,
  max: (argument) =>
    integer.test(argument) ? (value) => isLong(value) && BigInt(value) <= BigInt(argument) : undefined,
  range: (argument) => {
    const [min, max] = pair(argument, integer).map(BigInt);
    if (min === undefined || max === undefined) return undefined;
    return (value) => isLong(value) && BigInt(value) >= min && BigInt(value) <= max;
  },
  regex: (argument) => {
    try {
      // Braces are doubled in a template, where single ones delimit parameters.
      const pattern = new RegExp(argument.replaceAll('{{', '{').replaceAll('}}', '}'), 'i');
      return (value) => pattern.test(value);
    } catch {
      return undefined;
    }
  },
};
