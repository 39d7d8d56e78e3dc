import type { RowSource } from '../sql/index.js';
import type { ByteSource } from './byte-source.js';
import type { Format } from './formats.js';

/** The rows of a query, passed on as they come: bytes to bytes. */
export function queryBytes(source: RowSource, format: Format): ByteSource {
  const chunks = source.chunks(format.writer);
  return {
    get complete() {
      return source.stats.ended === 'complete';
    },
    next: () => chunks.next(),
    stop: () => void source.cancel(),
  };
}
