import type { RowSource } from '../sql/index.js';
import type { ByteSource } from './byte-source.js';
import type { Format } from './formats.js';

/** The rows of a query, passed on as they come: bytes to bytes. */
export function queryBytes(source: RowSource, format: Format): ByteSource {
  const chunks = source.chunks(format.writer);
  return {
    get complete() {
      // Not whether the command is over: chunks of its rows may still wait, and the first of them, taken for the last,
      // would be sent as a whole body with its length.
      return source.exhausted;
    },
    next: () => chunks.next(),
    stop: () => void source.cancel(),
  };
}
