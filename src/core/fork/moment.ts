/** Which boundary of a run a moment means. */
import type { RunMoment } from '../base/fork.ts';

/** A boundary of iterations, at which a run could hand over. */
export interface Boundary {
  /** The iteration that begins there. */
  readonly iteration: number;
  /** The number of the last event before it. */
  readonly seq: number;
}

/** The boundary that `moment` means: of `boundaries`, oldest first; undefined if it is none. */
export function boundaryOf<Item extends Boundary>(
  moment: RunMoment,
  boundaries: readonly Item[],
): Item | undefined {
  if (moment === 'start') return boundaries[0];
  if (moment === 'latest') return boundaries.at(-1);
  // A boundary that was reached again, after a wait or a compaction, counts as it was last.
  return 'iteration' in moment
    ? boundaries.findLast(({ iteration }) => iteration === moment.iteration)
    : boundaries.findLast(({ seq }) => seq <= moment.event);
}

/** Why a run has no such moment, in one sentence. `newest` is its newest boundary, if it has one. */
export function noMomentText(run: string, moment: RunMoment, newest: Boundary | undefined): string {
  if (newest === undefined) {
    return `Expected a moment of run \`${run}\`, got a run that has begun no iteration. Choose another run.`;
  }
  if (typeof moment === 'object' && 'event' in moment) {
    return `Expected a boundary of run \`${run}\` at or before event ${moment.event}, got none before it. Choose a later event.`;
  }
  const got = typeof moment === 'object' ? moment.iteration : `\`${moment}\``;
  return `Expected an iteration from 1 to ${newest.iteration} of run \`${run}\`, got ${got}. Choose one.`;
}
