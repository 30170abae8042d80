/**
 * Maps time to a place on a timeline. A quiet stretch that is much longer than the others is folded
 * to a fixed width, so that an approval after six days leaves the rest readable.
 *
 * I1  Places rise with time and run from 0 to 1.
 */
import { durationText } from './amounts.ts';
import type { TimelineSpan } from './spans.ts';

/** A stretch that is drawn narrower than it is. */
export interface Fold {
  readonly from: number;
  readonly to: number;
  /** `waited 6 d 4 h`. */
  readonly text: string;
}

/** A time axis. */
export interface TimeAxis {
  readonly from: number;
  readonly to: number;
  readonly folds: readonly Fold[];
  /** The place of a moment, 0 to 1. */
  place(at: number): number;
  /** The moment at a place. */
  timeAt(place: number): number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

/** A stretch is folded if it is this many times as long as the median of the spans. */
const FOLD_FACTOR = 5;

/** A stretch is folded if it takes this part of what is not folded yet. */
const FOLD_PART = 0.3;

/** More folds would leave no room for the rest. */
const MAX_FOLDS = 8;

/** A shorter stretch is not folded. */
const MIN_FOLD_MS = 10_000;

/** The share of the axis that a fold takes. */
const FOLD_SHARE = 0.1;

const TICK_STEPS: readonly number[] = [
  10, 20, 50, 100, 250, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000, 600_000,
  1_800_000, 3_600_000, 14_400_000, 43_200_000, 86_400_000, 604_800_000,
];

/** The axis from `from` to `to` for `spans`. */
export function timeAxis(spans: readonly TimelineSpan[], from: number, to: number): TimeAxis {
  const end = Math.max(to, from + 1);
  const folds = foldsOf(spans, from, end);
  const folded = folds.reduce((sum, fold) => sum + fold.to - fold.from, 0);
  const plain = Math.max(1, end - from - folded);
  const foldShare = folds.length === 0 ? 0 : Math.min(0.4, FOLD_SHARE * folds.length);
  const perFold = folds.length === 0 ? 0 : foldShare / folds.length;
  const place = (at: number): number => {
    const moment = Math.min(end, Math.max(from, at));
    let share = 0;
    let outside = moment - from;
    for (const fold of folds) {
      if (moment <= fold.from) break;
      const inside = Math.min(moment, fold.to) - fold.from;
      outside -= inside;
      share += (perFold * inside) / (fold.to - fold.from);
    }
    return share + (outside / plain) * (1 - foldShare);
  };
  const timeAt = (share: number): number => {
    let low = from;
    let high = end;
    for (let step = 0; step < 50; step++) {
      const middle = (low + high) / 2;
      if (place(middle) < share) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  };
  return { from, to: end, folds, place, timeAt, ticks: ticksOf(from, end, folds, place) };
}

/** Quiet stretches, and stretches in which only a person is waited for, that dwarf the spans. */
function foldsOf(spans: readonly TimelineSpan[], from: number, to: number): readonly Fold[] {
  const busy = spans
    .filter(({ kind }) => kind !== 'wait' && kind !== 'program' && kind !== 'child')
    .map((span) => ({ from: span.from, to: Math.min(to, span.to ?? span.from) }))
    .filter((span) => span.to >= from && span.from <= to)
    .toSorted((a, b) => a.from - b.from);
  const gaps: { readonly from: number; readonly to: number }[] = [];
  let reached = from;
  for (const span of busy) {
    if (span.from > reached) gaps.push({ from: reached, to: span.from });
    reached = Math.max(reached, span.to);
  }
  if (to > reached) gaps.push({ from: reached, to });
  const candidates = gaps.toSorted((a, b) => b.to - b.from - (a.to - a.from)).slice(0, MAX_FOLDS);
  const lengths = busy.map((span) => span.to - span.from).toSorted((a, b) => a - b);
  const median = lengths[Math.floor(lengths.length / 2)] ?? 0;
  const least = Math.max(MIN_FOLD_MS, FOLD_FACTOR * median);
  let rest = to - from;
  const folds: Fold[] = [];
  for (const gap of candidates) {
    const length = gap.to - gap.from;
    if (length < least || length < FOLD_PART * rest) break;
    rest -= length;
    folds.push({ ...gap, text: `waited ${durationText(length)}` });
  }
  return folds.toSorted((a, b) => a.from - b.from);
}

/** About eight marks, none inside a fold or nearer than 7 % to another. */
function ticksOf(
  from: number,
  to: number,
  folds: readonly Fold[],
  place: (at: number) => number,
): TimeAxis['ticks'] {
  const plain = to - from - folds.reduce((sum, fold) => sum + fold.to - fold.from, 0);
  const step = TICK_STEPS.find((each) => plain / each <= 9) ?? Math.ceil(plain / 8);
  const ticks: { readonly at: number; readonly text: string }[] = [];
  let last = -1;
  // After a fold, times count from its end: `+20 s`.
  let base = from;
  let at = from;
  for (let count = 0; at <= to && count < 400; count++) {
    const fold = folds.find((each) => at > each.from && at < each.to);
    if (fold === undefined) {
      if (place(at) - last >= 0.07 && place(at) <= 0.96) {
        const sign = base === from ? '' : '+';
        ticks.push({ at, text: `${sign}${durationText(at - base)}` });
        last = place(at);
      }
      at += step;
    } else {
      base = fold.to;
      last = place(base);
      at = base + step;
    }
  }
  return ticks;
}
