/**
 * Provisional text inside one process: model activities publish, readers subscribe.
 *
 * Invariants
 * - I1: publishing never waits and never throws because of a reader.
 * - I2: a reader that is too slow loses its oldest pieces and learns of it by a `gap`.
 * - I3: nothing of a run is delivered after {@link ChunkBus.endRun}; its readers end.
 *
 * An adapter that carries chunks between processes implements the same interface.
 */
import {
  fitsFilter,
  type Chunk,
  type ChunkFilter,
  type ChunkMarker,
} from '../core/streaming/chunk.ts';

/** What {@link createChunkBus} goes by when nothing else is said. */
export const CHUNK_BUS_DEFAULTS = {
  /** Some minutes of one model's output; about 3 MB when a reader has stopped reading. */
  maxQueued: 10_000,
  /** So many ended runs are remembered, so that a late reader ends at once instead of waiting. */
  maxEndedRuns: 1_000,
} as const;

/** A reader's stream. Ends with the run, with the bus, or by `unsubscribe`; leaving twice is fine. */
export interface ChunkSubscription extends AsyncIterable<Chunk | ChunkMarker> {
  /** Ends the stream at once and forgets what is queued. */
  readonly unsubscribe: () => void;
}

/** Carries provisional text from publishers to readers. There is no replay. */
export interface ChunkBus {
  readonly publish: (item: Chunk | ChunkMarker) => void;
  /** Whatever fits `filter` from now on; an empty filter takes all. */
  readonly subscribe: (filter: ChunkFilter) => ChunkSubscription;
  /**
   * Says that a run has ended: its readers, and those of its tree when it is the root, get what is
   * queued and then end. What is published for it later is dropped.
   */
  readonly endRun: (runId: string) => void;
  /** Ends every stream. */
  readonly close: () => void;
}

/** A bus for this process. `maxQueued` is the length of each reader's queue. */
export function createChunkBus(options: { readonly maxQueued?: number } = {}): ChunkBus {
  const maxQueued = options.maxQueued ?? CHUNK_BUS_DEFAULTS.maxQueued;
  const readers = new Map<Reader, ChunkFilter>();
  const endedRuns = new Set<string>();
  const hasEnded = (filter: ChunkFilter): boolean =>
    [filter.runId, filter.rootRunId].some((id) => id !== undefined && endedRuns.has(id));
  let isClosed = false;

  return {
    publish: (item) => {
      if (endedRuns.has(item.runId) || endedRuns.has(item.rootRunId)) return;
      for (const [reader, filter] of readers) {
        if (fitsFilter(filter, item)) reader.push(item);
      }
    },
    subscribe: (filter) => {
      const reader = createReader(maxQueued, () => readers.delete(reader));
      if (isClosed || hasEnded(filter)) reader.end();
      else readers.set(reader, filter);
      return reader.subscription;
    },
    endRun: (runId) => {
      endedRuns.add(runId);
      const oldest = endedRuns.values().next();
      if (endedRuns.size > CHUNK_BUS_DEFAULTS.maxEndedRuns && oldest.done !== true) {
        endedRuns.delete(oldest.value);
      }
      for (const [reader, filter] of readers) {
        if (hasEnded(filter)) reader.end();
      }
    },
    close: () => {
      isClosed = true;
      for (const reader of readers.keys()) reader.end();
    },
  };
}

type Item = Chunk | ChunkMarker;

interface Reader {
  readonly subscription: ChunkSubscription;
  readonly push: (item: Item) => void;
  /** No more comes; what is queued is still delivered. */
  readonly end: () => void;
}

/** One reader's queue; `whenLeft` is called once, when it takes nothing more. */
function createReader(maxQueued: number, whenLeft: () => void): Reader {
  let queue: Item[] = [];
  /** Index of the oldest item: dropping it by `shift` would move ten thousand others. */
  let first = 0;
  let gap: ChunkMarker | undefined;
  let hasEnded = false;
  const waiting: ((result: IteratorResult<Item>) => void)[] = [];

  const takeOldest = (): Item | undefined => {
    const item = queue[first];
    if (item === undefined) return undefined;
    first += 1;
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
    if (queue.length - first >= maxQueued) {
      const lost = takeOldest();
      // One that is already due stands for everything lost since.
      if (lost !== undefined) gap ??= toGap(lost);
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

function toGap({ rootRunId, runId, agentPath, iteration, attempt, seq }: Item): ChunkMarker {
  return { rootRunId, runId, agentPath, iteration, attempt, seq, kind: 'gap' };
}
