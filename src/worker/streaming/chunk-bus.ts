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
  readonly isRead: (origin: Origin) => boolean;
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
      readers.push(item, item, () => true);
      eventReaders.push(item, item, ({ text }) => text === true);
    },
    isRead: (origin) =>
      readers.some(origin, () => true) || eventReaders.some(origin, ({ text }) => text === true),
    publishEvent: (item) => {
      const { runId, type } = item.event;
      endedRuns.delete(runId);
      const origin = { rootRunId: item.rootRunId, runId };
      eventReaders.push(item, origin, ({ types }) => types?.includes(type) ?? true);
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

/** Where an item comes from. */
type Origin = Pick<ChunkOrigin, 'runId' | 'rootRunId'>;

/** The readers of a bus that get the same sort of items. */
interface Readers<Item, Filter> {
  /** Adds a reader, with what it has missed; one that `isOver` ends after that. */
  readonly add: (
    filter: Filter,
    missed: readonly Item[],
    isOver: boolean,
  ) => ReaderSubscription<Item>;
  /** Gives an item of `origin` to the readers whose filter fits, and `wants` it. */
  readonly push: (item: Item, origin: Origin, wants: (filter: Filter) => boolean) => void;
  readonly some: (origin: Origin, wants: (filter: Filter) => boolean) => boolean;
  readonly end: (isOver: (filter: Filter) => boolean) => void;
}

/** The readers of all runs, in the place of an id. */
const OF_ALL = '';

/** Readers stand under the id that they ask for: an item meets few of those of other runs. */
function createReaders<Item extends LiveItem, Filter extends ChunkFilter>(
  maxQueued: number,
): Readers<Item, Filter> {
  const places = new Map<string, Map<ReaderQueue<Item>, Filter>>();
  const placeOf = ({ runId, rootRunId }: ChunkFilter): string => runId ?? rootRunId ?? OF_ALL;
  const leave = (place: string, reader: ReaderQueue<Item>): void => {
    const readers = places.get(place);
    readers?.delete(reader);
    if (readers?.size === 0) places.delete(place);
  };
  /** Shows readers whose filter fits to `see` until it says true; false: it said so of none. */
  const meet = (
    origin: Origin,
    see: (reader: ReaderQueue<Item>, filter: Filter) => boolean,
  ): boolean => {
    const { runId, rootRunId } = origin;
    const ids = runId === rootRunId ? [runId, OF_ALL] : [runId, rootRunId, OF_ALL];
    for (const id of ids) {
      for (const [reader, filter] of places.get(id) ?? []) {
        if (fitsFilter(filter, origin) && see(reader, filter)) return true;
      }
    }
    return false;
  };
  return {
    add: (filter, missed, isOver) => {
      const place = placeOf(filter);
      const reader = createReaderQueue<Item>(maxQueued, () => leave(place, reader));
      for (const item of missed) reader.push(item);
      if (isOver) reader.end();
      else places.set(place, (places.get(place) ?? new Map()).set(reader, filter));
      return reader.subscription;
    },
    push: (item, origin, wants) => {
      meet(origin, (reader, filter) => {
        if (wants(filter)) reader.push(item);
        return false;
      });
    },
    some: (origin, wants) => meet(origin, (_reader, filter) => wants(filter)),
    end: (isOver) => {
      for (const readers of places.values()) {
        for (const [reader, filter] of readers) if (isOver(filter)) reader.end();
      }
    },
  };
}
