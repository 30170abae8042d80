/**
 * Gets the messages that the order of a model activity only refers to.
 *
 * I1  The messages fit the digest of the order, or the activity fails before it calls a provider.
 * I2  They come from the worker's cache, then from a paged query of the workflow's own execution.
 *     It asks for one page at a time, with one reader for each execution, so that a worker without
 *     a cache does not overload the service, which buffers one query for each run.
 * I3  The key names one execution and one epoch: a reset has a new run id, and a compaction starts
 *     a new epoch.
 * I4  Digests are extended message by message, so that a call only hashes its new bytes.
 * I5  The cache may lose anything at any time, so pages are held until the call has its messages.
 */
import { canonicalJson, type Json } from '../core/base/json.ts';
import { LRUCache } from 'lru-cache';
import type { TranscriptReference } from '../core/contract/host-order.ts';
import type { TranscriptView, TranscriptHead } from '../core/contract/transcript.ts';
import { headDigest } from '../core/run/run-state.ts';
import { rollDigest, type Digest } from '../core/base/digest.ts';
import type { Message } from '../core/base/message.ts';
import { createPageReader, type Page, type PagePosition } from '../core/contract/page.ts';

/** Identifies the transcript of one epoch of one execution. */
export interface TranscriptKey {
  readonly namespace: string;
  readonly workflowId: string;
  /** The service's run id. */
  readonly executionId: string;
  readonly epoch: number;
}

/** A worker's cache of transcripts; the items of one are its head, then its messages. */
export interface TranscriptCache {
  /** All cached items from the first on; undefined when there are none. */
  read(key: TranscriptKey): readonly Json[] | undefined;
  /** Adds items at index `from`. Ignores items that would leave a gap or are already there. */
  append(key: TranscriptKey, from: number, items: readonly Json[]): void;
  drop(key: TranscriptKey): void;
}

/**
 * Queries an execution for a page of its scratchpad, head and messages, from `from` on. Without an
 * epoch: of the newest.
 */
export type PageQuery = (
  key: Omit<TranscriptKey, 'epoch'> & { readonly epoch?: number },
  from: PagePosition,
) => Promise<{ readonly page: Page; readonly stale: boolean }>;

/** The run answered, but its transcript is not the one that the order refers to. */
export class OtherTranscriptError extends Error {
  override readonly name = 'OtherTranscriptError';
  /** Whether another worker may read it as the order has it. */
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean) {
    super(message);
    this.retryable = retryable;
  }
}

/** Reads the transcripts that orders refer to. */
export interface TranscriptSource {
  /**
   * The head and exactly `reference.length` messages. `onRead` is told whether the cache had them.
   * @throws an {@link OtherTranscriptError}, or an error that says why the run did not answer; no
   * provider has been called then.
   */
  resolve(
    key: TranscriptKey,
    reference: TranscriptReference,
    onRead?: (isCached: boolean) => void,
  ): Promise<TranscriptView>;
  /** Adds the message that a reply will become, so that the next query need not fetch it. */
  remember(key: TranscriptKey, reference: TranscriptReference, message: Message): void;
}

/** A source that reads from the cache of this process and from the query. */
export function createTranscriptSource(parts: {
  readonly cache: TranscriptCache;
  readonly query: PageQuery;
}): TranscriptSource {
  const { cache, query } = parts;
  const readers = new Map<string, Promise<readonly Json[]>>();
  const digests = createDigests();

  /** I2: calls that come while a reader is at work share its result. */
  const readOnce = (
    key: TranscriptKey,
    reference: TranscriptReference,
    kept: readonly Json[],
  ): Promise<readonly Json[]> => {
    const name = nameOf(key);
    const running = readers.get(name);
    if (running !== undefined) return running;
    const reading = readPages({ cache, query }, key, reference, kept).finally(() =>
      readers.delete(name),
    );
    readers.set(name, reading);
    return reading;
  };

  return {
    resolve: async (key, reference, onRead) => {
      let isCached = true;
      // A wrong entry is dropped once and read again; a second mismatch is an error of the query.
      for (let attempt = 0; attempt < 3; attempt++) {
        const kept = cache.read(key) ?? [];
        isCached &&= kept.length > reference.length;
        const items = kept.length > reference.length ? kept : await readOnce(key, reference, kept);
        // The shared reader may have read fewer messages than this call needs.
        if (items.length <= reference.length) continue;
        const view = viewOf(items, reference.length);
        if (digests.of(nameOf(key), view) === reference.digest) {
          onRead?.(isCached);
          return view;
        }
        cache.drop(key);
        digests.drop(nameOf(key));
      }
      const message = `Expected a transcript of ${reference.length} messages with digest ${reference.digest}, got another one each time.`;
      // A worker of another build may have answered the query, or digest otherwise.
      throw new OtherTranscriptError(message, true);
    },
    remember: (key, reference, message) => {
      cache.append(key, reference.length + 1, [message as unknown as Json]);
    },
  };
}

/**
 * Adds pages of the workflow to the cached items until these hold the head and `length` messages.
 */
async function readPages(
  { cache, query }: { readonly cache: TranscriptCache; readonly query: PageQuery },
  key: TranscriptKey,
  { length }: TranscriptReference,
  kept: readonly Json[],
): Promise<readonly Json[]> {
  const reader = createPageReader();
  const items = [...kept];
  let next: PagePosition | null = { index: items.length, offset: 0 };
  while (next !== null && items.length <= length) {
    const { page, stale }: Awaited<ReturnType<PageQuery>> = await query(key, next);
    if (stale) {
      const message = `Expected epoch ${key.epoch} of the transcript, got a later one.`;
      throw new OtherTranscriptError(message, false);
    }
    const added = reader.read(page);
    cache.append(key, items.length, added);
    items.push(...added);
    next = page.next;
  }
  return items;
}

function viewOf(items: readonly Json[], length: number): TranscriptView {
  return {
    head: items[0] as unknown as TranscriptHead,
    messages: items.slice(1, length + 1) as unknown as readonly Message[],
  };
}

/** A name for `key`, for maps. */
export function nameOf({ namespace, workflowId, executionId, epoch }: TranscriptKey): string {
  return `${namespace}\u0000${workflowId}\u0000${executionId}\u0000${epoch}`;
}

/** Maximum number of kept digests; a lost one is computed again from the messages. */
const MAX_DIGESTS = 1_000;

/** The digest of each transcript, reused while its items are the same objects. */
function createDigests(): {
  of(name: string, view: TranscriptView): Digest;
  drop(name: string): void;
} {
  interface Known {
    readonly head: TranscriptHead;
    length: number;
    last: Message | undefined;
    digest: Digest;
  }
  const known = new LRUCache<string, Known>({ max: MAX_DIGESTS });
  return {
    of: (name, { head, messages }) => {
      const found = known.get(name);
      const fits =
        found !== undefined &&
        found.head === head &&
        found.length <= messages.length &&
        messages[found.length - 1] === found.last;
      const entry: Known = fits
        ? found
        : { head, length: 0, last: undefined, digest: headDigest(head) };
      for (const message of messages.slice(entry.length)) {
        entry.digest = rollDigest(entry.digest, canonicalJson(message as unknown as Json));
      }
      entry.length = messages.length;
      entry.last = messages.at(-1);
      known.set(name, entry);
      return entry.digest;
    },
    drop: (name) => known.delete(name),
  };
}
