/** The sliding window: the newest entries and the pinned ones stay. */
import { isPinned, type Entry } from '../contract/entry.ts';

/** All pinned entries and the last `keep` (1 or more) others, in order; null if all stay. */
export function slideWindow(entries: readonly Entry[], keep: number): readonly Entry[] | null {
  const loose = entries.filter((entry) => !isPinned(entry));
  if (loose.length <= keep) return null;
  const dropped = new Set(loose.slice(0, loose.length - keep));
  return entries.filter((entry) => !dropped.has(entry));
}
