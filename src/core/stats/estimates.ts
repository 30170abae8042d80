/**
 * Estimates of what nobody reported: of attempts that died with their worker, and of replies
 * without usage. They are counted apart, so that sums stay exact, and count towards limits.
 */
import { SELF_PREFIX, valueOf, type Stats } from '../contract/stats.ts';

const TOKENS = 'agent:estimated_tokens';
const OUTPUT = 'agent:estimated_output_tokens';
const COST = 'agent:estimated_cost';

/** What a limit on a counter counts too, and what of that it leaves out. */
const ESTIMATES: readonly (readonly [key: string, estimate: string, without?: string])[] = [
  ['agent:total_tokens', TOKENS],
  // Of an attempt that died with its worker it is not known what was written: mostly nothing.
  ['agent:input_tokens', TOKENS, OUTPUT],
  ['agent:output_tokens', OUTPUT],
  ['agent:cost_microusd', COST],
];

/** The value of `key` for limits and budgets: with what is estimated beside it. */
export function limitedValue(stats: Stats, key: string): number {
  const value = valueOf(stats, key);
  // Asked after every event, and nearly no run has estimates.
  if (stats.counters[TOKENS] === undefined) return value;
  const prefix = key.startsWith(SELF_PREFIX) ? SELF_PREFIX : '';
  const base = key.slice(prefix.length);
  for (const [counted, estimate, without] of ESTIMATES) {
    if (base !== counted && !base.startsWith(`${counted}:`)) continue;
    const rest = base.slice(counted.length);
    const left = without === undefined ? 0 : valueOf(stats, `${prefix}${without}${rest}`);
    return value + valueOf(stats, `${prefix}${estimate}${rest}`) - left;
  }
  return value;
}

/** The same for the totals of a child. */
export function limitedTotal(totals: Stats['counters'], key: string): number {
  return limitedValue({ counters: totals, gauges: {} }, key);
}
