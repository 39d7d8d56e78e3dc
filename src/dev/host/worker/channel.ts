import { batched } from '../batch.js';
import type { WorkerMessage } from '../protocol.js';

/** The worker's end of the IPC channel. */
const outgoing = batched<WorkerMessage>((messages) => {
  // The channel may be closing, because the host is: then nobody reads any more.
  if (process.connected) process.send?.(messages, undefined, undefined, () => {});
});

export const post = outgoing.push;

/** Resolves when the message, and all before it, were handed to the operating system. */
export function postLast(message: WorkerMessage): Promise<void> {
  outgoing.flush();
  return new Promise((resolve) => {
    if (!process.connected) resolve();
    else process.send?.([message], undefined, undefined, () => resolve());
  });
}
