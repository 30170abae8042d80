import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../src/core/contract/lease.ts';
import { chargedOf, grantedTo, turnLeases } from '../../../src/core/tenant/fork-share.ts';

const CALLS = 'agent:model_calls';
const COST = 'agent:cost_microusd';
const leaseOf = (key: string, granted: number): Lease => ({
  id: `~tenant:acme ${key} end`,
  origin: { runId: '~tenant:acme', agent: 'tenant acme' },
  limit: { kind: 'exact', key, max: 100 },
  granted,
});
/** A source whose estimated cost counts towards limits, and not in the sum of its cost. */
const KEPT = {
  [CALLS]: 4,
  [COST]: 50,
  'agent:estimated_tokens': 9,
  'agent:estimated_cost': 7,
};

describe('a fork whose statistics go on from its source', () => {
  it('reports what it has spent itself', () => {
    expect(chargedOf({ ...KEPT, [CALLS]: 6, [COST]: 60, 'agent:new': 1 }, KEPT)).toEqual({
      [CALLS]: 2,
      [COST]: 10,
      'agent:estimated_tokens': 0,
      'agent:estimated_cost': 0,
      'agent:new': 1,
    });
  });

  it('may spend what is granted beyond what its source had counted', () => {
    const leases = [leaseOf(CALLS, 1), leaseOf(COST, 20)];
    expect(turnLeases(leases, KEPT).map(({ granted }) => granted)).toEqual([5, 77]);
    const answers = [
      { id: leaseOf(CALLS, 0).id, granted: 3 },
      { id: leaseOf(COST, 0).id, lifted: true },
    ] as const;
    expect(grantedTo(leases, answers, KEPT)).toEqual([{ ...answers[0], granted: 7 }, answers[1]]);
  });
});

describe('any other run', () => {
  it('is charged its totals, and granted what is said', () => {
    const leases = [leaseOf(CALLS, 1)];
    expect(chargedOf(KEPT, undefined)).toBe(KEPT);
    expect(turnLeases(leases, undefined)).toEqual(leases);
    const answers = [{ id: 'x', granted: 3 }];
    expect(grantedTo(leases, answers, undefined)).toBe(answers);
  });
});
