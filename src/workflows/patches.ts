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

/** Every patch, by its name, as histories have it. None: no release has runs in flight yet. */
export const PATCHES: Readonly<Record<string, Patch>> = {};
