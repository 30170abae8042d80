/** What the calls of a run do because it is a fork, or below one. */
import type { ParentLink } from '../contract/lease.ts';
import type { ForkState } from '../contract/outcome.ts';

/** The parts of a state that say it. */
interface Forked {
  readonly fork?: Pick<ForkState, 'effects'>;
  readonly parent?: Pick<ParentLink, 'effects'>;
}

/** Absent: calls run. */
export function effectsOf({ fork, parent }: Forked): ForkState['effects'] {
  return fork?.effects ?? parent?.effects;
}

/** What the calls of a child do: recorded results are those of this run alone. */
export function effectsBelow(state: Forked): 'approve' | 'replay-only' | undefined {
  const effects = effectsOf(state);
  return effects === 'reuse' ? undefined : effects;
}
