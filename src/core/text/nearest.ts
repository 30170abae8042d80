/** Suggestions for names that a model misspelt. */

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

/**
 * The number of single characters to insert, delete or replace to turn `from` into `to`:
 * Levenshtein's distance, by the two-row form of Wagner and Fischer. Cost: product of the lengths.
 */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
