import type { EngineSession } from '../sql-engine.js';

/** A session that does some things its own way and hands the rest to the one behind it. */
export function wrapSession(inner: EngineSession, own: Partial<EngineSession>): EngineSession {
  return {
    get id() {
      return inner.id;
    },
    get database() {
      return inner.database;
    },
    batch: (...request) => inner.batch(...request),
    execute: (...request) => inner.execute(...request),
    procedure: (...request) => inner.procedure(...request),
    transaction: (...request) => inner.transaction(...request),
    reset: (keepTransaction) => inner.reset(keepTransaction),
    close: () => inner.close(),
    ...own,
  };
}
