/**
 * Waits like a slow service does, so that people can watch demos and tests can kill in mid-call.
 * Rejects with the signal's reason if the signal aborts first.
 */
export function serviceTime(latencyMs: number, signal: AbortSignal): Promise<void> {
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
