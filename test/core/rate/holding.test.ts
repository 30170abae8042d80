import { describe, expect, it } from 'vitest';
import {
  answered,
  askFor,
  newHolding,
  unanswered,
  usablePermits,
  type Holding,
} from '../../../src/core/rate/holding.ts';
import { LEASE_MS } from '../../../src/core/rate/permits.ts';

const DEMAND = { limit: 9, underWay: 0, wanted: 5, givesBack: false };

/** A worker that has asked for five permits at 0 and has them. */
function leased(): Holding {
  const { holding } = askFor(newHolding('a'), DEMAND, 0);
  return answered(holding, { permits: 5, booked: 5 }, 10);
}

describe('a worker', () => {
  it('believes in its permits from before it asked until the lease ends', () => {
    expect(usablePermits(leased(), LEASE_MS - 1)).toBe(5);
    expect(usablePermits(leased(), LEASE_MS)).toBe(0);
  });

  it('uses no more than it keeps while an order is under way, nor when it is lost', () => {
    const back = { ...DEMAND, underWay: 2, wanted: 2, givesBack: true };
    const { holding, order } = askFor(leased(), back, 1_000);

    expect(order).toMatchObject({ n: 2, keeps: 2, wanted: 2 });
    expect(usablePermits(holding, 1_001)).toBe(2);
    expect(usablePermits(unanswered(holding), 1_002)).toBe(2);
  });

  it('does not believe an answer that relied on a lease which has ended', () => {
    const asked = { ...DEMAND, underWay: 5, wanted: 5 };
    const { holding } = askFor(leased(), asked, LEASE_MS - 100);
    const late = answered(holding, { permits: 5, booked: 5 }, LEASE_MS);
    expect(usablePermits(late, LEASE_MS + 1)).toBe(0);

    const { holding: anew, order } = askFor(late, DEMAND, LEASE_MS + 10);
    expect(order.keeps).toBe(0);
    const given = answered(anew, { permits: 4, booked: 4 }, LEASE_MS + 20);
    expect(usablePermits(given, LEASE_MS + 30)).toBe(4);
  });
});
