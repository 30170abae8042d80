import { describe, expect, it } from 'vitest';
import { isModelRate, isRate, type Rate } from '../../../src/core/base/rate.ts';
import { readLeaseOrder, type LeaseOrder } from '../../../src/core/rate/rate.ts';
import { LATE_MS, leased, MOST_AHEAD_MS, NEW_COUNTER } from '../../../src/core/rate/counter.ts';

const MINUTE = 60_000;
const T0 = 1_000_000;
const NOTHING = { requestsAt: 0, tokensAt: 0 };

function order(rate: Rate, tokens: readonly number[], more: Partial<LeaseOrder> = {}): LeaseOrder {
  return { v: 1, rate, tokens, corrected: 0, known: NOTHING, ...more };
}

/** A generator that every run of the tests repeats. */
function draws(seed: number): (below: number) => number {
  let at = seed;
  return (below) => {
    at = (at * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((at / 2_147_483_648) * below);
  };
}

/** The most of `amount` that is sent in any minute. */
function mostInMinute(sent: readonly { readonly at: number; readonly amount: number }[]): number {
  const inOrder = sent.toSorted((a, b) => a.at - b.at);
  let first = 0;
  let sum = 0;
  let most = 0;
  for (const { at, amount } of inOrder) {
    sum += amount;
    while ((inOrder[first]?.at ?? at) <= at - MINUTE) sum -= inOrder[first++]?.amount ?? 0;
    most = Math.max(most, sum);
  }
  return most;
}

describe('requests', () => {
  it.each([6, 10, 60, 600, 6_000])(
    'of three workers are never more than %i in a minute, and nearly as many',
    (requestsPerMinute) => {
      const random = draws(requestsPerMinute);
      const sent: { at: number; amount: number }[] = [];
      let counter = NEW_COUNTER;
      let now = T0;
      while (now < T0 + 10 * MINUTE) {
        // Whichever worker asks, for as many as wait there.
        const tokens = Array.from({ length: 1 + random(20) }, () => 0);
        const step = leased(counter, order({ requestsPerMinute }, tokens), now);
        counter = step.counter;
        for (const slot of step.answer.slots) sent.push({ at: slot + random(LATE_MS), amount: 1 });
        now = Math.max(now + random(200), Math.min(...step.answer.slots) - 5_000);
      }

      expect(mostInMinute(sent)).toBeLessThanOrEqual(requestsPerMinute);
      const within = sent.filter(({ at }) => at >= T0 && at < T0 + 10 * MINUTE).length;
      expect(within).toBeGreaterThanOrEqual(Math.floor(requestsPerMinute * 10 * 0.9));
    },
  );

  it('are not made up for after a pause', () => {
    const rate = { requestsPerMinute: 62 };
    const first = leased(NEW_COUNTER, order(rate, [0, 0, 0]), T0);
    const later = leased(first.counter, order(rate, [0, 0, 0]), T0 + MINUTE);

    expect(first.answer.slots).toEqual([T0, T0 + 1_000, T0 + 2_000]);
    expect(later.answer.slots).toEqual([T0 + MINUTE, T0 + MINUTE + 1_000, T0 + MINUTE + 2_000]);
  });

  it('go on where a worker knows that a lost counter was', () => {
    const rate = { requestsPerMinute: 62, tokensPerMinute: 1_000_000 };
    const { answer } = leased(
      NEW_COUNTER,
      order(
        rate,
        Array.from({ length: 31 }, () => 5),
      ),
      T0,
    );
    const anew = leased(NEW_COUNTER, order(rate, [5], { known: answer.marks }), T0 + 10);

    expect(anew.answer.slots).toEqual([T0 + 31_000]);
    const mad = { requestsAt: 1e15, tokensAt: 1e15 };
    const bounded = leased(NEW_COUNTER, order(rate, [5], { known: mad }), T0).answer.slots[0] ?? 0;
    expect(bounded).toBeLessThanOrEqual(T0 + 10 * MINUTE);
  });
});

describe('tokens', () => {
  it('are at most 20 % over in any minute while estimates are half of what is taken', () => {
    const random = draws(11);
    const rate = { tokensPerMinute: 100_000 };
    const taken: { at: number; amount: number }[] = [];
    const open: { at: number; extra: number }[] = [];
    let counter = NEW_COUNTER;
    let ratio = 1;
    for (let now = T0; now < T0 + 10 * MINUTE; now += 250) {
      // Calls take five seconds; what they took beyond their estimates is told then.
      const ended = open.filter(({ at }) => at + 5_000 <= now);
      for (const one of ended) open.splice(open.indexOf(one), 1);
      const corrected = ended.reduce((sum, { extra }) => sum + extra, 0);
      const real = 500 + random(1_000);
      const estimate = Math.ceil((real / 2) * ratio);
      // A worker learns from what ends.
      if (ended.length > 0) ratio += 0.2 * (2 - ratio);
      if (Math.max(counter.tokensAt, 0) > now + 5_000 && corrected === 0) continue;
      const step = leased(counter, order(rate, [estimate], { corrected }), now);
      counter = step.counter;
      const at = step.answer.slots[0] ?? now;
      taken.push({ at, amount: real });
      open.push({ at, extra: real - estimate });
    }
    expect(mostInMinute(taken)).toBeLessThanOrEqual(120_000);
    const sum = taken
      .filter(({ at }) => at < T0 + 10 * MINUTE)
      .reduce((all, { amount }) => all + amount, 0);
    expect(sum).toBeGreaterThan(900_000);
  });

  it('that one request needs for more than a minute delay the next, and end none', () => {
    const rate = { tokensPerMinute: 62_000 };
    const { answer } = leased(NEW_COUNTER, order(rate, [124_000, 100]), T0);

    expect(answer.slots[0]).toBe(T0);
    expect(answer.slots[1]).toBeGreaterThan(T0 + 100_000);
  });

  it('that were not taken are given back', () => {
    const rate = { tokensPerMinute: 62_000 };
    const { counter } = leased(NEW_COUNTER, order(rate, [31_000]), T0);
    const kept = leased(counter, order(rate, [1_000]), T0 + 1_000).answer.slots[0];
    const given = leased(counter, order(rate, [1_000], { corrected: -31_000 }), T0 + 1_000);

    expect(kept).toBeGreaterThanOrEqual(T0 + 20_000);
    expect(given.answer.slots[0]).toBe(T0 + 1_000);
  });
});

describe('an order that no worker sends', () => {
  const HOSTILE: readonly LeaseOrder[] = [
    order({ requestsPerMinute: 1e-300 }, [1, 1]),
    order({ requestsPerMinute: 1e-300, tokensPerMinute: 1e-300 }, [1e308, 0], { corrected: 1e308 }),
    order({ tokensPerMinute: 1e-12 }, [0], { corrected: -1e308 }),
    order({ tokensPerMinute: 1 }, [1e308, 1], { known: { requestsAt: 1e308, tokensAt: 1e308 } }),
  ];

  it('leaves moments that are numbers, at most a year away', () => {
    let counter = NEW_COUNTER;
    for (const hostile of [...HOSTILE, ...HOSTILE]) {
      expect(readLeaseOrder(hostile)).not.toBeNull();
      const step = leased(counter, hostile, T0);
      const { slots, marks } = step.answer;
      for (const at of [...slots, ...Object.values(marks)]) {
        expect(at).toBeGreaterThanOrEqual(0);
        expect(at).toBeLessThanOrEqual(T0 + MOST_AHEAD_MS);
      }
      // A hand-over carries it as JSON.
      counter = JSON.parse(JSON.stringify(step.counter)) as typeof counter;
      expect(counter).toEqual(step.counter);
    }
  });

  it('heals a counter of an earlier link that it had broken', () => {
    const lost = JSON.parse('{"v":1,"requestsAt":1e305,"tokensAt":null}') as typeof NEW_COUNTER;
    const { answer } = leased(lost, order({ requestsPerMinute: 60 }, [1]), T0);
    expect(answer.slots).toEqual([T0 + MOST_AHEAD_MS]);
  });
});

describe('a rate', () => {
  it.each([
    [{ requestsPerMinute: 1 }, true],
    [{ tokensPerMinute: 0.5 }, true],
    [{ requestsPerMinute: 0 }, false],
    [{ requestsPerMinute: -1 }, false],
    [{ requestsPerMinute: NaN }, false],
    [{ requestsPerMinute: Infinity }, false],
    [{ requestsPerMinute: '60' }, false],
    [{ perMinute: 60 }, false],
    [{ concurrency: 1 }, false],
    [{}, false],
    [null, false],
  ])('%j: %s', (value, fits) => {
    expect(isRate(value)).toBe(fits);
  });

  it.each([
    [{ concurrency: 1 }, true],
    [{ concurrency: 1_000_000, tokensPerMinute: 1 }, true],
    [{ requestsPerMinute: 1 }, true],
    [{ concurrency: 1_000_001 }, false],
    [{ concurrency: 1, requestsPerMinute: 0 }, false],
    [{ concurrency: 0 }, false],
    [{ concurrency: '5' }, false],
    [{}, false],
    [null, false],
  ])('of a model, %j: %s', (value, fits) => {
    expect(isModelRate(value)).toBe(fits);
  });

  it('is asked for in a form that a counter believes, or not at all', () => {
    const good = order({ requestsPerMinute: 1 }, [1, 2]);
    expect(readLeaseOrder(good)).toBe(good);
    for (const bad of [
      null,
      { ...good, v: 2 },
      { ...good, tokens: [-1] },
      { ...good, tokens: Array.from({ length: 201 }, () => 0) },
      { ...good, rate: { requestsPerMinute: 0 } },
      { ...good, corrected: 'much' },
      { ...good, known: null },
    ]) {
      expect(readLeaseOrder(bad)).toBeNull();
    }
  });
});
