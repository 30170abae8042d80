/**
 * Provisional text inside one process: model activities publish, readers subscribe.
 *
 * Invariants
 * - I1: publishing never waits and never throws because of a reader.
 * - I2: a reader that is too slow loses its oldest pieces and learns of it by a `gap`.
 * - I3: nothing of a run is delivered after {@link ChunkBus.endRun}; its readers end.
 *
 * Readers in other processes get it over HTTP: see `chunk-endpoint.ts`.
 */
import {
  createChunkQueue,
  type ChunkQueue,
  type ChunkSubscription,
} from '../../client/chunk-queue.ts';
import {
  fitsFilter,
  type Chunk,
  type ChunkFilter,
  type ChunkMarker,
} from '../../core/streaming/chunk.ts';

/** What {@link createChunkBus} goes by when nothing else is said. */
export const CHUNK_BUS_DEFAULTS = {
  /** Some minutes of one model's output; about 3 MB when a reader has stopped reading. */
  maxQueued: 10_000,
  /** So many ended runs are remembered, so that a late reader ends at once instead of waiting. */
  maxEndedRuns: 1_000,
} as const;

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
  const readers = new Map<ChunkQueue, ChunkFilter>();
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
      const reader = createChunkQueue(maxQueued, () => readers.delete(reader));
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
