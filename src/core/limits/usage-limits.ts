/** Which limits need the usage that providers report, and which cannot be kept without it. */
import type { Breach, Limit } from '../contract/limit.ts';
import type { Stats } from '../contract/stats.ts';
import { limitedValue } from '../stats/estimates.ts';
import { withoutSelf } from '../stats/stat-keys.ts';

const UNREPORTED = 'agent:unreported_calls';

/**
 * The first limit with `onUnknownUsage: 'end'` after a reply without usage, of the run itself or of
 * a descendant.
 */
export function unkeptLimit(limits: readonly Limit[], stats: Stats): Breach | null {
  // Asked after every event, and nearly no run has such replies.
  if (stats.counters[UNREPORTED] === undefined) return null;
  const limit = limits.find((one) => one.onUnknownUsage === 'end' && measuresUsage(one));
  if (limit === undefined) return null;
  const named = Object.keys(stats.counters).find((key) => key.startsWith(`${UNREPORTED}:`));
  const unreportedBy = named?.slice(UNREPORTED.length + 1) ?? '';
  const { key } = limit;
  return { limit, key, value: limitedValue(stats, key), origin: 'self', unreportedBy };
}

const COST_KEYS = ['agent:cost_microusd'];

const USAGE_KEYS = [
  'agent:input_tokens',
  'agent:output_tokens',
  'agent:total_tokens',
  ...COST_KEYS,
];

/** Whether a limit watches tokens or cost. */
export function measuresUsage(limit: Limit): boolean {
  return measures(limit, USAGE_KEYS);
}

/** Whether a limit watches cost, which it cannot where a model has no price. */
export function measuresCost(limit: Limit): boolean {
  return measures(limit, COST_KEYS);
}

function measures({ kind, key }: Limit, keys: readonly string[]): boolean {
  const base = withoutSelf(key);
  return keys.some(
    (counted) =>
      base === counted ||
      base.startsWith(`${counted}:`) ||
      (kind === 'prefix' && counted.startsWith(base)),
  );
}
