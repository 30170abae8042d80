/** Suggestions for misspelt names. */
import { editDistance } from '../../lisp/base/suggest.ts';

/** A name further away is another word, not a typing mistake. */
const maxDistance = 2;

/**
 * The candidate nearest to `name`, the first of equally near ones. Undefined unless its edit
 * distance is at most 2 and less than the length of `name`.
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
