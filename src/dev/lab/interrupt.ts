/** Aborts at the first SIGINT or SIGTERM; a second one, later than npm's copy of the first, ends the process at once. */
export function interruption(): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  let first = 0;
  const handle = (name: NodeJS.Signals) => {
    if (first === 0) {
      first = performance.now();
      controller.abort(new Error('Interrupted.'));
    } else if (performance.now() - first > 500) process.exit(name === 'SIGINT' ? 130 : 143);
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return {
    signal: controller.signal,
    release() {
      process.off('SIGINT', handle);
      process.off('SIGTERM', handle);
    },
  };
}
