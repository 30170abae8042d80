import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGivenUpCalls, type GivenUpCalls } from '../../src/activities/given-up-calls.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A call of a provider that ends when it is told to. */
function provider() {
  const signals: AbortSignal[] = [];
  const ends: ((reply: string) => void)[] = [];
  const fails: ((error: Error) => void)[] = [];
  const begin = (signal: AbortSignal): Promise<string> => {
    signals.push(signal);
    return new Promise((resolve, reject) => {
      ends.push(resolve);
      fails.push(reject);
      signal.addEventListener('abort', () => resolve('aborted'), { once: true });
    });
  };
  return { signals, ends, fails, begin };
}

/** An attempt of call `c`. */
function attempt(
  calls: GivenUpCalls,
  begin: (signal: AbortSignal) => Promise<string>,
  start: number,
  { hasKey = true, key = 'c', bytes = 10 } = {},
) {
  const abort = new AbortController();
  const end = { isGivenUp: false };
  const onTakeOver = vi.fn();
  const ended = calls.run({
    key: hasKey ? key : undefined,
    start,
    signal: abort.signal,
    isGivenUp: () => end.isGivenUp,
    begin,
    onTakeOver,
    bytesOf: (reply) => (reply === 'aborted' ? null : bytes),
  });
  return {
    ended,
    onTakeOver,
    giveUp: () => {
      end.isGivenUp = true;
      abort.abort();
    },
    cancel: () => abort.abort(),
  };
}

/** The result of an attempt, and how the call had begun that it took over, if it did. */
async function outcomeOf({
  ended,
  onTakeOver,
}: Pick<ReturnType<typeof attempt>, 'ended' | 'onTakeOver'>): Promise<readonly unknown[]> {
  return [await ended, ...onTakeOver.mock.calls.flat()];
}

describe('a model call that the service gave up', () => {
  it('is taken over by the next attempt while it runs', async () => {
    const { begin, ends, signals } = provider();
    const calls = createGivenUpCalls();
    const first = attempt(calls, begin, 1);
    first.giveUp();
    await vi.advanceTimersByTimeAsync(9_000);
    const second = attempt(calls, begin, 2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    ends[0]?.('reply');

    expect(await outcomeOf(first)).toEqual(['reply']);
    expect(await outcomeOf(second)).toEqual(['reply', 1]);
    expect(second.onTakeOver).toHaveBeenCalledOnce();
    expect(first.onTakeOver).not.toHaveBeenCalled();
  });

  it('gives its reply to an attempt within 20 s, and is then made anew', async () => {
    const { begin, ends } = provider();
    const calls = createGivenUpCalls();
    const first = attempt(calls, begin, 1);
    ends[0]?.('reply');
    await first.ended;
    await vi.advanceTimersByTimeAsync(19_000);
    const second = attempt(calls, begin, 2);
    expect(await outcomeOf(second)).toEqual(['reply', 1]);

    await vi.advanceTimersByTimeAsync(2_000);
    const third = attempt(calls, begin, 3);
    ends[1]?.('other');
    expect(await outcomeOf(third)).toEqual(['other']);
  });

  it('is aborted when no attempt comes within 10 s', async () => {
    const { begin, signals } = provider();
    const calls = createGivenUpCalls();
    const first = attempt(calls, begin, 1);
    first.giveUp();
    await vi.advanceTimersByTimeAsync(9_999);
    expect(signals[0]?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);

    expect(signals[0]?.aborted).toBe(true);
    expect(await outcomeOf(first)).toEqual(['aborted']);
    const second = attempt(calls, begin, 2);
    expect(signals).toHaveLength(2);
    second.cancel();
    expect(await outcomeOf(second)).toEqual(['aborted']);
  });

  it('is aborted at once by a cancel, also of an attempt that took it over', async () => {
    const { begin, signals } = provider();
    const calls = createGivenUpCalls();
    const first = attempt(calls, begin, 1);
    first.giveUp();
    const second = attempt(calls, begin, 2);
    second.cancel();

    expect(signals[0]?.aborted).toBe(true);
    expect(await outcomeOf(second)).toEqual(['aborted', 1]);
    await vi.runAllTimersAsync();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is made anew when it failed, and fails for those who wait', async () => {
    const { begin, fails, ends } = provider();
    const calls = createGivenUpCalls();
    const first = attempt(calls, begin, 1);
    const second = attempt(calls, begin, 2);
    fails[0]?.(new Error('HTTP 503'));
    await expect(first.ended).rejects.toThrow('HTTP 503');
    await expect(second.ended).rejects.toThrow('HTTP 503');

    const third = attempt(calls, begin, 3);
    ends[1]?.('reply');
    expect(await outcomeOf(third)).toEqual(['reply']);
  });

  it('is made anew when its reply was too large to keep, or it has no key', async () => {
    const { begin, ends, signals } = provider();
    const calls = createGivenUpCalls();
    for (const options of [{ bytes: 16_000_001 }, { hasKey: false }]) {
      const one = attempt(calls, begin, 1, options);
      ends.at(-1)?.('reply');
      await one.ended;
      const other = attempt(calls, begin, 2, options);
      ends.at(-1)?.('reply');
      expect(await outcomeOf(other)).toEqual(['reply']);
    }
    expect(signals).toHaveLength(4);
  });

  it('keeps the newest replies: the oldest make room for them', async () => {
    const { begin, ends, signals } = provider();
    const calls = createGivenUpCalls();
    const answered = async (key: string, bytes: number): Promise<unknown> => {
      const one = attempt(calls, begin, 1, { key, bytes });
      ends.at(-1)?.(`reply of ${key}`);
      return (await outcomeOf(one))[1];
    };
    for (const key of ['a', 'b', 'c']) expect(await answered(key, 6_000_000)).toBe(undefined);
    expect(await answered('b', 6_000_000)).toBe(1);
    expect(await answered('c', 6_000_000)).toBe(1);
    expect(await answered('a', 1)).toBe(undefined);
    expect(signals).toHaveLength(4);
  });
});
