/** The waits of a server: a bounded number at once, each reporting the progress of its run. */
import { UsageError } from '../../core/base/usage-error.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import type { SeenRun } from '../runs/run-view.ts';
import { waitForRun } from '../runs/wait-for-run.ts';
import type { ServedCall } from './tool.ts';

/** Waits at once in one process: each asks a worker once a second. */
export const MAX_WAITS = 128;

/** Waits for runs. */
export interface RunWaits {
  /** @throws UsageError as `waitForRun`; `run_busy` when too many wait. */
  wait(run: RunHandle, waitMs: number, call: ServedCall): Promise<SeenRun>;
}

/** The waits of one process. */
export function createWaits(): RunWaits {
  let open = 0;
  return {
    wait: async (run, waitMs, { signal, progress }) => {
      if (open >= MAX_WAITS) {
        throw new UsageError(
          'run_busy',
          `Expected at most ${MAX_WAITS} waits at once, got one more. Look with get_run, or wait later.`,
        );
      }
      open += 1;
      try {
        return await waitForRun(run, {
          waitMs,
          signal,
          onSecond: (seconds, view) => progress(seconds, waitMs / 1_000, progressText(view)),
        });
      } finally {
        open -= 1;
      }
    },
  };
}

/** `iteration 3: tool search` */
function progressText(view: SeenRun): string {
  if (view.kind !== 'live') return 'ended';
  const { iteration, waitsFor } = view.status;
  return `iteration ${iteration}: ${waitsFor.slice(0, 3).join(', ') || 'thinking'}`;
}
