/**
 * The waits of a loop, each for a condition or a time. Hosts differ only in their timers.
 *
 * I1  A condition is checked when its wait begins and each time `wake` is called.
 * I2  The timer of a wait is canceled when the wait ends.
 */

/** Waits of a loop; any number at a time. */
export interface Waits {
  /** Settles when `condition` holds, or at `deadline` (milliseconds since 1970). */
  readonly until: (condition: () => boolean, deadline?: number) => Promise<void>;
  /** Checks all conditions again: something that the host cannot see has changed. */
  readonly wake: () => void;
}

/** Calls `onDue` at the time `at` unless the returned function is called before. */
export type StartTimer = (at: number, onDue: () => void) => () => void;

interface Waiter {
  readonly condition: () => boolean;
  readonly resolve: () => void;
  cancelTimer: (() => void) | null;
  isDue: boolean;
}

/** No waits yet. */
export function createWaits(startTimer: StartTimer): Waits {
  let waiting: readonly Waiter[] = [];
  const wake = (): void => {
    if (waiting.length === 0) return;
    const ready = waiting.filter((waiter) => waiter.isDue || waiter.condition());
    if (ready.length === 0) return;
    waiting = waiting.filter((waiter) => !ready.includes(waiter));
    for (const { cancelTimer, resolve } of ready) {
      cancelTimer?.();
      resolve();
    }
  };
  return {
    wake,
    until: (condition, deadline) =>
      new Promise((resolve) => {
        if (condition()) return resolve();
        const waiter: Waiter = { condition, resolve, cancelTimer: null, isDue: false };
        waiting = [...waiting, waiter];
        if (deadline === undefined) return;
        waiter.cancelTimer = startTimer(deadline, () => {
          waiter.isDue = true;
          wake();
        });
      }),
  };
}
