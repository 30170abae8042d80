/**
 * What waits for one reader of provisional text: bounded, so that a reader that is slow or gone costs
 * its own oldest pieces and nobody else anything.
 */
import type { Chunk, ChunkMarker } from '../core/streaming/chunk.ts';

/** A reader's stream. Ends with the run, with its source, or by `unsubscribe`; leaving twice is fine. */
export interface ChunkSubscription extends AsyncIterable<Chunk | ChunkMarker> {
  /** Ends the stream at once and forgets what is queued. */
  readonly unsubscribe: () => void;
}

type Item = Chunk | ChunkMarker;

/** One reader's queue. */
export interface ChunkQueue {
  readonly subscription: ChunkSubscription;
  /** Takes an item; the oldest is lost when the queue is full, and a `gap` says so. */
  readonly push: (item: Chunk | ChunkMarker) => void;
  /** No more comes; what is queued is still delivered. */
  readonly end: () => void;
}

/** Also bounds what waits: a model that does not stream sends its reply in one piece. */
const MAX_QUEUED_CHARACTERS = 8_000_000;

/** A queue of at most `maxQueued`; `whenLeft` is called once, when it takes nothing more. */
export function createChunkQueue(maxQueued: number, whenLeft: () => void): ChunkQueue {
  let queue: Item[] = [];
  /** Index of the oldest item: dropping it by `shift` would move ten thousand others. */
  let first = 0;
  let characters = 0;
  let gap: ChunkMarker | undefined;
  let hasEnded = false;
  const waiting: ((result: IteratorResult<Item>) => void)[] = [];

  const takeOldest = (): Item | undefined => {
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
  const take = (): Item | undefined => {
    const marker = gap;
    gap = undefined;
    return marker ?? takeOldest();
  };
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    whenLeft();
    for (const resolve of waiting.splice(0)) resolve({ done: true, value: undefined });
  };
  const unsubscribe = (): void => {
    queue = [];
    first = 0;
    characters = 0;
    gap = undefined;
    end();
  };
  const push = (item: Item): void => {
    if (hasEnded) return;
    const resolve = waiting.shift();
    if (resolve !== undefined) {
      resolve({ done: false, value: item });
      return;
    }
    characters += lengthOf(item);
    while (queue.length - first >= maxQueued || characters > MAX_QUEUED_CHARACTERS) {
      const lost = takeOldest();
      if (lost === undefined) break;
      // One that is already due stands for everything lost since.
      gap ??= toGap(lost);
    }
    queue.push(item);
  };
  const iterator: AsyncIterator<Item> = {
    next: () => {
      const item = take();
      if (item !== undefined) return Promise.resolve({ done: false, value: item });
      if (hasEnded) return Promise.resolve({ done: true, value: undefined });
      return new Promise((resolve) => waiting.push(resolve));
    },
    return: () => {
      unsubscribe();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return { subscription: { unsubscribe, [Symbol.asyncIterator]: () => iterator }, push, end };
}

function lengthOf(item: Item): number {
  return 'delta' in item ? item.delta.length : 0;
}

function toGap({ rootRunId, runId, agentPath, iteration, attempt, seq }: Item): ChunkMarker {
  return { rootRunId, runId, agentPath, iteration, attempt, seq, kind: 'gap' };
}
