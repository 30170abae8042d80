/** Limits as predicates: which have tripped, and which the next piece of work would trip. */
import { isSelf, self, withoutSelf } from '../stats/stat-keys.ts';
import { limitedValue } from '../stats/estimates.ts';
import { valueOf, type Numbers, type Stats } from '../contract/stats.ts';
import type { Breach, Limit } from '../contract/limit.ts';

/**
 * The first limit, in list order, whose value is greater than its `max`. For a prefix limit, the
 * first such key in code-point order counts. A limit with `onReach: 'refuse'` never ends a run.
 */
export function firstBreach(limits: readonly Limit[], stats: Stats): Breach | null {
  for (const limit of limits) {
    if (limit.onReach === 'refuse') continue;
    // Checked after every event: an exact limit, the usual kind, costs two lookups.
    const isQuiet = limit.kind === 'exact' && limitedValue(stats, limit.key) <= limit.max;
    if (isQuiet) continue;
    for (const key of keysOf(limit, stats)) {
      const value = limitedValue(stats, key);
      if (value > limit.max) return { limit, key, value, origin: 'self' };
    }
  }
  return null;
}

/**
 * The first limit, in list order, that one more of `keys` would cross. `keys` are base keys; their
 * `$self:` twins are checked too. Work in flight (`pending`, by base key) and what is `reserved` of
 * a limit count as spent.
 */
export function wouldCross(
  limits: readonly Limit[],
  stats: Stats,
  keys: readonly string[],
  pending: Numbers = {},
  reserved: (limit: Limit) => number = () => 0,
): Breach | null {
  for (const limit of limits) {
    // Checked several times in each iteration: an exact limit, the usual kind, costs one
    // comparison.
    if (limit.kind === 'exact' && !keys.includes(withoutSelf(limit.key))) continue;
    const moved = keys.flatMap((key) => [key, self(key)]).toSorted();
    for (const key of moved) {
      if (!covers(limit, key)) continue;
      const inFlight = pending[withoutSelf(key)] ?? 0;
      const value = valueOf(stats, key) + inFlight + reserved(limit);
      if (value + 1 > limit.max) {
        return { limit, key, value, attempted: value + 1, origin: 'self' };
      }
    }
  }
  return null;
}

/** `limit exceeded: …`, `limit reached: …` or `limit not kept: …`, with key, numbers and the ancestor, if any. */
export function explainBreach(breach: Breach): string {
  const { key, value, attempted, limit, origin, unreportedBy } = breach;
  const name = origin === 'self' ? key : `${key} of ${origin.agent} (run ${origin.runId})`;
  if (unreportedBy !== undefined) {
    return `limit not kept: ${name} cannot be counted, because model ${unreportedBy} reported no usage`;
  }
  const text =
    attempted === undefined
      ? `limit exceeded: ${name} is ${value}, the limit is ${limit.max}`
      : `limit reached: ${name} would be ${attempted}, the limit is ${limit.max}`;
  if (limit.byDefault === true) return `${text}${DEFAULT_HINT}`;
  return limit.key === 'agent:repeated_calls' ? `${text}${REPEATED_HINT}` : text;
}

const DEFAULT_HINT =
  ', a default of $1 a run. Set another in the definition or at the start, `limits: { costUsd: 5 }`, or lift it: `limits: { costUsd: null }`';

const REPEATED_HINT =
  ': the model made the same call with the same result in so many replies in a row. If it may, set `repeatable: true` on the tool, or another limit under `custom`';

/** Whether `limit` watches `key`; a prefix watches `$self:` twins only if it has `$self:`. */
export function covers(limit: Limit, key: string): boolean {
  if (limit.kind === 'exact') return limit.key === key;
  return key.startsWith(limit.key) && (!isSelf(key) || isSelf(limit.key));
}

function keysOf(limit: Limit, stats: Stats): readonly string[] {
  if (limit.kind === 'exact') return [limit.key];
  return [...Object.keys(stats.counters), ...Object.keys(stats.gauges)]
    .filter((key) => covers(limit, key))
    .toSorted();
}
