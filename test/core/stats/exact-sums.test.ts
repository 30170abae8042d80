import { describe, expect, it } from 'vitest';
import { change, EMPTY_STATS, type Stats } from '../../../src/core/contract/stats.ts';
import { costMicroUsd } from '../../../src/core/model/cost.ts';
import { addUsage, noUsage, readUsage } from '../../../src/core/model/usage.ts';
import { tally } from '../../../src/core/stats/tally.ts';
import { addedTotals, totalsOf } from '../../../src/core/tree/child-totals.ts';
import { called } from './called.ts';

describe('usage of 2^53-1 tokens', () => {
  const most = Number.MAX_SAFE_INTEGER;
  const isExact = ({ counters, gauges }: Stats): boolean =>
    [...Object.values(counters), ...Object.values(gauges)].every(Number.isSafeInteger);

  it('[R8] makes no inexact total', () => {
    const usage = { inputTokens: most, outputTokens: most, costMicroUsd: most };
    const once = tally(EMPTY_STATS, called(usage));
    const twice = tally(once, called(usage));

    expect(isExact(once)).toBe(true);
    expect(isExact(twice)).toBe(true);
    expect(twice.counters['agent:total_tokens']).toBe(most);
    // Its parent takes the totals.
    const { added } = addedTotals({ totals: {} }, totalsOf(twice));
    const changes = Object.entries(added).map(
      ([key, by]) => ({ kind: 'inherit', key, by }) as const,
    );
    expect(isExact(change(twice, changes))).toBe(true);
  });

  it('[R8] nor do the sums of attempts, of caches and of costs', () => {
    const usage = { ...noUsage, inputTokens: most, outputTokens: most, costMicroUsd: most };
    expect(Object.values(addUsage(usage, usage)).every(Number.isSafeInteger)).toBe(true);
    // Of one call, a report of more than a billion is as none.
    const read = 1_000_000_000;
    const raw = { input_tokens: read, cache_read_input_tokens: read, output_tokens: 1 };
    expect(readUsage(raw).usage.inputTokens).toBe(2 * read);
    expect(costMicroUsd(usage, { input: 100, output: 100 })).toBe(most);
  });
});
