/**
 * The calls that lead through a tree, as they appear in addresses and in ids of waiting items. A
 * call begins with its iteration and a dot; calls of programs continue with the path of their
 * effect: `1.2`, `1.p2/0/1`.
 */

/** `address` split before each call: `a/1.2/3.p2/0/q1` is `a`, `1.2`, `3.p2/0`, `q1`. */
export function callsIn(address: string): readonly string[] {
  const groups: string[] = [];
  for (const part of address.split('/')) {
    const call = groups.at(-1);
    if (call !== undefined && /^\d+$/.test(part)) groups[groups.length - 1] = `${call}/${part}`;
    else groups.push(part);
  }
  return groups;
}

/** The path of a child. Its address ends with its call, and the call begins with the iteration. */
export function pathBelow(path: string, childId: string, agent: string): string {
  const [iteration = ''] = lastCallOf(childId).split('.');
  return `${path}/${iteration}/${agent}`;
}

/** The call of the parent whose result the run at `address` is. */
export function lastCallOf(address: string): string {
  return callsIn(address).at(-1) ?? '';
}

/** The place of the item `id` of a run: the calls that lead to its run, and its id there. */
export function placeOfItem(id: string): {
  readonly calls: readonly string[];
  readonly id: string;
} {
  const parts = callsIn(id);
  return { calls: parts.slice(0, -1), id: parts.at(-1) ?? '' };
}
