import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { withHeartbeat } from '../../src/activities/heartbeat.ts';

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

  test('sends one after half a second, then one a second, which count the attempts', async () => {
    const { env, beats } = environment({ attempt: 3 });

    const result = env.run(() => withHeartbeat(() => wait(3_000)));
    await vi.advanceTimersByTimeAsync(500);
    expect(beats).toEqual([{ attempts: 3 }]);
    await vi.advanceTimersByTimeAsync(2_500);
    await result;
    await vi.advanceTimersByTimeAsync(5_000);

    expect(beats).toEqual([{ attempts: 3 }, { attempts: 3 }, { attempts: 3 }]);
    expect(vi.getTimerCount()).toBe(0);
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
    const { env } = environment({ heartbeatTimeoutMs: 5_000 });
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

    const result = env.run(() => withHeartbeat(() => wait(2_000)));
    await vi.advanceTimersByTimeAsync(2_000);
    await result;

    expect(beats).toEqual([]);
  });
});
