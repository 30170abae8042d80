/**
 * When a run is asked next: soon after news, then less and less often, and on the average at most
 * {@link ASKS_PER_SECOND} times a second, whatever happens in it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventFeed } from '../../core/streaming/chunk.ts';

const FIRST_MS = 100;

/** The longest pause, by how the events of the run come: pushed ones need a check only. */
const MAX_MS = { polled: 1_000, pushed: 5_000 } as const;

/** A little less than the two that are promised: what a page reads itself comes on top. */
const ASKS_PER_SECOND = 1.9;

/** Asks that may come at once after a time without. */
const BURST = 8;

/** The pace of one follower. */
export interface FollowPace {
  /** Counts one call to the service. */
  readonly count: () => void;
  /** Something has happened: the next pause is short. */
  readonly news: () => void;
  /** Ends the pause that is now. */
  readonly hurry: () => void;
  /** Waits until the run may be asked again, or until `signal` is aborted. `feed`: default `polled`. */
  readonly pause: (signal: AbortSignal, feed?: EventFeed) => Promise<void>;
}

/** A pace by the clock `now`, in ms. */
export function createPace(now: () => number = () => performance.now()): FollowPace {
  let left = BURST;
  let countedAt = now();
  let waitMs = FIRST_MS;
  let isHurried = false;
  let wake = (): void => undefined;
  const refill = (): void => {
    const at = now();
    left = Math.min(BURST, left + ((at - countedAt) / 1_000) * ASKS_PER_SECOND);
    countedAt = at;
  };
  return {
    count: () => {
      refill();
      left -= 1;
    },
    news: () => {
      waitMs = FIRST_MS;
    },
    hurry: () => {
      waitMs = FIRST_MS;
      isHurried = true;
      wake();
    },
    pause: async (signal, feed = 'polled') => {
      refill();
      const owedMs = left >= 1 ? 0 : ((1 - left) / ASKS_PER_SECOND) * 1_000;
      const hurried = new AbortController();
      wake = () => hurried.abort();
      // What hurries may shorten the pause, but never what is owed.
      await quietly(owedMs, signal);
      const restMs = Math.max(0, waitMs - owedMs);
      if (!isHurried) await quietly(restMs, AbortSignal.any([signal, hurried.signal]));
      isHurried = false;
      waitMs = Math.min(MAX_MS[feed], waitMs * 2);
    },
  };
}

async function quietly(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
