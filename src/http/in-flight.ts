/** Response bodies that are on their way to a client. A shutdown waits for them, within a bound. */
let bodies = 0;
const idleWaiters = new Set<() => void>();

export function bodyBegins(): void {
  bodies += 1;
}

export function bodyEnds(): void {
  bodies -= 1;
  if (bodies > 0) return;
  for (const wake of idleWaiters) wake();
  idleWaiters.clear();
}

/** Resolves with true when no body is under way, with false after `ms`. */
export function whenIdle(ms: number): Promise<boolean> {
  if (bodies === 0) return Promise.resolve(true);
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      resolve(true);
    };
    const timer = setTimeout(() => {
      idleWaiters.delete(wake);
      resolve(false);
    }, ms);
    idleWaiters.add(wake);
  });
}
