/**
 * The transcripts that this process holds, so that a model call need not query the workflow for its
 * messages. Bounded by bytes; the least recently used entry goes first. A lost entry costs a query
 * and cannot cause a wrong answer, because the reader checks the digest.
 */
import { LRUCache } from 'lru-cache';
import { nameOf, type TranscriptCache } from '../../activities/transcript-source.ts';
import type { Json } from '../../core/base/json.ts';

/** Counters of a cache. */
export interface TranscriptCacheStats {
  readonly entries: number;
  /** Size of the items as JSON, in UTF-8 bytes. */
  readonly bytes: number;
  readonly maxBytes: number;
  /** Reads that found an entry, and reads that did not. */
  readonly hits: number;
  readonly misses: number;
  /** Entries that were removed because of `maxBytes`. */
  readonly evictions: number;
}

/** A transcript cache with counters, which can be emptied. */
export interface BoundedTranscriptCache extends TranscriptCache {
  readonly stats: () => TranscriptCacheStats;
  readonly clear: () => void;
}

interface Entry {
  readonly items: Json[];
  readonly bytes: number;
}

/**
 * A cache of at most `maxBytes`; 0 keeps nothing. An entry that is larger on its own is not kept,
 * and does not evict others. `read` and `append` count as use. Each added item costs one
 * `JSON.stringify`.
 */
export function createTranscriptCache(options: {
  readonly maxBytes: number;
}): BoundedTranscriptCache {
  const { maxBytes } = options;
  const counts = { hits: 0, misses: 0, evictions: 0 };
  const entries = new LRUCache<string, Entry>({
    // The library does not allow 0; for 0, `append` keeps nothing.
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ bytes }) => bytes,
    dispose: (_entry, _name, reason) => {
      if (reason === 'evict') counts.evictions += 1;
    },
  });
  return {
    read: (key) => {
      const entry = entries.get(nameOf(key));
      counts[entry === undefined ? 'misses' : 'hits'] += 1;
      // A copy: a later `append` must not change the messages of a call in flight.
      return entry === undefined ? undefined : [...entry.items];
    },
    append: (key, from, items) => {
      const name = nameOf(key);
      const entry = entries.peek(name) ?? { items: [], bytes: 0 };
      const isNext = from <= entry.items.length;
      const added = isNext ? items.slice(entry.items.length - from) : [];
      if (added.length === 0 || maxBytes === 0) return;
      entry.items.push(...added);
      const bytes = added.reduce((sum: number, item) => sum + sizeOf(item), entry.bytes);
      // A new object, because the library does not measure the same object again.
      entries.set(name, { items: entry.items, bytes });
      if (!entries.has(name)) counts.evictions += 1;
    },
    drop: (key) => {
      entries.delete(nameOf(key));
    },
    clear: () => entries.clear(),
    stats: () => ({ entries: entries.size, bytes: entries.calculatedSize, maxBytes, ...counts }),
  };
}

function sizeOf(item: Json): number {
  return Buffer.byteLength(JSON.stringify(item));
}
