/**
 * The event loop's share. libuv hands over up to 2 MiB of a socket in one turn of the loop; turned into rows at once, that holds everything else up for 100 ms. So
 * readers of rows ask here before they go on, and all readers of a process share one turn's budget.
 */
const budgetMs = 6;

let startedAt = 0;
let isOpen = false;

/** Undefined while there is time left in this turn; else a promise for the next one. */
export function nextTurn(): Promise<void> | undefined {
  if (!isOpen) {
    isOpen = true;
    startedAt = performance.now();
    setImmediate(() => {
      isOpen = false;
    });
    return undefined;
  }
  if (performance.now() - startedAt < budgetMs) return undefined;
  return new Promise((resolve) => setImmediate(resolve));
}
