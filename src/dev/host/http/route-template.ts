import { type RouteConstraint, routeConstraint } from './route-constraints.js';

export class RouteError extends Error {
  override readonly name = 'RouteError';
}

interface Parameter {
  readonly name: string;
  readonly optional: boolean;
  readonly catchAll: boolean;
  readonly byDefault: string | undefined;
  readonly constraints: readonly RouteConstraint[];
}

/** A segment is a literal, one parameter, or both mixed (`{file}.{type}`). */
interface Segment {
  /** Lower-case; undefined unless the segment is a literal. */
  readonly literal: string | undefined;
  readonly parameters: readonly Parameter[];
  /** For a mixed segment; its groups are the parameters. */
  readonly pattern: RegExp | undefined;
  /** Literal before mixed, before constrained, before plain, before catch-all. */
  readonly precedence: number;
}

export type RouteValues = Record<string, string>;

export interface RouteTemplate {
  readonly text: string;
  /** Sorts so that of two templates which both match, the more specific one is first. */
  readonly precedence: readonly number[];
  /** Path segments, still percent-encoded. Undefined: no match. */
  match(segments: readonly string[]): RouteValues | undefined;
}

/**
 * The route templates of Azure Functions, which are those of ASP.NET Core.
 *
 * @param text without slashes at its ends, the prefix included; empty for the root
 * @throws RouteError
 */
export function parseRoute(text: string): RouteTemplate {
  const segments = text === '' ? [] : splitSegments(text).map(parseSegment);
  checkOrder(segments);
  const required = segments.filter(({ parameters, literal }) => !isOmittable(parameters, literal)).length;
  const last = segments.at(-1)?.parameters.at(-1);
  const longest = last?.catchAll ? Number.POSITIVE_INFINITY : segments.length;
  return {
    text,
    precedence: segments.map((segment) => segment.precedence),
    match(path) {
      if (path.length < required || path.length > longest) return undefined;
      const values: RouteValues = {};
      for (const [index, segment] of segments.entries()) {
        const isLast = index === segments.length - 1;
        const given =
          isLast && last?.catchAll && segment.pattern === undefined
            ? path.slice(index).map(decode).join('/')
            : path[index];
        if (!matchSegment(segment, given, values)) return undefined;
      }
      return values;
    },
  };
}

/** A slash within a parameter belongs to it: `{id:regex(^a/b$)}`. */
function splitSegments(text: string): string[] {
  const segments = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '{') depth++;
    if (character === '}') depth--;
    if (character === '/' && depth === 0) segments.push('');
    else segments[segments.length - 1] += character;
  }
  if (depth !== 0) throw new RouteError('its braces { } do not match');
  if (segments.includes('')) throw new RouteError('it has an empty segment (two slashes in a row)');
  return segments;
}

const parameterToken = /\{((?:[^{}]|\{\{|\}\})*)\}/g;

function parseSegment(text: string): Segment {
  const parameters: Parameter[] = [];
  let pattern = '^';
  let literal = '';
  let at = 0;
  for (const match of text.matchAll(parameterToken)) {
    const before = text.slice(at, match.index);
    const parameter = parseParameter(match[1] ?? '');
    // `{file}.{type?}`: the dot may be missing together with the optional parameter.
    pattern += parameter.optional && before === '.' ? '(?:\\.([^/]+?))?' : `${escapeText(before)}([^/]+?)`;
    if (parameters.length > 0 && before === '') throw new RouteError('two parameters stand side by side');
    literal += before;
    parameters.push(parameter);
    at = match.index + match[0].length;
  }
  const rest = text.slice(at);
  literal += rest;
  if (/[{}]/.test(literal)) throw new RouteError('its braces { } do not match');
  if (parameters.length === 0) {
    return { literal: decode(text).toLowerCase(), parameters, pattern: undefined, precedence: 1 };
  }
  const isMixed = literal !== '';
  const [first] = parameters;
  const precedence = isMixed ? 2 : (first?.constraints.length ? 3 : 4) + (first?.catchAll ? 2 : 0);
  if (isMixed && parameters.some(({ catchAll }) => catchAll)) {
    throw new RouteError('a {*catch-all} must be a whole segment');
  }
  return {
    literal: undefined,
    parameters,
    pattern: isMixed ? new RegExp(`${pattern}${escapeText(rest)}$`, 'i') : undefined,
    precedence,
  };
}

function parseParameter(text: string): Parameter {
  const match = /^(\*{0,2})([^:=?*/]+)((?::[^:(=?]+(?:\((?:[^()]|\([^()]*\))*\))?)*)(?:=(.*)|(\?))?$/.exec(
    text,
  );
  const [, stars = '', name = '', constraints = '', byDefault, optional] = match ?? [];
  if (name === '') throw new RouteError(`{${text}} is no parameter`);
  return {
    name,
    optional: optional === '?',
    catchAll: stars !== '',
    byDefault,
    constraints: [...constraints.matchAll(/:([^:(]+)(?:\(((?:[^()]|\([^()]*\))*)\))?/g)].map((one) => {
      const constraint = routeConstraint(one[1] ?? '', one[2]);
      if (constraint) return constraint;
      throw new RouteError(`the constraint '${one[0].slice(1)}' of {${name}} is not known`);
    }),
  };
}

function checkOrder(segments: readonly Segment[]): void {
  const names = segments.flatMap(({ parameters }) => parameters.map(({ name }) => name.toLowerCase()));
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new RouteError(`the parameter {${repeated}} stands in it twice`);
  for (const [index, { parameters }] of segments.entries()) {
    if (index === segments.length - 1) continue;
    if (parameters.some(({ catchAll }) => catchAll)) throw new RouteError('a {*catch-all} must come last');
    if (parameters.some(({ optional }) => optional)) {
      throw new RouteError('an optional parameter must come last');
    }
  }
}

function isOmittable(parameters: readonly Parameter[], literal: string | undefined): boolean {
  const [only] = parameters;
  if (literal !== undefined || parameters.length !== 1 || only === undefined) return false;
  return only.optional || only.catchAll || only.byDefault !== undefined;
}

function matchSegment(segment: Segment, given: string | undefined, values: RouteValues): boolean {
  if (segment.literal !== undefined) {
    if (given === undefined) return false;
    return given.toLowerCase() === segment.literal || decode(given).toLowerCase() === segment.literal;
  }
  if (segment.pattern) {
    const match = given === undefined ? null : segment.pattern.exec(decode(given));
    if (!match) return false;
    return segment.parameters.every((parameter, index) => accept(parameter, match[index + 1], values));
  }
  const [parameter] = segment.parameters as [Parameter];
  return accept(parameter, given === undefined || parameter.catchAll ? given : decode(given), values);
}

function accept(parameter: Parameter, given: string | undefined, values: RouteValues): boolean {
  if (given === undefined || given === '') {
    if (parameter.byDefault !== undefined) values[parameter.name] = parameter.byDefault;
    return parameter.optional || parameter.catchAll || parameter.byDefault !== undefined;
  }
  if (!parameter.constraints.every((constraint) => constraint(given))) return false;
  values[parameter.name] = given;
  return true;
}

/** As ASP.NET Core decodes a path: an encoded slash stays encoded, and what can't be decoded stays as it is. */
function decode(segment: string): string {
  if (!segment.includes('%')) return segment;
  return segment.replace(/(?:%[\da-f]{2})+/gi, (run) => {
    try {
      return run
        .split(/(%2f)/i)
        .map((part) => (/^%2f$/i.test(part) ? part : decodeURIComponent(part)))
        .join('');
    } catch {
      return run;
    }
  });
}

function escapeText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
