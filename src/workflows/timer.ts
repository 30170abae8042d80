/** A timer of the service that calls back. */
import { type CancellationScope, isCancellation, sleep } from '@temporalio/workflow';

/** Runs `onDue` after `ms` unless `scope` is canceled before. `onBug` gets what `onDue` throws. */
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
