import type { IncomingMessage } from 'node:http';

/** The real host's default, FUNCTIONS_REQUEST_BODY_SIZE_LIMIT. */
export const maxBodyBytes = 104_857_600;

/** @returns undefined when it is longer than `limit`. Rejects when the client leaves amid it. */
export function readBody(incoming: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    incoming.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) {
        chunks.length = 0;
        resolve(undefined);
      } else chunks.push(chunk);
    });
    incoming.once('end', () => resolve(Buffer.concat(chunks)));
    incoming.once('error', reject);
    incoming.once('close', () => reject(new Error('The client left.')));
  });
}
