import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Permit, Taken } from '../../../src/activities/permits/entry-permits.ts';
import { createPermits, type Permits } from '../../../src/activities/permits/permits.ts';
import { leasedPermits, NEW_COUNTER, type RateCounter } from '../../../src/core/rate/counter.ts';
import { LEASE_MS, MARGIN_MS } from '../../../src/core/rate/permits.ts';
import type { AskCounter, LeaseOrder } from '../../../src/core/rate/rate.ts';

const MODEL = 'm/1';
/** How long an order and its answer travel, each. */
const TRAVEL_MS = 20;
const HOLD_MS = 5_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A counter that workers ask over a network. */
class Counter {
  readonly orders: LeaseOrder[] = [];
  state: RateCounter = NEW_COUNTER;
  /** Set: the service does not answer. */
  isGone = false;
  mayLackSince: number | undefined;

  readonly ask: AskCounter = async (id, order) => {
    expect(id).toBe(`~rate:${MODEL}`);
    await passed(TRAVEL_MS);
    if (this.isGone || order.permits === undefined) throw new Error('gone');
    this.orders.push(order);
    const { mayLackSince } = this;
    const { counter, answer } = leasedPermits(this.state, order.permits, {
      now: Date.now(),
      mayLackSince,
    });
    this.state = counter;
    await passed(TRAVEL_MS);
    return answer;
  };
}

/** Requests that are under way at a provider. */
class Provider {
  underWay = 0;
  most = 0;
  closed = 0;
  #usedMs = 0;
  #since = Date.now();

  /** One request by a permit, which takes `ms`, or until its permit ends. */
  async serve({ ended, release }: Permit, ms: number): Promise<void> {
    this.#count(1);
    await Promise.race([
      passed(ms),
      new Promise<void>((resolve) => ended.addEventListener('abort', () => resolve())),
    ]);
    if (ended.aborted) this.closed += 1;
    this.#count(-1);
    release();
  }

  /** Requests under way on average since the last time. */
  average(sinceMs: number): number {
    this.#count(0);
    const used = this.#usedMs / sinceMs;
    this.#usedMs = 0;
    return used;
  }

  #count(more: number): void {
    this.#usedMs += this.underWay * (Date.now() - this.#since);
    this.#since = Date.now();
    this.underWay += more;
    this.most = Math.max(this.most, this.underWay);
  }
}

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function take(permits: Permits, limit: number, call: { since?: number; holdMs?: number } = {}) {
  const { signal } = new AbortController();
  return permits.take(MODEL, limit, { since: Date.now(), holdMs: HOLD_MS, signal, ...call });
}

/** Runs, each of which asks `permits` for one request after the other, as a workflow does. */
function keepAsking(
  permits: Permits,
  { limit, runs, ms, until }: { limit: number; runs: number; ms: number; until: number },
  provider: Provider,
): void {
  const run = async (): Promise<void> => {
    let since = Date.now();
    while (Date.now() < until) {
      const taken = await take(permits, limit, { since });
      if (taken.kind === 'aborted') return;
      if (taken.kind === 'busy') {
        await passed(taken.againInMs);
        continue;
      }
      await provider.serve(taken.permit, ms);
      since = Date.now();
    }
  };
  for (let count = 0; count < runs; count++) void run();
}

function permitOf(taken: Taken): Permit {
  if (taken.kind !== 'permit') throw new Error(`Expected a permit, got ${taken.kind}.`);
  return taken.permit;
}

