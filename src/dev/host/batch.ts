/** Collects messages and hands them on as one array at the end of the event loop's turn. */
export function batched<T>(send: (messages: T[]) => void): { push(message: T): void; flush(): void } {
  let waiting: T[] = [];
  const flush = () => {
    if (waiting.length === 0) return;
    const messages = waiting;
    waiting = [];
    send(messages);
  };
  return {
    push(message) {
      if (waiting.push(message) === 1) setImmediate(flush);
    },
    flush,
  };
}
