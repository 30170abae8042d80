/** Reads which patches of the workflow a worker holds back. */
import { nearestName } from '../../core/text/nearest.ts';
import { PATCHES } from '../../workflows/patches.ts';

/** Patches that a worker holds back: all of them, or those with these names. */
export type HeldPatches = 'all' | readonly string[];

/**
 * Reads `all`, or names separated by commas. `misspelt` gets a name that looks like another one.
 * Any other unknown name may be of a newer release, whose environment an older worker has after a
 * rollback: it has no such patch to hold.
 */
export function readHeldPatches(
  text: string,
  misspelt: (name: string, near: string) => undefined,
  known: readonly string[] = Object.keys(PATCHES),
): HeldPatches | undefined {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('all')) return 'all';
  for (const name of names) {
    const near = known.includes(name) ? undefined : nearestName(name, [...known, 'all']);
    if (near !== undefined) return misspelt(name, near);
  }
  return names.filter((name) => name !== '');
}

/** Those of the held patches that this release does not have, so that holding them has no effect. */
export function unknownPatches(held: HeldPatches | undefined): readonly string[] {
  if (held === undefined || held === 'all') return [];
  return held.filter((name) => !Object.hasOwn(PATCHES, name));
}
