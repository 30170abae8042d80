import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReads } from '../../src/console/bounded-reads.ts';

/** Reads that are open until they are told what to answer. */
function openReads() {
  const answers: ((value: string) => void)[] = [];
  const read = (): Promise<string> => new Promise((resolve) => answers.push(resolve));
  return { answers, read };
}

describe('the reads of a console', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('are one while they are new, and a later one is not held up by one that never ends', async () => {
    const { once } = createReads();
    const { answers, read } = openReads();
    const first = once('program', read);
    vi.advanceTimersByTime(900);
    const second = once('program', read);
    expect(answers).toHaveLength(1);

    vi.advanceTimersByTime(200);
    const later = once('program', read);
    const beside = once('program', read);
    expect(answers).toHaveLength(2);
    answers[1]?.('new');
    expect(await Promise.all([later, beside])).toEqual(['new', 'new']);

    answers[0]?.('old');
    expect(await Promise.all([first, second])).toEqual(['old', 'old']);
  });

  it('begin anew when one has ended, and an old one that ends does not end the sharing', async () => {
    const { once } = createReads();
    const { answers, read } = openReads();
    const first = once('program', read);
    vi.advanceTimersByTime(1_100);
    const second = once('program', read);
    answers[0]?.('old');
    await first;
    const third = once('program', read);
    expect(answers).toHaveLength(2);
    answers[1]?.('new');
    expect(await Promise.all([second, third])).toEqual(['new', 'new']);
    void once('program', read);
    expect(answers).toHaveLength(3);
  });

  it('count until they end, also those that are not shared any more', async () => {
    const { once } = createReads(12_000, 2);
    const { answers, read } = openReads();
    const first = once('program', read);
    vi.advanceTimersByTime(1_100);
    void once('program', read);
    await expect(once('tree', read)).rejects.toThrow('Too much is asked for at once');
    answers[0]?.('old');
    await first;
    void once('tree', read);
    expect(answers).toHaveLength(3);
  });

  it('cost no place when they fail before they begin', async () => {
    const { once } = createReads(12_000, 1);
    const broken = (): Promise<string> => {
      throw new Error('no client');
    };
    await expect(once('a', broken)).rejects.toThrow('no client');
    expect(await once('b', async () => 'here')).toBe('here');
  });
});
