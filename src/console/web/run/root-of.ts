/** Ids of runs: a run below another has the other's id, and the call that started it. */

/** The calls at the end of an id: `/1.2`, `/1.2/3.spawn-1`, `/1.p2/0/1`. */
const CALLS = /(\/\d+\.[^/]+(\/\d+)*)+$/;

/** The id of the top of the tree of run `id`. */
export function rootOf(id: string): string {
  const root = id.replace(CALLS, '');
  return root === '' ? id : root;
}
