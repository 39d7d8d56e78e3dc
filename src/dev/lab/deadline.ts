import { setMaxListeners } from 'node:events';

/**
 * A signal that aborts after a time, or when another one does. (`AbortSignal.any` over `AbortSignal.timeout` can lose
 * the timeout to the garbage collector on Node 20, and then never aborts.)
 */
export function deadline(ms: number, other?: AbortSignal): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  // Each request under way listens.
  setMaxListeners(0, controller.signal);
  const timer = setTimeout(() => controller.abort(new Error(`Not within ${ms} ms.`)), ms);
  const follow = () => controller.abort(other?.reason);
  if (other?.aborted) follow();
  other?.addEventListener('abort', follow, { once: true });
  const release = () => {
    clearTimeout(timer);
    other?.removeEventListener('abort', follow);
  };
  return { signal: controller.signal, release };
}
