import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { detailsOfEarlierAttempt, withHeartbeat } from '../../src/activities/heartbeat.ts';

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

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('withHeartbeat', () => {
  test('sends none within the first half second', async () => {
    const { env, beats } = environment();

    const result = env.run(() => withHeartbeat(() => wait(499).then(() => 'done')));
    await vi.advanceTimersByTimeAsync(499);

    expect(await result).toBe('done');
    expect(beats).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('sends one after half a second, then one a second, until the exit', async () => {
    const { env, beats } = environment();
    let count = 0;

    const result = env.run(() =>
      withHeartbeat(() => wait(3_000), { details: () => ({ count: ++count }) }),
    );
    await vi.advanceTimersByTimeAsync(500);
    expect(beats).toEqual([{ count: 1 }]);
    await vi.advanceTimersByTimeAsync(2_500);
    await result;
    await vi.advanceTimersByTimeAsync(5_000);

    expect(beats).toEqual([{ count: 1 }, { count: 2 }, { count: 3 }]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('leaves the details to the next attempt when the run fails, however early', async () => {
    const { env, beats } = environment();
    const usage = { inputTokens: 5 };

    const result = env.run(() =>
      withHeartbeat(() => Promise.reject(new Error('boom')), { details: () => ({ usage }) }),
    );

    await expect(result).rejects.toThrow('boom');
    expect(beats).toEqual([{ usage }]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('sends none on a failure without details', async () => {
    const { env, beats } = environment();

    const result = env.run(() => withHeartbeat(() => Promise.reject(new Error('boom'))));

    await expect(result).rejects.toThrow('boom');
    expect(beats).toEqual([]);
  });

  test('sends none in a local activity', async () => {
    const { env, beats } = environment({ isLocal: true });

    const result = env.run(() => withHeartbeat(() => wait(2_000)));
    await vi.advanceTimersByTimeAsync(2_000);
    await result;

    expect(beats).toEqual([]);
  });
});

test('an attempt finds what the one before it left', async () => {
  const first = environment({ heartbeatDetails: undefined });
  const second = environment({ attempt: 2, heartbeatDetails: { usage: { inputTokens: 5 } } });

  expect(await first.env.run(async () => detailsOfEarlierAttempt())).toBeUndefined();
  expect(await second.env.run(async () => detailsOfEarlierAttempt())).toEqual({
    usage: { inputTokens: 5 },
  });
});
