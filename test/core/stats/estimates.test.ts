import { describe, expect, it } from 'vitest';
import type { Limit } from '../../../src/core/contract/limit.ts';
import { EMPTY_STATS } from '../../../src/core/contract/stats.ts';
import { firstBreach } from '../../../src/core/limits/breach.ts';
import { usageOf } from '../../../src/core/run/step-of.ts';
import { limitedValue } from '../../../src/core/stats/estimates.ts';
import { tally } from '../../../src/core/stats/tally.ts';
import { restOf, boundsOf } from '../../../src/core/tree/ledger.ts';
import { called } from './called.ts';

const exact = (key: string, max: number): Limit => ({ kind: 'exact', key, max });

describe('estimates of attempts that died with their worker', () => {
  const stats = tally(
    EMPTY_STATS,
    called(
      { inputTokens: 100, outputTokens: 10, costMicroUsd: 7 },
      { totalTokens: 40, costMicroUsd: 3 },
    ),
  );

  it('[R8] are counted apart, never in exact sums', () => {
    expect(stats.counters).toMatchObject({
      'agent:total_tokens': 110,
      'agent:cost_microusd': 7,
      'agent:estimated_tokens': 40,
      '$self:agent:estimated_tokens:m': 40,
      'agent:estimated_cost': 3,
    });
    expect(usageOf(stats)).toMatchObject({
      totalTokens: 110,
      costMicroUsd: 7,
      estimated: { totalTokens: 40, costMicroUsd: 3 },
    });
    expect(usageOf(EMPTY_STATS)).not.toHaveProperty('estimated');
  });

  it.each([
    ['agent:total_tokens', 150],
    ['$self:agent:total_tokens', 150],
    ['agent:total_tokens:m', 150],
    ['agent:input_tokens', 140],
    ['agent:output_tokens', 10],
    ['agent:cost_microusd', 10],
    ['agent:model_calls', 1],
  ])('[R8] count towards limits: %s is %d', (key, value) => {
    expect(limitedValue(stats, key)).toBe(value);
    expect(firstBreach([exact(key, value)], stats)).toBeNull();
    expect(firstBreach([exact(key, value - 1)], stats)).toMatchObject({ key, value });
  });

  it('[R8] count towards budgets of a tree', () => {
    const limits = [exact('agent:total_tokens', 1_000)];
    const ledger = {
      runId: 'r',
      agent: 'a',
      limits,
      leases: [],
      children: [],
      calls: [],
      models: [],
      stats,
    };
    const [bound] = boundsOf(ledger);
    expect(bound && restOf(ledger, bound)).toBe(850);
  });
});
