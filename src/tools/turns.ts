/** Bounds how many tasks run at once in a process. */

/** A queue of tasks that limits how many run at once. */
export interface Turns {
  /** Runs `work` when it is its turn; rejects when `signal` is aborted before that. */
  readonly take: <Result>(signal: AbortSignal, work: () => Promise<Result>) => Promise<Result>;
}

/** Runs at most `atOnce` tasks at once, in the order in which they came. */
export function createTurns(atOnce: number): Turns {
  let running = 0;
  const waiting = new Set<() => void>();
  const next = (): void => {
    const [first] = waiting;
    if (first === undefined || running >= atOnce) return;
    waiting.delete(first);
    first();
  };
  return {
    take: async (signal, work) => {
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          waiting.delete(begin);
          reject(new Error('It was stopped before its turn.'));
        };
        const begin = (): void => {
          signal.removeEventListener('abort', leave);
          running += 1;
          resolve();
        };
        if (signal.aborted) return leave();
        signal.addEventListener('abort', leave, { once: true });
        waiting.add(begin);
        next();
      });
      try {
        return await work();
      } finally {
        running -= 1;
        next();
      }
    },
  };
}
