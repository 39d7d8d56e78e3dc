/** Hooks that give the tests of a file a proxy with handlers of streams, and what they log. */
import type { HttpHandler } from '@azure/functions';
import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import { closeSqlStreams } from '../../src/index.js';
import { FunctionsProxy } from './functions-proxy.js';

/** @param handlers called once the hooks before have run: those of a server, whose port a setting has */
export function proxied(handlers: () => Record<string, HttpHandler>): { readonly proxy: FunctionsProxy } {
  let proxy: FunctionsProxy;
  beforeAll(async () => {
    proxy = await FunctionsProxy.start(handlers());
  });
  beforeEach(() => {
    for (const level of ['info', 'warn', 'error'] as const)
      vi.spyOn(console, level).mockClear().mockReturnValue();
    proxy.logs.length = 0;
  });
  afterAll(() => closeSqlStreams(0));
  return {
    get proxy(): FunctionsProxy {
      return proxy;
    },
  };
}
