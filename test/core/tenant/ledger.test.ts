import { describe, expect, it } from 'vitest';
import type { TenantSettings } from '../../../src/core/tenant/tenant-messages.ts';
import {
  budgetsOf,
  hasWaits,
  joined,
  left,
  lost,
  needsDay,
  newLedger,
  onDay,
  requested,
  serve,
  withSettings,
  type TenantLedger,
  type ToRun,
} from '../../../src/core/tenant/ledger.ts';
import { packed, unpacked } from '../../../src/core/tenant/packed-ledger.ts';
import {
  changeProblem,
  dayLimitsProblem,
  readSettings,
} from '../../../src/core/tenant/settings.ts';

const COST = 'agent:cost_microusd';
const ID = `~tenant:acme ${COST} end`;

/** A ledger that is driven by messages, and what it has said. */
function keep(settings: Partial<TenantSettings>): {
  ledger: TenantLedger;
  readonly said: ToRun[];
  readonly by: (change: (ledger: TenantLedger) => TenantLedger) => readonly ToRun[];
} {
  const kept = {
    ledger: onDay(newLedger('acme', { timeZone: 'UTC', ...settings }), DAY),
    said: [] as ToRun[],
    by: (change: (ledger: TenantLedger) => TenantLedger) => {
      const { ledger, out } = serve(change(kept.ledger), Infinity);
      kept.ledger = ledger;
      kept.said.push(...out);
      return out;
    },
  };
  return kept;
}

const DAY = { date: '2026-11-25', endsAt: 1_000 };

function asks(childId: string, number: number, spent: number, missing?: number): Ask {
  const base = { v: 1, kind: 'lease-request', childId, number, totals: { [COST]: spent } } as const;
  return { ...base, wants: [ID], ...(missing === undefined ? {} : { missing: { [ID]: missing } }) };
}
type Ask = Parameters<typeof requested>[1];

/** What each answer grants. */
function granted(out: readonly ToRun[]): readonly unknown[] {
  return out.map(({ run, message }) => {
    const [lease] = message.leases;
    return [run, lease !== undefined && 'granted' in lease ? lease.granted : lease];
  });
}

