import { CancelledFailure } from '@temporalio/activity';
import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createHeardCancels } from '../../src/activities/heard-cancels.ts';
import { rhythmOf, withHeartbeat, type BeatMoment } from '../../src/activities/heartbeat.ts';
import { defined } from '../../src/core/base/defined.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** An activity environment, and the details of its heartbeats in order. */
function environment(info: ConstructorParameters<typeof MockActivityEnvironment>[0] = {}) {
  const env = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
  const beats: unknown[] = [];
  env.on('heartbeat', (details: unknown) => beats.push(details));
  return { env, beats };
}

/** An attempt that waited so long for its start. */
function beating(timeoutMs: number | undefined, waitedMs = 0) {
  const scheduled = { currentAttemptScheduledTimestampMs: Date.now() - waitedMs };
  return { ...scheduled, ...defined({ heartbeatTimeoutMs: timeoutMs }) };
}

/** The reason of the signal, once it is aborted. */
function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
  });
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('withHeartbeat', () => {
  test.each([
    { timeoutMs: 3_000, firstMs: 1_500, everyMs: 1_000 },
    { timeoutMs: 4_000, firstMs: 2_000, everyMs: 1_333 },
    { timeoutMs: 15_000, firstMs: 2_000, everyMs: 5_000 },
    { timeoutMs: undefined, firstMs: 2_000, everyMs: 5_000 },
  ])(
    'sends the first after $firstMs ms of $timeoutMs ms, then one in each third',
    async ({ timeoutMs, firstMs, everyMs }) => {
      expect(rhythmOf(timeoutMs)).toEqual({ firstMs, everyMs });
      const { env, beats } = environment({ attempt: 3, ...beating(timeoutMs) });

      const result = env.run(() => withHeartbeat(() => wait(firstMs + 2 * everyMs + 1)));
      await vi.advanceTimersByTimeAsync(firstMs - 1);
      expect(beats).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(beats).toEqual([{ attempts: 3 }]);
      await vi.advanceTimersByTimeAsync(2 * everyMs + 1);
      await result;
      await vi.advanceTimersByTimeAsync(5 * everyMs);

      expect(beats).toEqual([{ attempts: 3 }, { attempts: 3 }, { attempts: 3 }]);
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test('sends two in a turn with a model call of 10 s, on a server elsewhere', async () => {
    const { env, beats } = environment(beating(15_000));

    const result = env.run(() => withHeartbeat(() => wait(10_000)));
    await vi.advanceTimersByTimeAsync(10_000);
    await result;

    expect(beats).toHaveLength(2);
  });

  test.each([
    { waitedMs: 900, sent: [] },
    { waitedMs: 1_100, sent: [{ isEntry: true }] },
  ])('that waited $waitedMs ms for its start sends $sent.length at entry', async (scene) => {
    const { env, beats } = environment(beating(5_000, scene.waitedMs));

    const more = ({ isEntry }: BeatMoment): object => (isEntry ? { isEntry } : {});
    const result = env.run(() => withHeartbeat(() => wait(100), { more }));
    await vi.advanceTimersByTimeAsync(100);
    await result;

    expect(beats).toMatchObject(scene.sent);
    expect(beats).toHaveLength(scene.sent.length);
  });

  test('is aborted at once by a cancel that is heard in the process, and sends none', async () => {
    const cancels = createHeardCancels();
    const { env, beats } = environment();

    const result = env.run(() =>
      withHeartbeat(({ signal }) => aborted(signal), { cancels, abortId: undefined }),
    );
    await vi.advanceTimersByTimeAsync(1);
    cancels.tell(env.context.info.workflowExecution?.runId ?? '');

    expect(await result).toBeInstanceOf(CancelledFailure);
    expect(beats).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is aborted by the service as well', async () => {
    const { env } = environment();

    const result = env.run(() => withHeartbeat(({ signal }) => aborted(signal)));
    await vi.advanceTimersByTimeAsync(1);
    env.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }));

    expect(await result).toBeInstanceOf(CancelledFailure);
  });

  test('sends none on an early failure', async () => {
    const { env, beats } = environment();

    const result = env.run(() => withHeartbeat(() => Promise.reject(new Error('boom'))));

    await expect(result).rejects.toThrow('boom');
    expect(beats).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    { blockedMs: 3_900, late: [] },
    { blockedMs: 4_100, late: [4_100] },
    { blockedMs: 12_000, late: [12_000] },
  ])('[R2] hears that code blocked for $blockedMs ms', async ({ blockedMs, late }) => {
    const { env } = environment(beating(5_000));
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const heard: number[] = [];
    const block = (): Promise<string> => {
      now += blockedMs;
      return Promise.resolve('done');
    };
    const onLate = async (lateMs: number): Promise<void> => void heard.push(lateMs);

    expect(await env.run(() => withHeartbeat(block, { onLate }))).toBe('done');
    expect(heard).toEqual(late);
    vi.restoreAllMocks();
  });

  test('sends none in a local activity', async () => {
    const { env, beats } = environment({ isLocal: true });

    const result = env.run(() => withHeartbeat(() => wait(20_000)));
    await vi.advanceTimersByTimeAsync(20_000);
    await result;

    expect(beats).toEqual([]);
  });
});
