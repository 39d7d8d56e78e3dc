import type { ServerResponse } from 'node:http';

/**
 * Ends a response that has begun so that its client knows it as incomplete; resolves when that is done.
 *
 * Head and chunks may still be corked although `headersSent` is true. Destroyed at once they would be lost, the
 * host would see a connection without any answer, and might send the invocation again: so they are flushed, and
 * leave with the end of this turn of the event loop.
 */
export function breakResponse(response: ServerResponse): Promise<void> {
  response.flushHeaders();
  return new Promise((resolve) => {
    setImmediate(() => {
      // Without chunks the end of the connection is the end of the body: only a reset tells the difference.
      if (response.chunkedEncoding) response.destroy();
      else response.socket?.resetAndDestroy();
      resolve();
    });
  });
}
