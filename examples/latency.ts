import { setTimeout as sleep } from 'node:timers/promises';

/** Waits like a slow service does, so that demos can be watched and tests can kill in mid-call. */
export async function serviceTime(latencyMs: number, signal: AbortSignal): Promise<void> {
  if (latencyMs > 0) await sleep(latencyMs, undefined, { signal });
}
