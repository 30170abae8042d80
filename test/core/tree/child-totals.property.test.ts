import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chargedTotals,
  addedByReport,
  addedTotals,
  totalsOf,
  type OpenChild,
} from '../../../src/core/tree/child-totals.ts';
import { change, EMPTY_STATS, type Numbers, type Stats } from '../../../src/core/contract/stats.ts';

const KEYS = ['agent:model_calls', 'agent:total_tokens', 'shop:refunds'];

/** Totals of a child over its life: each at least the one before. */
const life: fc.Arbitrary<readonly Numbers[]> = fc
  .array(
    fc.record(Object.fromEntries(KEYS.map((key) => [key, fc.nat({ max: 50 })] as const)), {
      requiredKeys: [],
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((steps) => {
    const sums: Record<string, number> = {};
    return steps.map((step) => {
      for (const [key, by] of Object.entries(step)) sums[key] = (sums[key] ?? 0) + (by ?? 0);
      return { ...sums };
    });
  });

interface Report {
  readonly child: number;
  readonly number: number;
}

/** The lives of some children, and their reports as they arrive: some lost, some twice, in any order. */
const arrivals = fc.array(life, { minLength: 1, maxLength: 4 }).chain((lives) => {
  const sent = lives.flatMap((totals, child) =>
    totals.map((_, index): Report => ({ child, number: index + 1 })),
  );
  return fc
    .array(fc.constantFrom(...sent), { maxLength: sent.length * 2 })
    .map((reports) => ({ lives, reports }));
});

function add(stats: Stats, added: Numbers): Stats {
  return change(
    stats,
    Object.entries(added).map(([key, by]) => ({ kind: 'inherit' as const, key, by })),
  );
}

/** What a parent has counted after `reports`, and then the end of each child. */
function parentOf(lives: readonly (readonly Numbers[])[], reports: readonly Report[]): Stats {
  const known: Pick<OpenChild, 'number' | 'totals'>[] = lives.map(() => ({
    number: 0,
    totals: {},
  }));
  let stats = EMPTY_STATS;
  for (const { child, number } of reports) {
    const before = known[child] ?? { number: 0, totals: {} };
    const heard = addedByReport(before, number, lives[child]?.[number - 1] ?? {});
    if (heard === null) continue;
    known[child] = { number, totals: heard.totals };
    stats = add(stats, heard.added);
  }
  for (const [child, totals] of lives.entries()) {
    stats = add(stats, addedTotals(known[child] ?? { totals: {} }, totals.at(-1) ?? {}).added);
  }
  return stats;
}

function sumOf(all: readonly Numbers[]): Numbers {
  const sum: Record<string, number> = {};
  for (const numbers of all) {
    for (const [key, value] of Object.entries(numbers)) sum[key] = (sum[key] ?? 0) + value;
  }
  return sum;
}

function nonZero(numbers: Numbers): Numbers {
  return Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== 0));
}

describe('totals of children', () => {
  it('sum up the same for any order, repetition and loss of reports [row 56]', () => {
    fc.assert(
      fc.property(arrivals, ({ lives, reports }) => {
        const stats = parentOf(lives, reports);

        expect(nonZero(stats.counters)).toEqual(nonZero(sumOf(lives.map((it) => it.at(-1) ?? {}))));
      }),
      { numRuns: 500 },
    );
  });

  it('never fall while reports arrive, and are never more than was spent [row 56]', () => {
    fc.assert(
      fc.property(arrivals, ({ lives: [totals = []], reports }) => {
        let known: Pick<OpenChild, 'number' | 'totals'> = { number: 0, totals: {} };
        for (const { child, number } of reports) {
          if (child !== 0) continue;
          const heard = addedByReport(known, number, totals[number - 1] ?? {});
          expect(heard === null).toBe(number <= known.number);
          if (heard === null) continue;
          expect(Object.values(heard.added).every((by) => by > 0)).toBe(true);
          known = { number, totals: heard.totals };
        }
        expect(nonZero(known.totals)).toEqual(
          known.number === 0 ? {} : nonZero(totals[known.number - 1] ?? {}),
        );
      }),
    );
  });

  it('of a run leave out its own shares', () => {
    expect(
      totalsOf({
        counters: { 'agent:iterations': 5, '$self:agent:iterations': 2, 'shop:refunds': 1 },
        gauges: { 'agent:depth': 1 },
      }),
    ).toEqual({ 'agent:iterations': 5, 'shop:refunds': 1 });
  });

  const origin = { runId: 'root', agent: 'root' };
  const lease = (key: string, granted: number) => ({
    id: `root ${key} end`,
    origin,
    limit: { kind: 'exact' as const, key, max: 1_000 },
    granted,
  });

  it.each([
    {
      name: 'all that was reserved',
      totals: { 'agent:total_tokens': 100, 'agent:iterations': 3 },
      leases: [lease('agent:total_tokens', 400)],
      charged: {
        totals: { 'agent:total_tokens': 400, 'agent:iterations': 3 },
        added: { 'agent:total_tokens': 300 },
      },
    },
    {
      name: 'no less than it had reported',
      totals: { 'agent:total_tokens': 450 },
      leases: [lease('agent:total_tokens', 400)],
      charged: { totals: { 'agent:total_tokens': 450 }, added: {} },
    },
    {
      name: 'the tightest of several reservations on one key',
      totals: {},
      leases: [lease('agent:total_tokens', 400), lease('agent:total_tokens', 120)],
      charged: {
        totals: { 'agent:total_tokens': 120 },
        added: { 'agent:total_tokens': 120 },
      },
    },
    {
      name: 'all of what was recalled and not returned',
      totals: { 'agent:total_tokens': 100 },
      leases: [lease('agent:total_tokens', 100)],
      awaited: { 'root agent:total_tokens end': 400 },
      charged: {
        totals: { 'agent:total_tokens': 400 },
        added: { 'agent:total_tokens': 300 },
      },
    },
    { name: 'nothing without leases', totals: {}, leases: [], charged: { totals: {}, added: {} } },
  ])('of a child that died are $name [row 56]', ({ totals, leases, awaited = {}, charged }) => {
    expect(chargedTotals({ totals, leases, awaited })).toEqual(charged);
  });
});
