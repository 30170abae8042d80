/** "Did you mean": known names near an unknown one. */

const MAX_SUGGESTIONS = 3;

/** Up to three names near `name`: those that differ only in `_`, `-` or case, then by distance. */
export function nearNames(name: string, names: Iterable<string>): readonly string[] {
  const reach = name.length <= 4 ? 1 : 2;
  const folded = fold(name);
  const found: { name: string; distance: number }[] = [];
  for (const candidate of new Set(names)) {
    if (candidate === name || Math.abs(candidate.length - name.length) > reach) continue;
    const distance = fold(candidate) === folded ? 0 : editDistance(name, candidate);
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
 * (optimal string alignment). Takes time in the product of the lengths.
 */
export function editDistance(a: string, b: string): number {
  let older: number[] = [];
  let old = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
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
      row.push(best);
    }
    older = old;
    old = row;
  }
  return old[b.length] ?? 0;
}

/** ` Did you mean `a` or `b`?`, or nothing. */
export function didYouMean(name: string, names: Iterable<string>): string {
  const near = nearNames(name, names);
  return near.length === 0 ? '' : ` Did you mean ${near.map((one) => `\`${one}\``).join(' or ')}?`;
}
