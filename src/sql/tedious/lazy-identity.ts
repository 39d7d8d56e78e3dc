/**
 * Loads the part of tedious that requires `@azure/identity` without it: most of the files that an import of tedious loads are for that
 * package, each cold start would wait for them, and only a login with a token of Entra ID needs them. The first such login loads them.
 *
 * To be imported before tedious, for its effect. Where tedious is bundled, in use already, or another one than this
 * knows, nothing is put off: its import loads it as ever.
 */
import { createRequire, Module } from 'node:module';

/** Becomes what `load` gives, when anything is asked of it. */
function deferred(load: () => object): object {
  const own = {};
  let isLoaded = false;
  const loaded = () => {
    // Properties of its own, since a proxy must not tell of fixed ones, as exports are, that its target lacks.
    if (!isLoaded) Object.defineProperties(own, Object.getOwnPropertyDescriptors(load()));
    isLoaded = true;
    return own;
  };
  return new Proxy(own, {
    get: (_, key) => Reflect.get(loaded(), key),
    has: (_, key) => Reflect.has(loaded(), key),
    ownKeys: () => Reflect.ownKeys(loaded()),
    getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(loaded(), key),
  });
}

function loadConnection(): void {
  const require = createRequire(import.meta.url);
  // Not tedious itself: the loader of ES modules has prepared it for the import that follows, which would fail after a failure here.
  const connection = require.resolve('tedious/lib/connection');
  const requireOfTedious = createRequire(connection);
  const identity = requireOfTedious.resolve('@azure/identity');
  const { cache } = require;
  if (cache[identity] !== undefined) return;
  const standIn = new Module(identity);
  const remove = () => {
    if (cache[identity] === standIn) delete cache[identity];
  };
  standIn.filename = identity;
  standIn.loaded = true;
  standIn.exports = deferred(() => {
    remove();
    return requireOfTedious('@azure/identity');
  });
  cache[identity] = standIn;
  try {
    require(connection);
  } finally {
    // Whoever else requires it gets the real one.
    remove();
  }
}

try {
  loadConnection();
} catch {
  // What is really wrong with tedious, its import tells.
}
