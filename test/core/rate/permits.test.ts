import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leased, leasedPermits, NEW_COUNTER } from '../../../src/core/rate/counter.ts';
import { LEASE_MS, MARGIN_MS, type PermitOrder } from '../../../src/core/rate/permits.ts';
import { orderOfPermits, readLeaseOrder } from '../../../src/core/rate/rate.ts';
import { shareOf, TURN_MS, type Wish } from '../../../src/core/rate/shares.ts';
import { PermitWorld, type Happening } from './permit-world.ts';

const T0 = 1_000_000;
const at = fc.nat({ max: 7 });
/** The clocks of the machines of a service differ by so much. */
const skewMs = fc.integer({ min: -1_000, max: 1_000 });

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(4_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(40_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('want' as const),
      at,
      requests: fc.integer({ min: 1, max: 6 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), at }) },
  {
    weight: 10,
    arbitrary: fc.record({ kind: fc.constant('ask' as const), at, givesBack: fc.boolean() }),
  },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('deliver' as const), at, skewMs }) },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('answer' as const), at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('give up' as const), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose counter' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('continue' as const), skewMs }),
  },
);

describe('permits', () => {
  it('are never more than the limit, whatever is late, lost or killed', () => {
    let mostUsed = 0;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(happening, { minLength: 20, maxLength: 300, size: 'max' }),
        (limit, workers, happenings) => {
          const world = new PermitWorld(limit, workers);
          for (const one of happenings) {
            world.play(one);
            if (world.underWay > limit) throw new Error(`${world.underWay} are under way.`);
            mostUsed = Math.max(mostUsed, world.underWay / limit);
          }
        },
      ),
      { numRuns: 2_000 },
    );
    expect(mostUsed).toBe(1);
  });

  it('of a worker that is silent return when its lease and the margin have ended', () => {
    const one = ask(NEW_COUNTER, { worker: 'a', wanted: 4 }, T0);
    const early = ask(one.counter, { worker: 'b', wanted: 4 }, T0 + LEASE_MS + MARGIN_MS - 1);
    const late = ask(early.counter, { worker: 'b', n: 2, wanted: 4 }, T0 + LEASE_MS + MARGIN_MS);

    expect(one.permits).toEqual({ permits: 4, booked: 4 });
    expect(early.permits).toEqual({ permits: 0, booked: 0 });
    expect(late.permits).toEqual({ permits: 4, booked: 4 });
  });

  it('that are in use are not taken away, and what is given back goes to others', () => {
    const one = ask(NEW_COUNTER, { worker: 'a', wanted: 9 }, T0);
    const none = ask(one.counter, { worker: 'b', wanted: 9 }, T0 + 100);
    const told = ask(none.counter, { worker: 'a', n: 2, keeps: 4, wanted: 9 }, T0 + 200);
    const given = ask(told.counter, { worker: 'a', n: 3, keeps: 3, wanted: 9 }, T0 + 300);
    const some = ask(given.counter, { worker: 'b', n: 2, wanted: 9 }, T0 + 400);

    expect(none.permits).toEqual({ permits: 0, booked: 0, waiting: 1 });
    expect(told.permits).toEqual({ permits: 2, booked: 4, waiting: 1 });
    expect(given.permits).toEqual({ permits: 2, booked: 3, waiting: 1 });
    expect(some.permits).toEqual({ permits: 1, booked: 1, waiting: 1 });
  });

  it('of a lost counter are waited for, and believed', () => {
    const lost = { mayLackSince: T0 };
    const none = ask(NEW_COUNTER, { worker: 'b', wanted: 4 }, T0, lost);
    const held = ask(none.counter, { worker: 'a', keeps: 3, wanted: 9 }, T0 + 1_000, lost);
    const later = T0 + LEASE_MS + MARGIN_MS;
    const some = ask(held.counter, { worker: 'b', n: 2, wanted: 4 }, later, lost);

    expect(none.permits).toEqual({ permits: 0, booked: 0 });
    expect(held.permits).toMatchObject({ booked: 3 });
    expect(some.permits).toMatchObject({ permits: 1, booked: 1 });
  });

  it('are as few as the smallest limit while workers differ', () => {
    const one = ask(NEW_COUNTER, { worker: 'a', wanted: 9, limit: 2 }, T0);
    const two = ask(one.counter, { worker: 'b', wanted: 9, limit: 8 }, T0);

    expect(one.permits.permits).toBe(2);
    expect(two.permits.permits).toBe(0);
  });

  it('are kept apart from moments, of which they change nothing', () => {
    const moment = { v: 1, rate: { requestsPerMinute: 62 }, tokens: [0], corrected: 0 } as const;
    const known = { requestsAt: 0, tokensAt: 0 };
    const alone = leased(NEW_COUNTER, { ...moment, known }, T0);
    const one = ask(NEW_COUNTER, { worker: 'a', wanted: 4 }, T0);
    const both = leased(one.counter, { ...moment, known }, T0);

    expect(alone.counter).toEqual({ v: 1, requestsAt: T0 + 1_000, tokensAt: T0 - 6_000 });
    expect(both.answer).toEqual(alone.answer);
    expect(both.counter).toEqual({ ...alone.counter, permits: one.counter.permits });
    expect(one.answer.marks).toEqual(known);
  });
});

it('claims of permits that the counter has not given count for nothing', () => {
  const one = ask(NEW_COUNTER, { worker: 'a', wanted: 2 }, T0);
  const keeps = Number.MAX_SAFE_INTEGER;
  const claim = ask(one.counter, { worker: 'b', keeps, wanted: keeps }, T0 + 10);

  expect(claim.permits).toMatchObject({ permits: 2, booked: 2 });
});

