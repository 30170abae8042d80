/**
 * The patches of the workflow: changes in the order of its commands, which a run makes only if no
 * earlier release began it. The SDK records the first use of a patch in the history of a run.
 *
 * I1  Each call of `patched` in the workflow code names a patch of this list.
 * I2  A patch stays in the list, and its call in the code, as long as a supported release wrote it.
 * I3  A patch is asked for at the start of a link, or where no local activity can come before it.
 */

/** One patch. */
export interface Patch {
  /** The first release that has it. */
  readonly release: string;
  /** What changed, and why the order of commands had to. */
  readonly reason: string;
}

/** The name of a patch, as histories have it. */
export type PatchName = 'recall-leases' | 'limits-at-once';

/** Every patch, by its name. */
export const PATCHES: Readonly<Record<PatchName, Patch>> = {
  'recall-leases': {
    release: '0.1.0',
    reason: 'A limit that is lowered takes unspent leases back from children, by signals to them.',
  },
  'limits-at-once': {
    release: '0.2.0',
    reason:
      'The calls of a batch are recorded as they end, messages without room are refused, ' +
      'programs are cut into slices, and the workflow begins each attempt of a call, so that ' +
      'commands come at other times, and more of them.',
  },
};
