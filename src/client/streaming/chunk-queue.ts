/**
 * The queue of one reader of provisional text and events. It is bounded: a slow reader loses its own
 * oldest items and does not affect others.
 *
 * I1  Text and events have bounds of their own, so much text costs no event.
 * I2  What is lost is a `gap` of text, and a `feed` mark among events.
 */
import type {
  Chunk,
  ChunkMarker,
  EventFeed,
  FeedMark,
  LiveItem,
  PushedEvent,
} from '../../core/streaming/chunk.ts';

/** A reader's stream. Ends when the run or the source ends, or on `unsubscribe`. */
export interface ReaderSubscription<Item> extends AsyncIterable<Item> {
  /** Ends the stream at once and drops the queue. May be called twice. */
  readonly unsubscribe: () => void;
}

/** The stream of a reader of chunks. */
export interface ChunkSubscription extends ReaderSubscription<Chunk | ChunkMarker> {}

/** The stream of a reader of events, and of chunks if it wants them. */
export interface EventSubscription extends ReaderSubscription<LiveItem> {}

/** One reader's queue. */
export interface ReaderQueue<Item> {
  readonly subscription: ReaderSubscription<Item>;
  /** Adds an item. A full queue drops its oldest items and delivers a mark in their place. */
  readonly push: (item: Item) => void;
  /** Ends the stream after the queued items. */
  readonly end: () => void;
  /** As `end`, but the reader then gets `error`. */
  readonly fail: (error: Error) => void;
}

/** Bounds the text too, because a model that does not stream sends its reply as one chunk. */
const MAX_QUEUED_CHARACTERS = 8_000_000;

/** Events of a reader that has stopped reading: some megabytes. It reads the others from the run. */
const MAX_QUEUED_EVENTS = 1_000;

/** A queue of at most `maxQueued` chunks; `onEnd` is called once, when it is closed. */
export function createReaderQueue<Item extends LiveItem>(
  maxQueued: number,
  onEnd: () => void,
): ReaderQueue<Item> {
  const items = createLanes(maxQueued);
  let hasEnded = false;
  let failure: Error | undefined;
  const waiting: Waiting<Item>[] = [];
  const takeFailure = (): Error | undefined => {
    const error = failure;
    failure = undefined;
    return error;
  };
  const end = (error?: Error): void => {
    if (hasEnded) return;
    hasEnded = true;
    failure = error;
    onEnd();
    for (const { resolve, reject } of waiting.splice(0)) {
      const thrown = takeFailure();
      if (thrown === undefined) resolve(END);
      else reject(thrown);
    }
  };
  const unsubscribe = (): void => {
    failure = undefined;
    items.clear();
    end();
  };
  const push = (item: Item): void => {
    if (hasEnded) return;
    const first = waiting.shift();
    if (first !== undefined) return first.resolve({ done: false, value: item });
    items.put(item);
  };
  const iterator: AsyncIterator<Item> = {
    next: () => {
      // The marks are those of the lanes that a reader has asked for.
      const item = items.take() as Item | undefined;
      if (item !== undefined) return Promise.resolve({ done: false, value: item });
      const error = takeFailure();
      if (error !== undefined) return Promise.reject(error);
      if (hasEnded) return Promise.resolve(END);
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    return: () => {
      unsubscribe();
      return Promise.resolve(END);
    },
  };
  const subscription = { unsubscribe, [Symbol.asyncIterator]: () => iterator };
  return { subscription, push, end: () => end(), fail: end };
}

interface Waiting<Item> {
  readonly resolve: (result: IteratorResult<Item>) => void;
  readonly reject: (error: Error) => void;
}

const END: IteratorResult<never> = { done: true, value: undefined };

/** The queued items of a reader, in the order in which they came. */
interface Lanes {
  readonly put: (item: LiveItem) => void;
  readonly take: () => LiveItem | undefined;
  readonly clear: () => void;
}

function createLanes(maxQueued: number): Lanes {
  const text = createLane<Chunk | ChunkMarker>(maxQueued);
  const events = createLane<PushedEvent | FeedMark>(MAX_QUEUED_EVENTS);
  let gap: ChunkMarker | undefined;
  let hasLostEvents = false;
  let feed: EventFeed = 'pushed';
  let count = 0;
  return {
    put: (item) => {
      count += 1;
      if (item.kind === 'event' || item.kind === 'feed') {
        if (item.kind === 'feed') feed = item.feed;
        hasLostEvents = events.put(item, count) !== undefined || hasLostEvents;
        return;
      }
      const lost = text.put(item, count);
      // A gap that is already waiting also covers later losses.
      if (lost !== undefined) gap ??= gapAt(lost);
    },
    take: () => {
      if (hasLostEvents) {
        hasLostEvents = false;
        return { kind: 'feed', feed };
      }
      const marker = gap;
      gap = undefined;
      if (marker !== undefined) return marker;
      return text.first() <= events.first() ? text.take() : events.take();
    },
    clear: () => {
      text.clear();
      events.clear();
      gap = undefined;
      hasLostEvents = false;
    },
  };
}

/** Items of one sort, bounded in number and characters. */
interface Lane<Item> {
  /** Adds item number `at`; returns the oldest of the items that were dropped to make room. */
  readonly put: (item: Item, at: number) => Item | undefined;
  readonly take: () => Item | undefined;
  /** The number of the oldest item; infinite when there is none. */
  readonly first: () => number;
  readonly clear: () => void;
}

function createLane<Item extends LiveItem>(maxQueued: number): Lane<Item> {
  let queue: { readonly item: Item; readonly at: number }[] = [];
  /** Index of the oldest item. Cheaper than `shift`, which would move all others. */
  let first = 0;
  let characters = 0;
  const take = (): Item | undefined => {
    const item = queue[first]?.item;
    if (item === undefined) return undefined;
    first += 1;
    characters -= lengthOf(item);
    if (first === queue.length || first >= maxQueued) {
      queue = queue.slice(first);
      first = 0;
    }
    return item;
  };
  return {
    take,
    first: () => queue[first]?.at ?? Infinity,
    put: (item, at) => {
      let oldestLost: Item | undefined;
      characters += lengthOf(item);
      while (queue.length - first >= maxQueued || characters > MAX_QUEUED_CHARACTERS) {
        const lost = take();
        if (lost === undefined) break;
        oldestLost ??= lost;
      }
      queue.push({ item, at });
      return oldestLost;
    },
    clear: () => {
      queue = [];
      first = 0;
      characters = 0;
    },
  };
}

function lengthOf(item: LiveItem): number {
  return 'delta' in item ? item.delta.length : 0;
}

/** The marker for missing items from `item` on, or from `seq` on. */
export function gapAt(item: Chunk | ChunkMarker, seq: number = item.seq): ChunkMarker {
  const { rootRunId, runId, agentPath, iteration, attempt } = item;
  return { rootRunId, runId, agentPath, iteration, attempt, seq, kind: 'gap' };
}
