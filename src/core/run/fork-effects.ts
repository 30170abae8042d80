/** What the calls of a run do because it is a fork, or below one. */
import type { ForkState } from '../contract/fork.ts';
import type { RunState } from './run-state.ts';

/** Absent: calls run. */
export function effectsOf({ fork, parent }: RunState): ForkState['effects'] {
  return fork?.effects ?? parent?.effects;
}

/** What the calls of a child do: recorded results are those of this run alone. */
export function effectsBelow(state: RunState): 'approve' | 'replay-only' | undefined {
  const effects = effectsOf(state);
  return effects === 'reuse' ? undefined : effects;
}
