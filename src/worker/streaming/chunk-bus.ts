/**
 * Carries provisional text and events inside one process: model activities and the sinks of workflows
 * publish, readers subscribe. Readers in other processes connect to the endpoint of
 * `chunk-endpoint.ts`.
 *
 * I1  A reader never makes `publish` wait or throw.
 * I2  A slow reader loses its oldest chunks and events, and gets a mark in their place.
 * I3  After {@link ChunkBus.endRun}, nothing more of the run is delivered, and its readers end.
 * I4  A late reader first gets the replies of `kept-replies.ts`, then what is published.
 */
import {
  createReaderQueue,
  type ChunkSubscription,
  type EventSubscription,
  type ReaderQueue,
  type ReaderSubscription,
} from '../../client/streaming/chunk-queue.ts';
import {
  fitsFilter,
  type Chunk,
  type ChunkFilter,
  type ChunkMarker,
  type ChunkOrigin,
  type LiveFilter,
  type LiveItem,
  type PushedEvent,
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
  /** Whether a reader of this process, or of its endpoint, would get chunks of the run now. */
  readonly isRead: (origin: Pick<ChunkOrigin, 'runId' | 'rootRunId'>) => boolean;
  /** Publishes an event to those who want events. An ended run that has more goes on. */
  readonly publishEvent: (item: PushedEvent) => void;
  /** A mark, then events that match `filter`; with `text`, also what `subscribe` gives. */
  readonly subscribeEvents: (filter: LiveFilter) => EventSubscription;
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
  const readers = createReaders<Chunk | ChunkMarker, ChunkFilter>(maxQueued);
  const eventReaders = createReaders<LiveItem, LiveFilter>(maxQueued);
  const endedRuns = new Set<string>();
  const kept = createKeptReplies();
  const hasEnded = (filter: ChunkFilter): boolean =>
    [filter.runId, filter.rootRunId].some((id) => id !== undefined && endedRuns.has(id));
  let isClosed = false;
  const isOver = (filter: ChunkFilter): boolean => isClosed || hasEnded(filter);

  return {
    publish: (item) => {
      if (endedRuns.has(item.runId) || endedRuns.has(item.rootRunId)) return;
      kept.add(item);
      readers.push(item, (filter) => fitsFilter(filter, item));
      eventReaders.push(item, (filter) => filter.text === true && fitsFilter(filter, item));
    },
    isRead: (origin) =>
      readers.some((filter) => fitsFilter(filter, origin)) ||
      eventReaders.some((filter) => filter.text === true && fitsFilter(filter, origin)),
    publishEvent: (item) => {
      const { runId, type } = item.event;
      endedRuns.delete(runId);
      const origin = { rootRunId: item.rootRunId, runId };
      const isWanted = ({ types }: LiveFilter): boolean => types?.includes(type) ?? true;
      eventReaders.push(item, (filter) => fitsFilter(filter, origin) && isWanted(filter));
    },
    subscribe: (filter) => readers.add(filter, kept.itemsFor(filter), isOver(filter)),
    subscribeEvents: (filter) => {
      const missed = filter.text === true ? kept.itemsFor(filter) : [];
      const begun: readonly LiveItem[] = [{ kind: 'feed', feed: 'pushed' }, ...missed];
      return eventReaders.add(filter, begun, isOver(filter));
    },
    endRun: (runId) => {
      endedRuns.add(runId);
      kept.endRun(runId);
      const oldest = endedRuns.values().next();
      if (endedRuns.size > CHUNK_BUS_DEFAULTS.maxEndedRuns && oldest.done !== true) {
        endedRuns.delete(oldest.value);
      }
      for (const each of [readers, eventReaders]) each.end(hasEnded);
    },
    close: () => {
      isClosed = true;
      kept.clear();
      for (const each of [readers, eventReaders]) each.end(() => true);
    },
  };
}

/** The readers of a bus that get the same sort of items. */
interface Readers<Item, Filter> {
  /** Adds a reader, with what it has missed; one that `isOver` ends after that. */
  readonly add: (
    filter: Filter,
    missed: readonly Item[],
    isOver: boolean,
  ) => ReaderSubscription<Item>;
  readonly push: (item: Item, fits: (filter: Filter) => boolean) => void;
  readonly some: (fits: (filter: Filter) => boolean) => boolean;
  readonly end: (isOver: (filter: Filter) => boolean) => void;
}

function createReaders<Item extends LiveItem, Filter>(maxQueued: number): Readers<Item, Filter> {
  const readers = new Map<ReaderQueue<Item>, Filter>();
  return {
    add: (filter, missed, isOver) => {
      const reader = createReaderQueue<Item>(maxQueued, () => readers.delete(reader));
      for (const item of missed) reader.push(item);
      if (isOver) reader.end();
      else readers.set(reader, filter);
      return reader.subscription;
    },
    push: (item, fits) => {
      for (const [reader, filter] of readers) if (fits(filter)) reader.push(item);
    },
    some: (fits) => [...readers.values()].some(fits),
    end: (isOver) => {
      for (const [reader, filter] of readers) if (isOver(filter)) reader.end();
    },
  };
}
