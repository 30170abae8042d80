/**
 * Carries provisional text inside one process: model activities publish, readers subscribe. Readers
 * in other processes connect to the endpoint of `chunk-endpoint.ts`.
 *
 * I1  A reader never makes `publish` wait or throw.
 * I2  A slow reader loses its oldest chunks and gets a `gap` in their place.
 * I3  After {@link ChunkBus.endRun}, nothing more of the run is delivered, and its readers end.
 * I4  A late reader first gets the replies of `kept-replies.ts`, then what is published.
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
import { createKeptReplies } from './kept-replies.ts';

/** Defaults of {@link createChunkBus}. */
export const CHUNK_BUS_DEFAULTS = {
  /** Some minutes of one model's output; about 3 MB for a reader that has stopped reading. */
  maxQueued: 10_000,
  /** How many ended runs are remembered, so that a late reader ends at once. */
  maxEndedRuns: 1_000,
} as const;

/** A bus for provisional text. */
export interface ChunkBus {
  readonly publish: (item: Chunk | ChunkMarker) => void;
  /**
   * Items that match `filter`; an empty filter matches all. First the replies that are being
   * written, as far as they have come, and those that were complete in the last ten seconds.
   */
  readonly subscribe: (filter: ChunkFilter) => ChunkSubscription;
  /**
   * Ends a run: its readers, and those of its tree if it is the root, end after the queued items.
   * Later items of the run are dropped.
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
  const kept = createKeptReplies();
  const hasEnded = (filter: ChunkFilter): boolean =>
    [filter.runId, filter.rootRunId].some((id) => id !== undefined && endedRuns.has(id));
  let isClosed = false;

  return {
    publish: (item) => {
      if (endedRuns.has(item.runId) || endedRuns.has(item.rootRunId)) return;
      kept.add(item);
      for (const [reader, filter] of readers) {
        if (fitsFilter(filter, item)) reader.push(item);
      }
    },
    subscribe: (filter) => {
      const reader = createChunkQueue(maxQueued, () => readers.delete(reader));
      for (const item of kept.itemsFor(filter)) reader.push(item);
      if (isClosed || hasEnded(filter)) reader.end();
      else readers.set(reader, filter);
      return reader.subscription;
    },
    endRun: (runId) => {
      endedRuns.add(runId);
      kept.endRun(runId);
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
      kept.clear();
      for (const reader of readers.keys()) reader.end();
    },
  };
}
