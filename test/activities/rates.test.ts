import { describe, expect, it } from 'vitest';
import { createRates, hasPassed } from '../../src/activities/rates.ts';
import type { AskCounter, LeaseOrder } from '../../src/core/rate/rate.ts';
import { leased, NEW_COUNTER, type RateCounter } from '../../src/core/rate/counter.ts';

const RATE = { requestsPerMinute: 62, tokensPerMinute: 62_000 };
const ASKED = { promptTokens: 100 };

/** A counter of three workers, whose clock stands. */
function counterAt(now: number): { readonly ask: AskCounter; readonly orders: LeaseOrder[] } {
  let counter: RateCounter = NEW_COUNTER;
  const orders: LeaseOrder[] = [];
  return {
    orders,
    ask: async (id, order) => {
      expect(id).toBe('~rate:m/1');
      await Promise.resolve();
      orders.push(order);
      const step = leased(counter, order, now);
      counter = step.counter;
      return step.answer;
    },
  };
}

describe('the requests of three workers', () => {
  it('have moments of their own, and those that wait are asked for together', async () => {
    const { ask, orders } = counterAt(1_000);
    const workers = [createRates(ask), createRates(ask), createRates(ask)];
    const moments = await Promise.all(
      workers.flatMap((worker) => [1, 2, 3].map(() => worker.next('m/1', RATE, ASKED))),
    );
    const times = moments.map((moment) => (moment.kind === 'at' ? moment.at : -1));

    expect(times.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 9 }, (_, index) => 1_000 + index * 1_000),
    );
    expect(orders).toHaveLength(6);
  });

  it('are estimated by what the last ones took, and corrected with the next', async () => {
    const { ask, orders } = counterAt(1_000);
    const worker = createRates(ask);
    for (let count = 0; count < 30; count++) {
      const moment = await worker.next('m/1', RATE, ASKED);
      const estimated = moment.kind === 'at' ? moment.tokens : 0;
      const usage = { inputTokens: 150, outputTokens: 20 };
      worker.ended({ model: 'm/1', estimated, asked: ASKED, usage });
    }

    expect(orders[0]).toMatchObject({ tokens: [600], corrected: 0 });
    expect(orders[1]?.corrected).toBe(170 - 600);
    expect(orders.at(-1)?.tokens[0]).toBeLessThan(180);
    const capped = await worker.next('m/1', RATE, { promptTokens: 10, maxOutputTokens: 5 });
    expect(capped).toMatchObject({ tokens: 20 });
  });

  it('hear of a counter that does not answer, and keep their corrections', async () => {
    const { ask, orders } = counterAt(1_000);
    let isGone = false;
    const worker = createRates((id, order) =>
      isGone ? Promise.reject(new Error('gone')) : ask(id, order),
    );
    await worker.next('m/1', RATE, ASKED);
    const usage = { inputTokens: 100, outputTokens: 0 };
    worker.ended({ model: 'm/1', estimated: 600, asked: ASKED, usage });
    isGone = true;
    expect(await worker.next('m/1', RATE, ASKED)).toEqual({ kind: 'silent', cause: 'gone' });
    isGone = false;
    await worker.next('m/1', RATE, ASKED);
    expect(orders.at(-1)).toMatchObject({ corrected: -500, known: { requestsAt: 2_000 } });
  });
});

describe('a worker', () => {
  it('believes no counter whose moments are none, and asks the next one as before', async () => {
    const { ask, orders } = counterAt(1_000);
    const marks = { requestsAt: null, tokensAt: 1e305 } as unknown as LeaseOrder['known'];
    let slot: unknown = null;
    let isBroken = true;
    const worker = createRates((id, order) =>
      isBroken ? Promise.resolve({ v: 1, slots: [slot as number], marks }) : ask(id, order),
    );
    const silent = { kind: 'silent', cause: 'it gave no moment' };
    expect(await worker.next('m/1', RATE, ASKED)).toEqual(silent);
    slot = 1e305;
    expect(await worker.next('m/1', RATE, ASKED)).toEqual(silent);
    isBroken = false;
    expect(await worker.next('m/1', RATE, ASKED)).toMatchObject({ kind: 'at', at: 1_000 });
    expect(orders[0]?.known).toEqual({ requestsAt: 0, tokensAt: 0 });
  });

  it.each([9e15, Infinity, NaN, -9e15])('believes no usage of %d tokens', async (tokens) => {
    const { ask, orders } = counterAt(1_000);
    const worker = createRates(ask);
    await worker.next('m/1', RATE, ASKED);
    const usage = { inputTokens: tokens, outputTokens: tokens };
    worker.ended({ model: 'm/1', estimated: 600, asked: ASKED, usage });
    const next = await worker.next('m/1', RATE, ASKED);

    expect(Math.abs(orders[1]?.corrected ?? Infinity)).toBeLessThanOrEqual(4_000_000);
    expect(next.kind === 'at' ? next.tokens : Infinity).toBeLessThan(1_000_000);
  });
});

it('lets a moment pass two seconds after it', () => {
  expect(hasPassed(1_000, 3_000)).toBe(false);
  expect(hasPassed(1_000, 3_001)).toBe(true);
});
