/**
 * The queue of one reader of provisional text. It is bounded: a slow reader loses its own oldest
 * chunks and does not affect others.
 */
import type { Chunk, ChunkMarker } from '../core/streaming/chunk.ts';

/** A reader's stream. Ends when the run or the source ends, or on `unsubscribe`. */
export interface ChunkSubscription extends AsyncIterable<Chunk | ChunkMarker> {
  /** Ends the stream at once and drops the queue. May be called twice. */
  readonly unsubscribe: () => void;
}

type Item = Chunk | ChunkMarker;

/** One reader's queue. */
export interface ChunkQueue {
  readonly subscription: ChunkSubscription;
  /** Adds an item. A full queue drops its oldest items and delivers a `gap` in their place. */
  readonly push: (item: Item) => void;
  /** Ends the stream after the queued items. */
  readonly end: () => void;
  /** As `end`, but the reader then gets `error`. */
  readonly fail: (error: Error) => void;
}

/** Bounds the text too, because a model that does not stream sends its reply as one chunk. */
const MAX_QUEUED_CHARACTERS = 8_000_000;

/** A queue of at most `maxQueued` items; `onEnd` is called once, when it is closed. */
export function createChunkQueue(maxQueued: number, onEnd: () => void): ChunkQueue {
  const items = createItems(maxQueued);
  let gap: ChunkMarker | undefined;
  let hasEnded = false;
  let failure: Error | undefined;
  const waiting: Waiting[] = [];
  const take = (): Item | undefined => {
    const marker = gap;
    gap = undefined;
    return marker ?? items.take();
  };
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
    gap = undefined;
    end();
  };
  const push = (item: Item): void => {
    if (hasEnded) return;
    const first = waiting.shift();
    if (first !== undefined) return first.resolve({ done: false, value: item });
    const lost = items.put(item);
    // A gap that is already waiting also covers later losses.
    if (lost !== undefined) gap ??= gapAt(lost);
  };
  const iterator: AsyncIterator<Item> = {
    next: () => {
      const item = take();
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

interface Waiting {
  readonly resolve: (result: IteratorResult<Item>) => void;
  readonly reject: (error: Error) => void;
}

const END: IteratorResult<Item> = { done: true, value: undefined };

/** The queued items, bounded in number and characters. */
interface Items {
  /** Adds an item; returns the oldest of the items that were dropped to make room. */
  readonly put: (item: Item) => Item | undefined;
  readonly take: () => Item | undefined;
  readonly clear: () => void;
}

function createItems(maxQueued: number): Items {
  let queue: Item[] = [];
  /** Index of the oldest item. Cheaper than `shift`, which would move all others. */
  let first = 0;
  let characters = 0;
  const take = (): Item | undefined => {
    const item = queue[first];
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
    put: (item) => {
      let oldestLost: Item | undefined;
      characters += lengthOf(item);
      while (queue.length - first >= maxQueued || characters > MAX_QUEUED_CHARACTERS) {
        const lost = take();
        if (lost === undefined) break;
        oldestLost ??= lost;
      }
      queue.push(item);
      return oldestLost;
    },
    clear: () => {
      queue = [];
      first = 0;
      characters = 0;
    },
  };
}

function lengthOf(item: Item): number {
  return 'delta' in item ? item.delta.length : 0;
}

/** The marker for missing items from `item` on, or from `seq` on. */
export function gapAt(item: Chunk | ChunkMarker, seq: number = item.seq): ChunkMarker {
  const { rootRunId, runId, agentPath, iteration, attempt } = item;
  return { rootRunId, runId, agentPath, iteration, attempt, seq, kind: 'gap' };
}
