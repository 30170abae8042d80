/**
 * "Did you mean": names near a name that was not found.
 */

const MAX_SUGGESTIONS = 3;

/** Longer names have no suggestions: a comparison takes time with the length. */
const MAX_NAME = 64;

/** Up to three of `names` near `name`: by spelling of `_`, `-` and case first, then by distance. */
export function nearNames(name: string, names: Iterable<string>): readonly string[] {
  if (name.length > MAX_NAME) return [];
  const reach = name.length <= 4 ? 1 : 2;
  const folded = fold(name);
  const found: { name: string; distance: number }[] = [];
  for (const candidate of new Set(names)) {
    if (candidate === name || Math.abs(candidate.length - name.length) > reach) continue;
    const distance = fold(candidate) === folded ? 0 : editDistance(name, candidate, reach);
    if (distance <= reach) found.push({ name: candidate, distance });
  }
  found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return found.slice(0, MAX_SUGGESTIONS).map((entry) => entry.name);
}

function fold(name: string): string {
  return name.replaceAll('_', '-').toLowerCase();
}

/**
 * How many insertions, deletions, replacements and swaps of neighbours turn `a` into `b` (optimal
 * string alignment). With a `reach`, a distance beyond it may come out greater than it is, and the
 * cost is the length times the reach; else it is the product of the lengths.
 */
export function editDistance(a: string, b: string, reach: number = Infinity): number {
  let older: number[] = [];
  let old = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const first = i - reach > 1 ? i - reach : 1;
    const last = i + reach < b.length ? i + reach : b.length;
    const row = old.slice();
    row[first - 1] = first > 1 ? Infinity : i;
    if (last < b.length) row[last + 1] = Infinity;
    for (let j = first; j <= last; j++) {
      const same = a.charAt(i - 1) === b.charAt(j - 1);
      let best = Math.min(
        (old[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (old[j - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        i > 1 &&
        j > 1 &&
        a.charAt(i - 1) === b.charAt(j - 2) &&
        a.charAt(i - 2) === b.charAt(j - 1);
      if (swapped) best = Math.min(best, (older[j - 2] ?? 0) + 1);
      row[j] = best;
    }
    older = old;
    old = row;
  }
  return old[b.length] ?? 0;
}
