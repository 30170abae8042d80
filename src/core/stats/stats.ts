/**
 * Statistics: counters that only rise and reach every ancestor, and gauges that are local. Each
 * counter has a twin with the prefix `$self:` that holds the run's own share only.
 */

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
  | { readonly kind: 'rise'; readonly key: string; readonly by: number }
  | { readonly kind: 'set'; readonly key: string; readonly value: number };

/** The statistics of a run in which nothing has happened. */
export const EMPTY_STATS: Stats = { counters: {}, gauges: {} };

/** Prefix of the twin that holds a run's own share of a counter. */
export const SELF_PREFIX = '$self:';

/** The value of `key`, counter or gauge; 0 when it is missing. */
export function valueOf(stats: Stats, key: string): number {
  return stats.counters[key] ?? stats.gauges[key] ?? 0;
}

/** `stats` after `changes`, in order; a `count` moves the key and its twin. */
export function change(stats: Stats, changes: readonly StatChange[]): Stats {
  if (changes.length === 0) return stats;
  const counters: Record<string, number> = { ...stats.counters };
  const gauges: Record<string, number> = { ...stats.gauges };
  for (const step of changes) {
    if (step.kind === 'set') gauges[step.key] = step.value;
    else if (step.kind === 'rise') gauges[step.key] = (gauges[step.key] ?? 0) + step.by;
    else {
      const twin = SELF_PREFIX + step.key;
      counters[step.key] = (counters[step.key] ?? 0) + step.by;
      counters[twin] = (counters[twin] ?? 0) + step.by;
    }
  }
  return { counters, gauges };
}
