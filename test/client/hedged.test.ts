/** Questions whose answers get lost, come late, or are refused. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { hedged, type TryEnd } from '../../src/client/connection/hedged.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** How a try ends, in ms after its beginning; null: never. */
type End = { readonly ms: number; readonly answer?: string; readonly error?: string } | null;

/** A question whose tries end as told. */
function asking(...ends: readonly End[]): {
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

/** What an error says by its first word. */
const endOf = (error: unknown): TryEnd => {
  const [, word] = /^Error: (\w+)/.exec(String(error)) ?? [];
  return word === 'lost' || word === 'refused' ? word : 'final';
};

type Case = readonly [string, readonly End[], string, readonly number[], number];

const CASES: readonly Case[] = [
  ['is answered by its first try', [{ ms: 20, answer: 'a' }], 'a', [0], 20],
  [
    'is answered by the second when the first is lost in silence',
    [null, { ms: 5, answer: 'b' }],
    'b',
    [0, 1_000],
    1_005,
  ],
  [
    'is answered by the third when two are lost',
    [null, null, { ms: 5, answer: 'c' }],
    'c',
    [0, 1_000, 4_000],
    4_005,
  ],
  [
    'may be answered late by the first',
    [{ ms: 9_000, answer: 'a' }, null, null],
    'a',
    [0, 1_000, 4_000],
    9_000,
  ],
  [
    'is asked again at once when a try says that it is lost',
    [
      { ms: 10, error: 'lost' },
      { ms: 10, answer: 'b' },
    ],
    'b',
    [0, 10],
    20,
  ],
  [
    'ends with a final error of any try',
    [null, { ms: 5, error: 'no' }],
    'Error: no',
    [0, 1_000],
    1_005,
  ],
  [
    'ends with the last loss when no try is left',
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
    'waits for an open try when others are lost',
    [
      { ms: 8_000, answer: 'a' },
      { ms: 1, error: 'lost 2' },
      { ms: 1, error: 'lost 3' },
    ],
    'a',
    [0, 1_000, 1_001],
    8_000,
  ],
  [
    'waits for an open try when a later one is refused',
    [
      { ms: 1_500, answer: 'a' },
      { ms: 1, error: 'refused' },
    ],
    'a',
    [0, 1_000],
    1_500,
  ],
  ['is refused when nothing else is open', [{ ms: 1, error: 'refused' }], 'Error: refused', [0], 1],
];

describe('a hedged question', () => {
  it.each(CASES)('%s', async (_name, ends, expected, tries, endMs) => {
    const { ask, at } = asking(...ends);
    const start = Date.now();

    const answer = hedged(ask, { endOf, asksBeside: true }).catch(String);
    await vi.advanceTimersByTimeAsync(endMs);

    expect(await answer).toBe(expected);
    expect(at).toEqual(tries);
    expect(Date.now() - start).toBe(endMs);
  });

  it('begins no try after its answer, also when others are lost then', async () => {
    const { ask, at } = asking({ ms: 2_000, error: 'lost' }, { ms: 5, answer: 'b' });

    const answer = hedged(ask, { endOf, asksBeside: true });
    await vi.advanceTimersByTimeAsync(10_000);

    expect(await answer).toBe('b');
    expect(at).toEqual([0, 1_000]);
  });

  it('is asked again only after a loss where nothing may stay open', async () => {
    const { ask, at } = asking({ ms: 2_000, error: 'lost' }, { ms: 5, answer: 'b' });

    const answer = hedged(ask, { endOf, asksBeside: false });
    await vi.advanceTimersByTimeAsync(10_000);

    expect(await answer).toBe('b');
    expect(at).toEqual([0, 2_000]);
  });

  it('rejects with what a try throws before it begins', async () => {
    const ask = (): Promise<string> => {
      throw new Error('broken');
    };

    await expect(hedged(ask, { endOf, asksBeside: true })).rejects.toThrow('broken');
    expect(vi.getTimerCount()).toBe(0);
  });
});