describe('requests of a worker', () => {
  it('go one after the other in order of asking, with one order to the counter', async () => {
    const counter = new Counter();
    const permits = createPermits(counter.ask);
    const served: number[] = [];
    const t0 = Date.now();
    const all = [3, 1, 2].map(async (since) => {
      const permit = permitOf(await take(permits, 1, { since: t0 + since }));
      served.push(since);
      await passed(100);
      permit.release();
    });
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all(all);

    expect(served).toEqual([1, 2, 3]);
    expect(counter.orders).toHaveLength(1);
    expect(counter.orders[0]).toMatchObject({ rate: {}, permits: { limit: 1, wanted: 3 } });
  });

  it('leave after the hold time, and come back to their place', async () => {
    const counter = new Counter();
    const permits = createPermits(counter.ask);
    const t0 = Date.now();
    const first = take(permits, 1);
    await vi.advanceTimersByTimeAsync(100);
    const permit = permitOf(await first);
    const second = take(permits, 1, { since: t0 + 1 });
    await vi.advanceTimersByTimeAsync(HOLD_MS);
    expect(await second).toEqual({ kind: 'busy', againInMs: 2_000, cause: undefined });
    // Nine places of two seconds are before it: it does not even wait here.
    const later = Array.from({ length: 9 }, (_, index) =>
      take(permits, 1, { since: t0 + 2 + index }),
    );
    await vi.advanceTimersByTimeAsync(0);
    const last = await take(permits, 1, { since: t0 + 20 });
    expect(last).toMatchObject({ kind: 'busy', cause: undefined });
    expect(later).toHaveLength(9);

    const back = take(permits, 1, { since: t0 + 1 });
    permit.release();
    await vi.advanceTimersByTimeAsync(0);
    expect((await back).kind).toBe('permit');
  });

  it('that are aborted leave the line', async () => {
    const counter = new Counter();
    const permits = createPermits(counter.ask);
    const first = take(permits, 1);
    await vi.advanceTimersByTimeAsync(100);
    const abort = new AbortController();
    const call = { since: Date.now(), holdMs: HOLD_MS, signal: abort.signal };
    const second = permits.take(MODEL, 1, call);
    const third = take(permits, 1, { since: Date.now() + 1 });
    abort.abort();
    permitOf(await first).release();

    expect(await second).toEqual({ kind: 'aborted' });
    expect((await third).kind).toBe('permit');
    expect(await permits.take(MODEL, 1, call)).toEqual({ kind: 'aborted' });
  });

  it('give their permits back soon, and an idle entry asks for nothing', async () => {
    const counter = new Counter();
    const permits = createPermits(counter.ask);
    const first = take(permits, 3);
    await vi.advanceTimersByTimeAsync(100);
    permitOf(await first).release();
    await vi.advanceTimersByTimeAsync(3_600_000);

    expect(counter.orders.map(({ permits: order }) => order)).toMatchObject([
      { n: 1, keeps: 0, wanted: 1 },
      { n: 2, keeps: 0, wanted: 0 },
    ]);
    expect(counter.state.permits?.workers).toEqual({});
    expect(vi.getTimerCount()).toBe(0);
  });

  it('give their permits back when the worker ends', async () => {
    const counter = new Counter();
    const permits = createPermits(counter.ask);
    const first = take(permits, 3);
    await vi.advanceTimersByTimeAsync(100);
    permitOf(await first).release();
    const closed = permits.close();
    await vi.advanceTimersByTimeAsync(100);
    await closed;

    expect(counter.state.permits?.workers).toEqual({});
  });
});

describe('a lease', () => {
  it('is renewed every ten seconds while a request is under way', async () => {
    const counter = new Counter();
    const permits = createPermits(counter.ask);
    const provider = new Provider();
    void take(permits, 2).then((taken) => provider.serve(permitOf(taken), 300_000));
    await vi.advanceTimersByTimeAsync(301_000);

    expect(provider.closed).toBe(0);
    expect(counter.orders.length).toBeGreaterThan(28);
    expect(counter.orders.length).toBeLessThan(33);
  });

  it('that cannot be renewed closes its requests before others get their permits', async () => {
    const counter = new Counter();
    const [cut, other] = [createPermits(counter.ask), createPermits(counter.ask)];
    const provider = new Provider();
    void take(cut, 1).then((taken) => provider.serve(permitOf(taken), 300_000));
    await vi.advanceTimersByTimeAsync(5_000);
    const reached = counter.ask;
    counter.isGone = true;
    await vi.advanceTimersByTimeAsync(LEASE_MS - 5_001);
    expect(provider.underWay).toBe(1);
    await vi.advanceTimersByTimeAsync(2);
    expect(provider).toMatchObject({ underWay: 0, closed: 1 });

    counter.isGone = false;
    expect(reached).toBe(counter.ask);
    const next = take(other, 1, { holdMs: Infinity });
    await vi.advanceTimersByTimeAsync(MARGIN_MS + 1_500);
    expect((await next).kind).toBe('permit');
  });

  it('is not believed while the machine sleeps', async () => {
    const counter = new Counter();
    const permits = createPermits(counter.ask);
    const provider = new Provider();
    void take(permits, 1).then((taken) => provider.serve(permitOf(taken), 300_000));
    await vi.advanceTimersByTimeAsync(1_000);
    counter.isGone = true;
    vi.setSystemTime(Date.now() + LEASE_MS);
    await vi.advanceTimersByTimeAsync(10_100);

    expect(provider.closed).toBe(1);
  });

  it('says why there is none while the counter does not answer', async () => {
    const counter = new Counter();
    counter.isGone = true;
    const permits = createPermits(counter.ask);
    const none = take(permits, 1);
    await vi.advanceTimersByTimeAsync(HOLD_MS);
    expect(await none).toMatchObject({ kind: 'busy', cause: 'gone' });
    counter.isGone = false;
    const some = take(permits, 1);
    await vi.advanceTimersByTimeAsync(HOLD_MS);
    expect((await some).kind).toBe('permit');
  });

  it('is not had from an answer without permits', async () => {
    const counter = new Counter();
    const permits = createPermits(async (id, order) => {
      const { permits: _permits, ...rest } = await counter.ask(id, order);
      return rest;
    });
    const none = take(permits, 1);
    await vi.advanceTimersByTimeAsync(HOLD_MS);
    expect(await none).toMatchObject({
      kind: 'busy',
      cause: expect.stringContaining('no permits'),
    });
  });
});