describe('turns', () => {
  it('are given in order, as many at once as are set', () => {
    const kept = keep({ concurrency: 2 });
    for (const run of ['a', 'b', 'c', 'd', 'a', 'c']) kept.by((ledger) => joined(ledger, run));

    expect(kept.said.map(({ run }) => run)).toEqual(['a', 'b', 'a']);
    expect(kept.ledger.queue).toEqual(['c', 'd']);
    expect(kept.by((ledger) => left(ledger, { v: 1, run: 'b', totals: {} }))).toEqual([
      { run: 'c', message: { v: 1, leases: [] } },
    ]);
    expect(kept.by((ledger) => lost(ledger, 'd'))).toEqual([]);
    expect(hasWaits(kept.ledger)).toBe(false);
  });

  it('come to all that wait when more may run', () => {
    const kept = keep({ concurrency: 1 });
    for (const run of ['a', 'b', 'c', 'd']) kept.by((ledger) => joined(ledger, run));
    const out = kept.by((ledger) => withSettings(ledger, { timeZone: 'UTC', concurrency: 3 }));

    expect(out.map(({ run }) => run)).toEqual(['b', 'c']);
    expect(kept.by((ledger) => withSettings(ledger, { timeZone: 'UTC' }))).toHaveLength(1);
  });

  it('are given as many at a time as may be sent, and none is lost', () => {
    let ledger = newLedger('acme', { timeZone: 'UTC' });
    for (const run of ['a', 'b', 'c']) ledger = joined(ledger, run);
    const said: ToRun[] = [];
    const next = (): number => {
      const { ledger: after, out } = serve(ledger, 2);
      ledger = after;
      said.push(...out);
      return out.length;
    };
    expect([next(), next(), next()]).toEqual([2, 1, 0]);
    for (const run of ['a', 'b', 'c']) ledger = joined(ledger, run);
    expect([next(), next(), next()]).toEqual([2, 1, 0]);
    expect(said.map(({ run }) => run)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('are bounded: a flood of joins is asked again later', () => {
    let ledger = newLedger('acme', { timeZone: 'UTC', concurrency: 1 });
    for (let run = 0; run < 6_000; run++) ledger = joined(ledger, `acme:${run}`);
    expect(ledger.queue).toHaveLength(5_000);
    let wide = newLedger('acme', { timeZone: 'UTC', concurrency: 1 });
    for (let run = 0; run < 1_000; run++) wide = joined(wide, `${run}${'x'.repeat(990)}`);
    expect(wide.queue.length).toBeLessThan(510);
  });
});

describe('a budget of a day', () => {
  it('is granted in parts, waits when it is spent, and comes again with another day', () => {
    const kept = keep({ concurrency: 3, perDay: { [COST]: 100 } });
    expect(granted(kept.by((ledger) => joined(ledger, 'a')))).toEqual([['a', 25]]);
    expect(granted(kept.by((ledger) => joined(ledger, 'b')))).toEqual([['b', 19]]);
    // It needs 40 more than its 25, and gets just that.
    expect(granted(kept.by((ledger) => requested(ledger, asks('a', 5, 20, 40))))).toEqual([
      ['a', 65],
    ]);
    // 16 are left.
    expect(kept.by((ledger) => requested(ledger, asks('b', 5, 19, 17)))).toEqual([]);
    expect(hasWaits(kept.ledger)).toBe(true);
    // Another run returns what it has not spent.
    const end = { v: 1, run: 'a', totals: { [COST]: 64 } } as const;
    expect(granted(kept.by((ledger) => left(ledger, end)))).toEqual([['b', 36]]);
    expect(kept.by((ledger) => requested(ledger, asks('b', 6, 36, 1)))).toEqual([]);
    expect(budgetsOf(kept.ledger)).toMatchObject([{ used: 100, reserved: 0 }]);
    const next = { date: '2026-11-26', endsAt: 2_000 };
    expect(granted(kept.by((ledger) => onDay(ledger, next)))).toEqual([['b', 61]]);
    expect(budgetsOf(kept.ledger)).toMatchObject([{ used: 0, reserved: 25 }]);
  });

  it('gives no turn without room, and none is lost by it', () => {
    const kept = keep({ perDay: { [COST]: 0 } });
    expect(kept.by((ledger) => joined(ledger, 'a'))).toEqual([]);
    const settings = { timeZone: 'UTC', perDay: { [COST]: 10 } };
    expect(granted(kept.by((ledger) => withSettings(ledger, settings)))).toEqual([['a', 1]]);
  });

  it('refuses what no day could pay', () => {
    const kept = keep({ perDay: { [COST]: 10 } });
    kept.by((ledger) => joined(ledger, 'a'));
    const [answer] = kept.by((ledger) => requested(ledger, asks('a', 2, 1, 20)));

    expect(answer?.message.leases).toEqual([
      { id: ID, granted: 1, refused: { value: 1, max: 10 } },
    ]);
  });

  it('does not make wait who asks in advance', () => {
    const kept = keep({ concurrency: 1, perDay: { [COST]: 10 } });
    kept.by((ledger) => joined(ledger, 'a'));
    kept.by((ledger) => requested(ledger, asks('a', 2, 5, 5)));
    expect(granted(kept.by((ledger) => requested(ledger, asks('a', 3, 10))))).toEqual([['a', 10]]);
  });

  it('is lifted for those that have a part of it', () => {
    const kept = keep({ perDay: { [COST]: 10 } });
    kept.by((ledger) => joined(ledger, 'a'));
    kept.by((ledger) => withSettings(ledger, { timeZone: 'UTC' }));
    const [answer] = kept.by((ledger) => requested(ledger, asks('a', 2, 1, 20)));
    expect(answer?.message.leases).toEqual([{ id: ID, lifted: true }]);
  });

  it('counts as spent what a lost run was granted', () => {
    const kept = keep({ concurrency: 1, perDay: { [COST]: 10 } });
    kept.by((ledger) => joined(ledger, 'a'));
    kept.by((ledger) => lost(ledger, 'a'));
    expect(budgetsOf(kept.ledger)).toMatchObject([{ used: 5 }]);
  });

  it('answers a request that comes again as before, and no older one', () => {
    const kept = keep({ concurrency: 1, perDay: { [COST]: 100 } });
    kept.by((ledger) => joined(ledger, 'a'));
    const first = kept.by((ledger) => requested(ledger, asks('a', 5, 50, 10)));
    const spent = kept.ledger.holders;
    expect(kept.by((ledger) => requested(ledger, asks('a', 5, 50, 10)))).toEqual(first);
    expect(kept.ledger.holders).toEqual(spent);
    expect(kept.by((ledger) => requested(ledger, asks('a', 4, 20, 90)))).toEqual([]);
  });

  it('is granted to a run whose turn a lost ledger has forgotten', () => {
    const kept = keep({ perDay: { [COST]: 100 } });
    const out = kept.by((ledger) => requested(ledger, asks('a', 9, 40, 10)));
    expect(granted(out)).toEqual([['a', 50]]);
    expect(budgetsOf(kept.ledger)).toMatchObject([{ used: 0, reserved: 10 }]);
  });

  it('is never overspent, whatever is lost, late or repeated', () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const kept = keep({ concurrency: 4, perDay: { [COST]: 1_000 } });
    const runs = new Map<string, { granted: number; spent: number; number: number }>();
    let ended = 0;
    for (let step = 0; step < 4_000; step++) {
      if (random(100) === 0) {
        const text = JSON.stringify(packed(kept.ledger));
        kept.ledger = unpacked(JSON.parse(text)) ?? kept.ledger;
      }
      const run = `r${random(8)}-${Math.floor(step / 500)}`;
      const known = runs.get(run);
      const out =
        known === undefined
          ? kept.by((ledger) => joined(ledger, run))
          : random(12) === 0
            ? (runs.delete(run),
              (ended += known.spent),
              kept.by((ledger) => left(ledger, { v: 1, run, totals: { [COST]: known.spent } })))
            : kept.by((ledger) =>
                requested(ledger, asks(run, (known.number += random(2)), known.spent, random(30))),
              );
      for (const { run: to, message } of out) {
        // A message is lost now and then.
        if (random(10) === 0) continue;
        const [lease] = message.leases;
        const grant = lease !== undefined && 'granted' in lease ? lease.granted : 0;
        const before = runs.get(to) ?? { granted: 0, spent: 0, number: 0 };
        runs.set(to, { ...before, granted: Math.max(before.granted, grant) });
      }
      for (const one of runs.values()) one.spent += random(one.granted - one.spent + 1);
      const live = [...runs.values()].reduce((sum, { spent }) => sum + spent, 0);
      expect(ended + live).toBeLessThanOrEqual(1_000);
      expect(kept.ledger.holders.length).toBeLessThanOrEqual(8 * 8);
    }
    expect(ended).toBeGreaterThan(900);
  });
});

it('thousands of runs that wait for a budget cost no seconds', () => {
  const runs = Array.from({ length: 3_000 }, (_, index) => `acme:${index}`);
  const settings = { timeZone: 'UTC', concurrency: 5_000, perDay: { [COST]: 1e12 } };
  let ledger = onDay(newLedger('acme', settings), DAY);
  for (const run of runs) ledger = joined(ledger, run);
  const begun = performance.now();
  ({ ledger } = serve(ledger, Infinity));
  expect(ledger.holders).toHaveLength(3_000);
  const [first = '', ...others] = runs;
  for (const run of others) ledger = requested(ledger, asks(run, 1, 0, 1e12));
  const { out } = serve(requested(ledger, asks(first, 1, 0, 1)), Infinity);

  expect(out.map(({ run }) => run)).toEqual([first]);
  // With a sum over all runs for each of them, it were 20 s.
  expect(performance.now() - begun).toBeLessThan(4_000);
});

describe('the day', () => {
  it('is asked for only if a budget needs it', () => {
    const plain = newLedger('acme', { timeZone: 'UTC', concurrency: 1 });
    expect(needsDay(plain, 5)).toBe(false);
    const bounded = withSettings(plain, { timeZone: 'UTC', perDay: { [COST]: 1 } });
    expect(needsDay(bounded, 5)).toBe(true);
    expect(needsDay(onDay(bounded, DAY), 999)).toBe(false);
    expect(needsDay(onDay(bounded, DAY), 1_000)).toBe(true);
    const moved = withSettings(onDay(bounded, DAY), {
      ...bounded.settings,
      timeZone: 'Asia/Tokyo',
    });
    expect(needsDay(moved, 5)).toBe(true);
  });
});

describe('settings', () => {
  it.each([
    [{ concurrency: 0 }, '`concurrency` to be a whole number from 1 to 5000, or null, got 0'],
    [{ concurrency: 1.5 }, 'got 1.5'],
    [{ weight: 0 }, '`weight` to be a number from 0.001 to 1000, or null, got 0'],
    [{ weight: Infinity }, 'got Infinity'],
    [{ timeZone: '' }, '`timeZone` to be an IANA name such as Europe/Vienna, got ""'],
    [{ timeZone: '\u001B[2J' }, '`timeZone` to be an IANA name such as Europe/Vienna'],
    [{ perDay: { [COST]: -1 } }, '`perDay` to hold whole numbers for'],
    [{ perDay: { 'agent:iterations': 1 } }, '`perDay` to hold whole numbers for'],
    [{ rate: { requestsPerMinute: 0 } }, '`rate` to be { requestsPerMinute?, tokensPerMinute? }'],
    [{ rate: { concurrency: 5 } }, 'to have no `concurrency`, got {"concurrency":5}. Set'],
    [{ rate: {} }, 'each more than 0, or null, got {}'],
    ['none', 'Expected a change of settings, got "none"'],
  ])('may not be %j', (change, text) => {
    expect(changeProblem(change)).toContain(text);
    expect(readSettings(change)).toEqual({ timeZone: 'UTC' });
  });

  it.each([
    [{ costUsd: -1 }, '`perDay.costUsd` to be a number from 0 up, got -1'],
    [{ costUsd: 1e300 }, 'got 1e+300'],
    [{ totalTokens: 1.5 }, '`perDay.totalTokens` to be a whole number from 0 up, got 1.5'],
    [
      { iterations: 5 },
      'among costUsd, totalTokens, inputTokens, outputTokens, modelCalls, toolCalls',
    ],
    [[], 'Expected `perDay` to be budgets such as { costUsd: 20 }, got []'],
  ])('may not have budgets %j', (limits, text) => {
    expect(dayLimitsProblem(limits)).toContain(text);
  });
});
