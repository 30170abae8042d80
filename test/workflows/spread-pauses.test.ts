/** The pauses of calls that wait for another worker, and how they are spread. */
import { describe, expect, it } from 'vitest';
import { createSpread, pausesOf } from '../../src/workflows/attempts/spread-pauses.ts';

/** No spread: as in histories of earlier code. */
const inStep = (): number => 0;

function tries(limitMs: number, seed: string, most = 100): readonly number[] {
  const pauses = pausesOf(limitMs, createSpread(seed));
  return Array.from({ length: most }, () => pauses.next().value).filter((ms) => ms !== undefined);
}

function sumOf(pauses: readonly number[]): number {
  return pauses.reduce((sum, ms) => sum + ms, 0);
}

const SEEDS = Array.from({ length: 200 }, (_, index) => `order-${index}`);

describe('a spread', () => {
  it('gives the same numbers to the same run, and others to another', () => {
    expect(tries(60_000, 'a')).toEqual(tries(60_000, 'a'));
    expect(tries(60_000, 'a')).not.toEqual(tries(60_000, 'b'));
  });

  it('covers -1 to 1 evenly, over runs with like ids and within each', () => {
    for (const numbers of [
      SEEDS.map((seed) => createSpread(seed)()),
      Array.from({ length: 200 }, createSpread('order-1')),
    ]) {
      const quarters = [0, 1, 2, 3].map((quarter) => {
        return numbers.filter((number) => Math.floor((number + 1) * 2) === quarter).length;
      });
      expect(Math.min(...quarters), String(quarters)).toBeGreaterThan(30);
      expect(sumOf(quarters)).toBe(200);
    }
  });

  it('puts two runs that wait at once in another order at half of their tries', () => {
    const pairs = SEEDS.map((seed, index) => [seed, SEEDS[(index + 1) % SEEDS.length] ?? '']);
    const isFirst = pairs.flatMap(([one = '', other = '']) => {
      const [mine, its] = [momentsOf(tries(60_000, one)), momentsOf(tries(60_000, other))];
      // The last try of a wait is at its limit.
      return mine.slice(0, -1).map((ms, index) => ms < (its[index] ?? 0));
    });
    const share = isFirst.filter(Boolean).length / isFirst.length;

    expect(share).toBeGreaterThan(0.45);
    expect(share).toBeLessThan(0.55);
  });
});

/** When each try begins, in ms since the wait began. */
function momentsOf(pauses: readonly number[]): readonly number[] {
  return pauses.map((_, index) => sumOf(pauses.slice(0, index + 1)));
}

describe('[R4] the pauses of a wait for another worker', () => {
  it.each([1, 75, 1_500, 8_200, 9_000, 120_000, 600_000, 3_600_000])(
    'of %i ms add up to it, as many as without a spread, none below 0',
    (limitMs) => {
      const plain = [...pausesOf(limitMs, inStep)];
      for (const seed of SEEDS) {
        const pauses = tries(limitMs, seed);
        expect(sumOf(pauses)).toBeCloseTo(limitMs, 5);
        expect(pauses).toHaveLength(plain.length);
        expect(Math.min(...pauses)).toBeGreaterThanOrEqual(0);
      }
    },
  );

  it('move each try by at most a quarter of the pause before it', () => {
    const plain = [...pausesOf(600_000, inStep)];
    const due = momentsOf(plain);
    for (const seed of SEEDS) {
      momentsOf(tries(600_000, seed)).forEach((ms, index) => {
        const moved = Math.abs(ms - (due[index] ?? 0));
        expect(moved).toBeLessThanOrEqual((plain[index] ?? 0) / 4 + 1);
      });
    }
  });

  it('grow by half from 1 s to 30 s, and to 10 minutes after the default wait', () => {
    const plain = pausesOf(Infinity, inStep);
    const pauses = Array.from({ length: 40 }, () => plain.next().value ?? 0);

    expect(pauses.slice(0, 4)).toEqual([1_000, 1_500, 2_250, 3_375]);
    expect(pauses[15]).toBe(30_000);
    expect(pauses.at(-1)).toBe(600_000);
    expect(pausesOf(60_000, inStep, { isResumed: true }).next().value).toBe(1_500);
  });
});
