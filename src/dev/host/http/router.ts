import type { RouteTemplate, RouteValues } from './route-template.js';

export interface Route<T> {
  readonly template: RouteTemplate;
  /** Upper-case. */
  readonly methods: ReadonlySet<string>;
  readonly target: T;
}

export interface RouteMatch<T> {
  readonly target: T;
  readonly values: RouteValues;
}

/** Finds the route for a method and path; the most specific template wins, then the one that was registered first. */
export class Router<T> {
  readonly #routes: readonly Route<T>[];

  constructor(routes: readonly Route<T>[]) {
    this.#routes = [...routes].sort((a, b) => comparePrecedence(a.template, b.template));
  }

  /** @param path from the request target, without the query */
  match(method: string, path: string): RouteMatch<T> | undefined {
    const segments = path.split('/');
    // A leading slash always, a trailing one perhaps: both give an empty segment.
    if (segments[0] === '') segments.shift();
    if (segments.at(-1) === '') segments.pop();
    for (const { template, methods, target } of this.#routes) {
      if (!methods.has(method)) continue;
      const values = template.match(segments);
      if (values) return { target, values };
    }
    return undefined;
  }
}

function comparePrecedence(a: RouteTemplate, b: RouteTemplate): number {
  const length = Math.max(a.precedence.length, b.precedence.length);
  for (let index = 0; index < length; index++) {
    // A template that ends is more specific than one that goes on with something that may be missing.
    const difference = (a.precedence[index] ?? 0) - (b.precedence[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
