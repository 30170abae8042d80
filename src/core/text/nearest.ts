/** Suggestions for misspelt names. */
import { editDistance } from '../../lisp/base/suggest.ts';

/** Names further away than this are another word, not a slip of the pen. */
const maxDistance = 2;

/**
 * The candidate with the smallest edit distance to `name`, at most 2, the first of equals; or
 * undefined. A name that is as far away as it is long resembles nothing.
 */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let best = Math.min(maxDistance, name.length - 1) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= best) continue;
    const distance = editDistance(name, candidate);
    if (distance < best) [nearest, best] = [candidate, distance];
  }
  return nearest;
}
