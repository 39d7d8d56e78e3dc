/**
 * One press of Ctrl-C reaches this process twice when npm runs it: from the terminal, as a member of its group,
 * and from npm, which passes on the signals it gets. So a second signal counts only after this many ms.
 */
const sameSignalMs = 500;

/**
 * Aborts at the first SIGINT or SIGTERM; a second one ends the process at once, with the shell's code for it.
 * Children are told nothing here: they end when the IPC channel to this process closes.
 */
export function stopSignal(onStop: (name: NodeJS.Signals) => void): AbortSignal {
  const controller = new AbortController();
  let first = 0;
  const handle = (name: NodeJS.Signals) => {
    if (first === 0) {
      first = performance.now();
      onStop(name);
      controller.abort();
    } else if (performance.now() - first > sameSignalMs) {
      process.exit(name === 'SIGINT' ? 130 : 143);
    }
  };
  process.on('SIGINT', handle);
  process.on('SIGTERM', handle);
  return controller.signal;
}

/**
 * For child processes: a terminal sends its signals to the whole group, but when to stop is the parent's word,
 * so that running requests can end. The channel closes when the parent dies, however it dies.
 */
export function obeyParent(stop: () => Promise<void> | void): void {
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => {});
  process.once('disconnect', () => process.exit(0));
  process.on('message', async (message) => {
    if (message !== 'stop') return;
    await stop();
    process.exit(0);
  });
}
