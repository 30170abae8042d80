/**
 * Estimates of what attempts have spent that died with their worker. They are counted apart, so
 * that sums stay exact, and count towards limits.
 */
import { SELF_PREFIX, valueOf, type Stats } from '../contract/stats.ts';

const TOKENS = 'agent:estimated_tokens';
const COST = 'agent:estimated_cost';

/** The counter whose estimate a limit also counts. An estimate is mostly prompt. */
const ESTIMATES: readonly (readonly [key: string, estimate: string])[] = [
  ['agent:total_tokens', TOKENS],
  ['agent:input_tokens', TOKENS],
  ['agent:cost_microusd', COST],
];

/** The value of `key` for limits and budgets: with what is estimated beside it. */
export function limitedValue(stats: Stats, key: string): number {
  const value = valueOf(stats, key);
  // Asked after every event, and nearly no run has estimates.
  if (stats.counters[TOKENS] === undefined) return value;
  const prefix = key.startsWith(SELF_PREFIX) ? SELF_PREFIX : '';
  const base = key.slice(prefix.length);
  for (const [counted, estimate] of ESTIMATES) {
    if (base !== counted && !base.startsWith(`${counted}:`)) continue;
    return value + valueOf(stats, `${prefix}${estimate}${base.slice(counted.length)}`);
  }
  return value;
}

/** The same for the totals of a child. */
export function limitedTotal(totals: Stats['counters'], key: string): number {
  return limitedValue({ counters: totals, gauges: {} }, key);
}
