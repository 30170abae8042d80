/**
 * The waits of a loop, each for something to hold or for a time, over timers of Temporal.
 *
 * I1  A wait is looked at again when `wake` is called, and at its own deadline.
 * I2  Its timer is one of `newScope`, which an abort of calls does not reach; it goes with the wait.
 */
import { type CancellationScope, isCancellation, sleep } from '@temporalio/workflow';

/** Somebody in the loop who waits. */
interface Waiter {
  readonly until: () => boolean;
  readonly resolve: () => void;
  readonly timer: CancellationScope | null;
  isDue: boolean;
}

/** Waits and their timers. */
export interface Waits {
  /** Settles when `until` holds, at `deadline` (milliseconds since 1970) at the latest. */
  until(until: () => boolean, deadline?: number): Promise<void>;
  /** Looks again at what is waited for. */
  wake(): void;
}

/** No waits yet. `onBug` is told what a timer's callback threw. */
export function createWaits(
  newScope: () => CancellationScope,
  onBug: (error: unknown) => void,
): Waits {
  let waiting: readonly Waiter[] = [];
  // The SDK's `condition` would add four promises to what a paused agent keeps in memory.
  const wake = (): void => {
    if (waiting.length === 0) return;
    const ready = waiting.filter((waiter) => waiter.isDue || waiter.until());
    if (ready.length === 0) return;
    waiting = waiting.filter((waiter) => !ready.includes(waiter));
    for (const { timer, resolve } of ready) {
      timer?.cancel();
      resolve();
    }
  };
  return {
    wake,
    until: (until, deadline) =>
      new Promise((resolve) => {
        if (until()) return resolve();
        const timer = deadline === undefined ? null : newScope();
        const waiter: Waiter = { until, resolve, timer, isDue: false };
        waiting = [...waiting, waiter];
        if (timer === null || deadline === undefined) return;
        const onDue = (): void => {
          waiter.isDue = true;
          wake();
        };
        startTimer(timer, deadline - Date.now(), onDue, onBug);
      }),
  };
}

/** Runs `onDue` after `ms` unless `scope` is canceled before. */
export function startTimer(
  scope: CancellationScope,
  ms: number,
  onDue: () => void,
  onBug: (error: unknown) => void,
): void {
  scope
    .run(() => sleep(Math.max(1, ms)))
    .then(onDue)
    .catch((error: unknown) => {
      // A canceled timer is one that was replaced.
      if (!isCancellation(error)) onBug(error);
    });
}
