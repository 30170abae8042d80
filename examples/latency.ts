import type { AbortSignalLike } from '../src/core/contract/model.ts';

/**
 * Waits like a slow service does, so that demos can be watched and tests can kill in mid-call.
 * Rejects with the reason of the signal when that is aborted first.
 */
export function serviceTime(latencyMs: number, signal: AbortSignalLike): Promise<void> {
  if (latencyMs <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, latencyMs);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
