/** Questions whose answers get lost, come late, or are refused. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { firstAnswer } from '../../src/client/connection/first-answer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A question whose tries end as told, in ms after their beginning: the null ones never. */
function asking(...ends: readonly ({ ms: number; answer?: string; error?: string } | null)[]): {
  readonly ask: () => Promise<string>;
  readonly at: number[];
} {
  const start = Date.now();
  const at: number[] = [];
  const ask = (): Promise<string> => {
    const end = ends[at.length];
    at.push(Date.now() - start);
    return new Promise((resolve, reject) => {
      if (end == null) return;
      const { ms, answer, error } = end;
      setTimeout(() => (answer === undefined ? reject(new Error(error)) : resolve(answer)), ms);
    });
  };
  return { ask, at };
}

const lost = (error: unknown): boolean => String(error).includes('lost');

describe('the first answer', () => {
  it.each([
    ['is that of the first try', [{ ms: 20, answer: 'a' }], 'a', [0], 20],
    [
      'comes from the second when the first is lost in silence',
      [null, { ms: 5, answer: 'b' }],
      'b',
      [0, 1_000],
      1_005,
    ],
    [
      'comes from the third when two are lost',
      [null, null, { ms: 5, answer: 'c' }],
      'c',
      [0, 1_000, 4_000],
      4_005,
    ],
    [
      'may be a slow one of the first',
      [{ ms: 9_000, answer: 'a' }, null, null],
      'a',
      [0, 1_000, 4_000],
      9_000,
    ],
    [
      'is asked for again at once when it is said to be lost',
      [
        { ms: 10, error: 'lost' },
        { ms: 10, answer: 'b' },
      ],
      'b',
      [0, 10],
      20,
    ],
    [
      'is a refusal that asking again would not change',
      [null, { ms: 5, error: 'refused' }],
      'Error: refused',
      [0, 1_000],
      1_005,
    ],
    [
      'is the last loss when no try is left',
      [
        { ms: 1, error: 'lost 1' },
        { ms: 1, error: 'lost 2' },
        { ms: 1, error: 'lost 3' },
      ],
      'Error: lost 3',
      [0, 1, 2],
      3,
    ],
    [
      'waits for a try that is open when others are lost',
      [
        { ms: 8_000, answer: 'a' },
        { ms: 1, error: 'lost 2' },
        { ms: 1, error: 'lost 3' },
      ],
      'a',
      [0, 1_000, 1_001],
      8_000,
    ],
  ])('%s', async (_name, ends, expected, tries, endMs) => {
    const { ask, at } = asking(...ends);
    const start = Date.now();

    const answer = firstAnswer(ask, lost).catch(String);
    await vi.advanceTimersByTimeAsync(endMs);

    expect(await answer).toBe(expected);
    expect(at).toEqual(tries);
    expect(Date.now() - start).toBe(endMs);
    expect(vi.getTimerCount()).toBe(0);
  });
});
