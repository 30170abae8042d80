import { describe, expect, test, vi } from 'vitest';
import {
  attempt,
  STOP_GRACE_MS,
  type AttemptOutcome,
  type AttemptBounds,
} from '../../src/tools/attempt.ts';

/** Runs an attempt on a fake clock: `signal` is aborted at `stopAtMs`; tells when it settled. */
async function timed(
  work: (signal: AbortSignal) => unknown,
  bounds: Omit<AttemptBounds, 'signal'> & { readonly stopAtMs?: number },
): Promise<{ readonly outcome: AttemptOutcome; readonly tookMs: number }> {
  vi.useFakeTimers();
  try {
    const controller = new AbortController();
    const { stopAtMs, ...rest } = bounds;
    if (stopAtMs !== undefined) setTimeout(() => controller.abort('stop'), stopAtMs);
    const startedAt = Date.now();
    let tookMs = 0;
    const running = attempt(work, { signal: controller.signal, ...rest }).then((outcome) => {
      tookMs = Date.now() - startedAt;
      return outcome;
    });
    await vi.advanceTimersByTimeAsync(100_000);
    const outcome = await running;
    return { outcome, tookMs };
  } finally {
    vi.useRealTimers();
  }
}

const never = (): Promise<never> => new Promise(() => {});

/** Settles `ms` after it was told to stop. */
function obeying(ms: number): (signal: AbortSignal) => Promise<string> {
  return (signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => setTimeout(() => resolve('late'), ms));
    });
}

const late = { kind: 'returned', value: 'late' };

describe('an attempt', () => {
  test.each([
    {
      name: 'ends with what the function returns',
      work: () => 5,
      bounds: {},
      outcome: { kind: 'returned', value: 5 },
      tookMs: 0,
    },
    {
      name: 'ends with what the function throws',
      work: () => {
        throw new Error('boom');
      },
      bounds: {},
      outcome: { kind: 'threw', error: new Error('boom') },
      tookMs: 0,
    },
    {
      name: 'ends at its deadline',
      work: never,
      bounds: { timeoutMs: 50 },
      outcome: { kind: 'timed_out' },
      tookMs: 50,
    },
    {
      name: 'ends at its deadline though the function is about to obey',
      work: obeying(10),
      bounds: { timeoutMs: 50 },
      outcome: { kind: 'timed_out' },
      tookMs: 50,
    },
    {
      name: 'gives grace at the deadline when asked to',
      work: obeying(10),
      bounds: { timeoutMs: 50, graceAtDeadline: true },
      outcome: { kind: 'timed_out', late },
      tookMs: 60,
    },
    {
      name: 'gives grace when it is stopped',
      work: obeying(10),
      bounds: { stopAtMs: 20, timeoutMs: 50 },
      outcome: { kind: 'stopped', late },
      tookMs: 30,
    },
    {
      name: 'gets on without a function that does not hear',
      work: never,
      bounds: { stopAtMs: 20 },
      outcome: { kind: 'stopped' },
      tookMs: 20 + STOP_GRACE_MS,
    },
    {
      name: 'waits as long as it is told to',
      work: obeying(10),
      bounds: { stopAtMs: 20, graceMs: 9 },
      outcome: { kind: 'stopped' },
      tookMs: 29,
    },
  ])('$name', async ({ work, bounds, outcome, tookMs }) => {
    expect(await timed(work, bounds)).toEqual({ outcome, tookMs });
  });

  test('hands on why it was stopped', async () => {
    const reasons: unknown[] = [];

    await timed(
      (signal) => {
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        return never();
      },
      { stopAtMs: 5 },
    );

    expect(reasons).toEqual(['stop']);
  });

  test('does not begin when it was stopped before', async () => {
    const work = vi.fn();

    expect(await attempt(work, { signal: AbortSignal.abort() })).toEqual({ kind: 'unstarted' });
    expect(work).not.toHaveBeenCalled();
  });

  test('hears of a stop in the first, synchronous part of the function', async () => {
    const controller = new AbortController();

    const outcome = await attempt(
      () => {
        controller.abort();
        return never();
      },
      { signal: controller.signal, graceMs: 1 },
    );

    expect(outcome).toEqual({ kind: 'stopped' });
  });
});
