/**
 * Statistics: counters that only rise and reach every ancestor, and gauges that are local. Each
 * counter has a twin with the prefix `$self:` that holds only the run's own share.
 */

import { exactSum } from '../base/exact-sum.ts';

/** Numbers by key; a missing key is 0. */
export type Numbers = { readonly [key: string]: number };

/** The statistics of a run, as plain data. */
export interface Stats {
  readonly counters: Numbers;
  readonly gauges: Numbers;
}

/** What one event does to one key. */
export type StatChange =
  | { readonly kind: 'count'; readonly key: string; readonly by: number }
  /** Added by a child: the twin is unchanged. */
  | { readonly kind: 'inherit'; readonly key: string; readonly by: number }
  | { readonly kind: 'rise'; readonly key: string; readonly by: number }
  | { readonly kind: 'set'; readonly key: string; readonly value: number };

/** The statistics of a new run. */
export const EMPTY_STATS: Stats = { counters: {}, gauges: {} };

/** Prefix of the twin that holds a run's own share of a counter. */
export const SELF_PREFIX = '$self:';

/** The value of `key`, counter or gauge; 0 when it is missing. */
export function valueOf(stats: Stats, key: string): number {
  return stats.counters[key] ?? stats.gauges[key] ?? 0;
}

/**
 * `stats` after `changes`, in order; a `count` moves the key and its twin. Copies only the side
 * that moves, since this runs at every event, and most events move only gauges.
 */
export function change(stats: Stats, changes: readonly StatChange[]): Stats {
  let counters: Record<string, number> | null = null;
  let gauges: Record<string, number> | null = null;
  for (const step of changes) {
    if (step.kind === 'count') {
      counters ??= { ...stats.counters };
      const twin = SELF_PREFIX + step.key;
      counters[step.key] = exactSum(counters[step.key] ?? 0, step.by);
      counters[twin] = exactSum(counters[twin] ?? 0, step.by);
    } else if (step.kind === 'inherit') {
      counters ??= { ...stats.counters };
      counters[step.key] = exactSum(counters[step.key] ?? 0, step.by);
    } else {
      gauges ??= { ...stats.gauges };
      const before = step.kind === 'rise' ? (gauges[step.key] ?? 0) : 0;
      gauges[step.key] = step.kind === 'rise' ? exactSum(before, step.by) : step.value;
    }
  }
  return { counters: counters ?? stats.counters, gauges: gauges ?? stats.gauges };
}
