/** "Did you mean": known names near an unknown one. */

const MAX_SUGGESTIONS = 3;

/** Longer names have no suggestions: a comparison takes time with the length. */
const MAX_NAME = 64;

/** Up to three names near `name`: those that differ only in `_`, `-` or case, then by distance. */
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
 * The number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
 * (optimal string alignment). With a `reach`, only distances up to it are exact; a greater one may
 * be too high. The cost is the length times the reach, or without one the product of the lengths.
 */
export function editDistance(a: string, b: string, reach: number = Infinity): number {
  const size = b.length;
  let older = Array.from({ length: size + 2 }, (_, index) => index);
  let old = older.slice();
  let row = older.slice();
  for (let i = 1; i <= a.length; i++) {
    const unit = a.charCodeAt(i - 1);
    const first = i - reach > 1 ? i - reach : 1;
    const last = i + reach < size ? i + reach : size;
    row[first - 1] = first > 1 ? Infinity : i;
    for (let j = first; j <= last; j++) {
      const other = b.charCodeAt(j - 1);
      let best = (old[j - 1] ?? 0) + (unit === other ? 0 : 1);
      const added = (row[j - 1] ?? 0) + 1;
      const removed = (old[j] ?? 0) + 1;
      if (added < best) best = added;
      if (removed < best) best = removed;
      if (i > 1 && j > 1 && unit === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other) {
        const swapped = (older[j - 2] ?? 0) + 1;
        if (swapped < best) best = swapped;
      }
      row[j] = best;
    }
    row[last + 1] = Infinity;
    [older, old, row] = [old, row, older];
  }
  return old[size] ?? 0;
}