describe('three workers with more requests than permits', () => {
  it.each([
    { limit: 1, used: 0.8, orders: 600 },
    { limit: 2, used: 0.85, orders: 450 },
    { limit: 6, used: 0.95, orders: 250 },
    { limit: 10, used: 0.95, orders: 250 },
  ])('use $limit permits well, and never more', async ({ limit, used, orders }) => {
    const counter = new Counter();
    const provider = new Provider();
    const workers = [1, 2, 3].map(() => createPermits(counter.ask));
    const until = Date.now() + 180_000;
    for (const worker of workers) {
      keepAsking(worker, { limit, runs: 2 * limit + 2, ms: 2_000, until }, provider);
    }
    await vi.advanceTimersByTimeAsync(20_000);
    provider.average(20_000);
    await vi.advanceTimersByTimeAsync(120_000);

    expect(provider.average(120_000) / limit).toBeGreaterThan(used);
    expect(provider.most).toBe(limit);
    expect(counter.orders.length).toBeLessThan(orders);
  });

  it('use them well while many runs wait, which come back to any worker', async () => {
    const limit = 6;
    const counter = new Counter();
    const provider = new Provider();
    const workers = [1, 2, 3].map(() => createPermits(counter.ask));
    let asked = 0;
    const run = async (since: number): Promise<void> => {
      for (;;) {
        asked += 1;
        const taken = await take(workers[asked % 3] ?? createPermits(counter.ask), limit, {
          since,
        });
        if (taken.kind === 'permit') return provider.serve(taken.permit, 2_000);
        if (taken.kind === 'busy') await passed(taken.againInMs);
      }
    };
    for (let count = 0; count < 260; count++) void run(Date.now() + count);
    await vi.advanceTimersByTimeAsync(10_000);
    provider.average(1);
    await vi.advanceTimersByTimeAsync(60_000);

    expect(provider.average(60_000)).toBeGreaterThan(limit * 0.95);
    expect(provider.most).toBe(limit);
    // A run that waits for more than a minute comes back some times.
    expect(asked).toBeLessThan(260 * 8);
  });

  it('take over the permits of one that is killed, also when the counter is lost', async () => {
    const limit = 6;
    const counter = new Counter();
    const provider = new Provider();
    const until = Date.now() + 300_000;
    const workers = [1, 2, 3].map(() => createPermits(counter.ask));
    for (const worker of workers.slice(1)) {
      keepAsking(worker, { limit, runs: 12, ms: 2_000, until }, provider);
    }
    // The first dies with what it has under way, which the provider sees.
    const killed = new Provider();
    const dead = createPermits((id, order) =>
      Date.now() < until - 280_000 ? counter.ask(id, order) : new Promise(() => undefined),
    );
    keepAsking(dead, { limit, runs: 12, ms: 2_000, until: until - 280_000 }, killed);
    await vi.advanceTimersByTimeAsync(20_000);
    counter.state = NEW_COUNTER;
    counter.mayLackSince = Date.now();
    await vi.advanceTimersByTimeAsync(LEASE_MS + MARGIN_MS + 5_000);
    provider.average(1);
    await vi.advanceTimersByTimeAsync(60_000);

    expect(provider.average(60_000)).toBeGreaterThan(limit * 0.9);
    expect(provider.most).toBe(limit);
    expect(killed.most).toBeGreaterThan(0);
  });
});
