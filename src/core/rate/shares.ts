/** How permits are shared between the workers that want some. Pure. */

/** A worker that wants permits. */
export interface Wish {
  readonly worker: string;
  /** How many it could use. */
  readonly wanted: number;
  /** How many it has. */
  readonly permits: number;
  /** Since when it has permits, or has none; in milliseconds since 1970. */
  readonly since: number;
}

/** How long a worker keeps its permit while there are fewer permits than workers that wait. */
export const TURN_MS = 5_000;

/**
 * The share of `worker` in `limit` permits. No worker has more than it wants. Those that want more
 * than there is have the same number, apart from one. Where there is less than one for each, they
 * take turns.
 */
export function shareOf(
  worker: string,
  wishes: readonly Wish[],
  limit: number,
  now: number,
): number {
  const inOrder = wishes.toSorted((a, b) => a.wanted - b.wanted);
  let rest = limit;
  for (const [index, { worker: one, wanted }] of inOrder.entries()) {
    const open = inOrder.length - index;
    const each = Math.floor(rest / open);
    if (wanted > each) {
      return shareOfOpen(worker, inOrder.slice(index), { each, left: rest - each * open, now });
    }
    if (one === worker) return wanted;
    rest -= wanted;
  }
  return 0;
}

/** The share of one of `open`, of whom none has all that it wants: `left` of them have one more. */
function shareOfOpen(
  worker: string,
  open: readonly Wish[],
  { each, left, now }: { readonly each: number; readonly left: number; readonly now: number },
): number {
  const rankOf = (wish: Wish): number => {
    // What a worker has beyond the others stays with it, so that permits do not wander.
    if (each > 0) return wish.permits > each ? 0 : 1;
    if (wish.permits === 0) return 1;
    return wish.since > now - TURN_MS ? 0 : 2;
  };
  const inOrder = open.toSorted(
    (a, b) => rankOf(a) - rankOf(b) || a.since - b.since || (a.worker < b.worker ? -1 : 1),
  );
  return each + (inOrder.findIndex((wish) => wish.worker === worker) < left ? 1 : 0);
}
