/**
 * Hears from workers that a run has begun, waits, goes on or has ended, so that lists of runs need
 * not wait for their next reading.
 *
 * I1  Workers are heard only while somebody listens.
 * I2  It is a hint: where no worker pushes events, lists are read as often as ever.
 */
import type { FeedMark, PushedEvent } from '../../core/streaming/chunk.ts';
import type { ConsoleClient } from '../console-client.ts';
import { CHANGES_LIST } from './telling-events.ts';

/** How long after a failure workers are heard again, in ms. */
const RETRY_MS = 30_000;

/** Counts who listens. */
export interface ListNews {
  /** Returns how to leave. */
  readonly listen: () => () => void;
  readonly close: () => void;
}

/** Calls `onNews` for each event that changes a list, while somebody listens. */
export function createListNews(
  everloop: Pick<ConsoleClient, 'pushedEvents'>,
  onNews: () => void,
): ListNews {
  let listeners = 0;
  let stop: (() => void) | undefined;
  const end = (): void => {
    stop?.();
    stop = undefined;
  };
  return {
    listen: () => {
      listeners += 1;
      stop ??= hear(everloop, onNews);
      return () => {
        listeners -= 1;
        if (listeners === 0) end();
      };
    },
    close: end,
  };
}

/** Hears until the returned function is called. */
function hear(everloop: Pick<ConsoleClient, 'pushedEvents'>, onNews: () => void): () => void {
  let isLeft = false;
  let items: AsyncIterator<PushedEvent | FeedMark> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const read = async (): Promise<void> => {
    try {
      const events = everloop.pushedEvents({ types: CHANGES_LIST });
      items = events[Symbol.asyncIterator]();
      for (;;) {
        const next = await items.next();
        if (isLeft || next.done === true) break;
        if (next.value.kind === 'event') onNews();
      }
    } catch {
      // No worker takes the token, say. The lists are read all the same.
    }
    if (!isLeft) timer = setTimeout(() => void read(), RETRY_MS).unref();
  };
  void read();
  return () => {
    isLeft = true;
    clearTimeout(timer);
    void items?.return?.();
  };
}
