/** Whether the model must answer without calls, because no further iteration may begin. */
import { wouldCross } from '../limits/breach.ts';
import type { RunState } from '../run/run-state.ts';

/** Whether the iteration of `state` is the last. */
export function isLastTurn({ limits, stats }: Pick<RunState, 'limits' | 'stats'>): boolean {
  return wouldCross(limits, stats, ['agent:iterations']) !== null;
}
