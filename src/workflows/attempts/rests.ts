/** Rests of a call between two attempts, which an abort ends and so does a pause of the run. */
import type { CancellationScope } from '@temporalio/workflow';
import type { Run } from '../../core/run/run.ts';
import type { Waits } from '../../core/run/waits.ts';
import { recorded } from '../recorded/recorded.ts';

/** How a rest ended: `resumed` after the run was paused meanwhile. */
export type RestEnd = 'over' | 'resumed' | 'aborted';

/**
 * Rests for `ms`, unless `scope` is canceled. When the run is paused meanwhile, the rest ends once
 * the run is resumed.
 */
export type Rest = (scope: CancellationScope, ms: number) => Promise<RestEnd>;

/** Rests of a run, which `run` gives; null before it has begun. */
export function createRest(waits: Waits, run: () => Run | null): Rest {
  const isPaused = (): boolean => (run()?.state.pausedAt ?? null) !== null;
  return async (scope, ms) => {
    const isOver = (): boolean => scope.consideredCancelled;
    // Nothing else wakes the waits after a cancel of the scope.
    scope.cancelRequested.catch(() => waits.wake());
    await waits.until(() => isOver() || isPaused(), recorded().now() + ms);
    if (isOver()) return 'aborted';
    if (!isPaused()) return 'over';
    await waits.until(() => isOver() || !isPaused());
    return isOver() ? 'aborted' : 'resumed';
  };
}
