/** How the events of a run come to a reader that is connected to several workers. */
import type { EventFeed, FeedMark } from '../../core/streaming/chunk.ts';

/** The feeds of the connected workers. Each change gives the reader a mark. */
export interface EventFeeds {
  readonly set: (worker: string, feed: EventFeed) => void;
  readonly remove: (worker: string) => void;
}

/**
 * Begins with a mark. Events are `pushed` if every connected worker pushes them: any of them may take
 * the next task of the run.
 */
export function createEventFeeds(tell: (mark: FeedMark) => void): EventFeeds {
  const feeds = new Map<string, EventFeed>();
  const mark = (): void => {
    const all = [...feeds.values()];
    const isPushed = all.length > 0 && all.every((feed) => feed === 'pushed');
    tell({ kind: 'feed', feed: isPushed ? 'pushed' : 'polled' });
  };
  mark();
  return {
    set: (worker, feed) => {
      feeds.set(worker, feed);
      mark();
    },
    remove: (worker) => {
      if (feeds.delete(worker)) mark();
    },
  };
}
