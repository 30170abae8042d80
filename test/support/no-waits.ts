import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { vi } from 'vitest';

/**
 * Runs `work` with timeouts that fire as soon as nothing else is left to do, in the order of their
 * times: a grace time of seconds passes at once. Not for work that waits for sockets or processes,
 * which would be late for every deadline.
 */
export async function withoutWaits<Result>(work: () => Promise<Result>): Promise<Result> {
  const original = timers.setTimeout;
  // The clocks, too: what asks again until a time has passed would go on for as long as it really takes.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  vi.setTimerTickMode('nextTimerAsync');
  setSleep(sleep);
  try {
    return await work();
  } finally {
    vi.useRealTimers();
    setSleep(original);
  }
}

/** What `setTimeout` of `node:timers/promises` is, over the timers of vitest. */
function sleep(
  ms: number,
  value: unknown,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(value), ms);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    if (signal?.aborted === true) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Named imports of the module are copies, which Node renews when it is asked to. */
function setSleep(setTimeout: unknown): void {
  Object.assign(timers, { setTimeout });
  syncBuiltinESMExports();
}
