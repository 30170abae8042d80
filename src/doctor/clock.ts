/**
 * How far this machine's clock is from that of the service. No question is answered with the
 * service's time, but the service notes when each worker last asked for work.
 *
 * A note never lies in the future of the service, so the newest one is a lower bound of its time. A
 * note that was not there when this machine looked before is an upper bound of what it was then.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClockBounds, SeenWorker } from './checks/doctor-service.ts';

/** How long to wait for a new note. Idle workers ask once a minute, busy ones all the time. */
const PATIENCE_MS = 2_000;
const PAUSE_MS = 200;

/** Compares the clocks by the notes that `look` gives. */
export async function readClock(
  look: () => Promise<readonly SeenWorker[]>,
  now: () => number = Date.now,
): Promise<ClockBounds> {
  let newest: number | null = null;
  let least: number | null = null;
  let most: number | null = null;
  let lookedAt: number | null = null;
  const started = performance.now();
  do {
    const askedAt = now();
    const seen = Math.max(...(await look()).map(({ seenAt }) => seenAt));
    if (seen > 0) most = Math.min(most ?? Infinity, now() - seen);
    if (newest !== null && lookedAt !== null && seen > newest) least = lookedAt - seen;
    if (seen > 0) newest = seen;
    lookedAt = askedAt;
    if (newest === null || least !== null) break;
    await sleep(PAUSE_MS);
  } while (performance.now() - started < PATIENCE_MS);
  return { least, most };
}
