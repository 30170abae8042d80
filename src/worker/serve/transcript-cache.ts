/**
 * The transcripts that this process holds, so that a model call need not ask the workflow for its
 * messages. Bounded by bytes; what was not used longest goes first. Losing an entry costs a query,
 * never an answer: the reader checks the digest.
 */
import type { TranscriptCache, TranscriptKey } from '../../activities/transcript-source.ts';
import type { Json } from '../../core/base/json.ts';

/** How the cache is doing. */
export interface TranscriptCacheStats {
  readonly entries: number;
  /** Size of the items as JSON, in UTF-8 bytes. */
  readonly bytes: number;
  readonly maxBytes: number;
  /** Reads that found an entry, and reads that did not. */
  readonly hits: number;
  readonly misses: number;
  /** Entries that had to go because of `maxBytes`. */
  readonly evictions: number;
}

/** A cache that can be watched and emptied. */
export interface BoundedTranscriptCache extends TranscriptCache {
  readonly stats: () => TranscriptCacheStats;
  readonly clear: () => void;
}

interface Entry {
  readonly items: Json[];
  bytes: number;
}

/**
 * A cache of at most `maxBytes`; 0 keeps nothing. An entry that alone is larger is not kept. `read`
 * and `append` count as use. Costs one `JSON.stringify` for each item that is added.
 */
export function createTranscriptCache(options: {
  readonly maxBytes: number;
}): BoundedTranscriptCache {
  const { maxBytes } = options;
  // A Map iterates in the order of insertion: the first entry is the one not used longest.
  const entries = new Map<string, Entry>();
  const counts = { bytes: 0, hits: 0, misses: 0, evictions: 0 };

  const forget = (name: string): void => {
    counts.bytes -= entries.get(name)?.bytes ?? 0;
    entries.delete(name);
  };
  const touch = (name: string, entry: Entry): void => {
    entries.delete(name);
    entries.set(name, entry);
  };
  const shrink = (): void => {
    for (const name of entries.keys()) {
      if (counts.bytes <= maxBytes) return;
      forget(name);
      counts.evictions += 1;
    }
  };

  return {
    read: (key) => {
      const name = nameOf(key);
      const entry = entries.get(name);
      if (entry === undefined) {
        counts.misses += 1;
        return undefined;
      }
      counts.hits += 1;
      touch(name, entry);
      // A copy: a later `append` must not change what a call in flight goes by.
      return [...entry.items];
    },
    append: (key, from, items) => {
      const name = nameOf(key);
      const entry = entries.get(name) ?? { items: [], bytes: 0 };
      const isNext = from <= entry.items.length;
      const added = isNext ? items.slice(entry.items.length - from) : [];
      if (added.length === 0) return;
      const bytes = added.reduce((sum: number, item) => sum + sizeOf(item), 0);
      entry.items.push(...added);
      entry.bytes += bytes;
      counts.bytes += bytes;
      touch(name, entry);
      // One that cannot stay must not push out all others first.
      if (entry.bytes > maxBytes) {
        forget(name);
        counts.evictions += 1;
      }
      shrink();
    },
    drop: (key) => {
      forget(nameOf(key));
    },
    clear: () => {
      entries.clear();
      counts.bytes = 0;
    },
    stats: () => ({ entries: entries.size, maxBytes, ...counts }),
  };
}

function nameOf({ namespace, workflowId, executionId, epoch }: TranscriptKey): string {
  return `${namespace}\u0000${workflowId}\u0000${executionId}\u0000${epoch}`;
}

function sizeOf(item: Json): number {
  return Buffer.byteLength(JSON.stringify(item));
}