describe('a flood of workers', () => {
  it('leaves a counter that a hand-over can carry, and shuts nobody out for long', () => {
    let { counter } = ask(NEW_COUNTER, { worker: 'first', wanted: 1 }, T0);
    for (let worker = 0; worker < 1_500; worker++) {
      const id = `${'w'.repeat(90)}${worker}`;
      ({ counter } = ask(counter, { worker: id, wanted: Number.MAX_SAFE_INTEGER }, T0));
    }
    const again = ask(counter, { worker: 'first', n: 2, keeps: 1, wanted: 1 }, T0);
    const late = ask(counter, { worker: 'late', wanted: 1 }, T0);
    const later = ask(counter, { worker: 'late', wanted: 1 }, T0 + LEASE_MS + MARGIN_MS);

    expect(JSON.stringify(counter).length).toBeLessThan(300_000);
    expect(again.permits.permits).toBe(1);
    expect(late.permits).toMatchObject({ permits: 0, booked: 0 });
    expect(later.permits.permits).toBe(1);
  }, 60_000);

  it('may have names that objects have', () => {
    for (const worker of ['__proto__', 'constructor', 'toString']) {
      const one = ask(NEW_COUNTER, { worker, wanted: 2 }, T0);
      const two = ask(one.counter, { worker, n: 2, keeps: 2, wanted: 3 }, T0);
      expect([one, two].map(({ permits }) => permits.permits)).toEqual([2, 3]);
    }
  });
});

describe('an order of permits', () => {
  const good = { worker: 'a', n: 1, limit: 4, keeps: 0, wanted: 2 };

  it('that comes after a later one of its worker counts for nothing', () => {
    const two = ask(NEW_COUNTER, { worker: 'a', n: 2, wanted: 3 }, T0);
    const one = ask(two.counter, { worker: 'a', n: 1, wanted: 0 }, T0 + 10);

    expect(one.permits).toEqual({ permits: 0, booked: 3 });
    expect(one.counter).toEqual(two.counter);
  });

  it('is read in its own form only', () => {
    const order = orderOfPermits(good);
    expect(readLeaseOrder(order)).toBe(order);
    for (const bad of [
      { ...order, rate: { requestsPerMinute: 1 } },
      { ...order, permits: null },
      { ...order, permits: { ...good, worker: '' } },
      { ...order, permits: { ...good, worker: 'w'.repeat(101) } },
      { ...order, permits: { ...good, worker: '\u0001' } },
      { ...order, permits: { ...good, worker: '漢' } },
      { ...order, permits: { ...good, limit: 0 } },
      { ...order, permits: { ...good, keeps: -1 } },
      { ...order, permits: { ...good, wanted: 1.5 } },
    ]) {
      expect(readLeaseOrder(bad)).toBeNull();
    }
  });

  it('names no rate, and is no order without its permits', () => {
    const { permits: _permits, ...rest } = orderOfPermits(good);
    expect(readLeaseOrder(rest)).toBeNull();
  });
});

describe('shares', () => {
  const wishes: fc.Arbitrary<readonly Wish[]> = fc
    .array(fc.record({ wanted: fc.nat(20), permits: fc.nat(20), since: fc.nat(20_000) }), {
      minLength: 1,
      maxLength: 8,
    })
    .map((all) => all.map((one, index) => ({ worker: `w${index}`, ...one })));

  it('use all that is wanted, and differ by one at most', () => {
    fc.assert(
      fc.property(wishes, fc.integer({ min: 1, max: 30 }), fc.nat(20_000), (all, limit, now) => {
        const shares = all.map(({ worker }) => shareOf(worker, all, limit, now));
        const wanted = all.reduce((sum, one) => sum + one.wanted, 0);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(Math.min(limit, wanted));
        const short = shares.filter((share, index) => share < (all[index]?.wanted ?? 0));
        const most = Math.max(...shares);
        for (const share of short) expect(share).toBeGreaterThanOrEqual(most - 1);
      }),
    );
  });

  it('of one permit go from worker to worker, the longest wait first', () => {
    const has = { worker: 'a', wanted: 5, permits: 1, since: T0 };
    const waits = [
      { worker: 'b', wanted: 5, permits: 0, since: T0 + 20 },
      { worker: 'c', wanted: 5, permits: 0, since: T0 + 10 },
    ];
    const turnOf = (now: number): string | undefined =>
      ['a', 'b', 'c'].find((worker) => shareOf(worker, [has, ...waits], 1, now) === 1);

    expect(turnOf(T0 + TURN_MS - 1)).toBe('a');
    expect(turnOf(T0 + TURN_MS)).toBe('c');
  });

  it('that are one larger stay where they are', () => {
    const all = [
      { worker: 'a', wanted: 9, permits: 2, since: T0 },
      { worker: 'b', wanted: 9, permits: 3, since: T0 + 5 },
    ];
    expect(all.map(({ worker }) => shareOf(worker, all, 5, T0 + 60_000))).toEqual([2, 3]);
  });
});

/** What the counter makes of an order, most of which is as usual. */
function ask(
  counter: typeof NEW_COUNTER,
  order: Pick<PermitOrder, 'worker' | 'wanted'> & Partial<PermitOrder>,
  now: number,
  { mayLackSince }: { readonly mayLackSince?: number } = {},
) {
  const step = leasedPermits(
    counter,
    { n: 1, limit: 4, keeps: 0, ...order },
    { now, mayLackSince },
  );
  const { permits } = step.answer;
  if (permits === undefined) throw new Error('Expected permits.');
  return { ...step, permits };
}
