/** The part of a long run that a page shows: iterations that follow each other. */
import type { IterationView } from './iteration-view.ts';

/**
 * At most `most` of the views that follow each other without a gap around iteration `anchor`; null:
 * those at the end. Empty: the anchor is not loaded.
 */
export function sectionOf(
  views: readonly IterationView[],
  anchor: number | null,
  most: number,
): readonly IterationView[] {
  const place =
    anchor === null ? views.length - 1 : views.findIndex(({ number }) => number === anchor);
  if (place < 0) return [];
  const follows = (index: number): boolean =>
    views[index]?.number === (views[index - 1]?.number ?? Number.NaN) + 1;
  let first = place;
  while (first > 0 && place - first < most && follows(first)) first -= 1;
  let end = place + 1;
  while (end < views.length && end - place < most && follows(end)) end += 1;
  const latest = Math.max(first, end - most);
  const from =
    anchor === null ? latest : Math.min(latest, Math.max(first, place - Math.trunc(most / 2)));
  return views.slice(from, Math.min(end, from + most));
}

/** How many views are kept; beyond it, those far from the anchor and from the end go. */
const MAX_KEPT = 2_000;

/** How many are kept around the anchor, on each side, and at the end. */
const NEAR = 500;

/** `views` without those that are far from all that is shown, if they are many. */
export function keptNear(
  views: readonly IterationView[],
  anchor: number | null,
): readonly IterationView[] {
  if (views.length <= MAX_KEPT) return views;
  const last = views.at(-1)?.number ?? 0;
  const middle = anchor ?? last;
  return views.filter(({ number }) => number > last - NEAR || Math.abs(number - middle) <= NEAR);
}
