/**
 * Where a model activity gets the messages from that its order only names.
 *
 * T1  The order's digest is the judge: what is returned fits it, or the activity fails before any
 *     provider is called.
 * T2  First the worker's cache, then a paged query of the workflow's own execution: one page at a
 *     time, one reader per execution, so that a worker that lost its cache does not storm the
 *     service, which buffers one query per run.
 * T3  The key names one execution and one epoch: a reset changes content under a new run id, and a
 *     compaction starts an epoch.
 * T4  Digests are rolled forward message by message, so that a call costs its new bytes.
 * T5  The cache may lose anything at any time: what was read is held until the call has its view.
 */
import { canonicalJson, type Json } from '../core/base/json.ts';
import type { TranscriptReference } from '../core/contract/host-order.ts';
import type { TranscriptView } from '../core/contract/transcript.ts';
import { headDigest } from '../core/run/run-state.ts';
import { rollDigest, type Digest } from '../core/base/digest.ts';
import type { Message } from '../core/base/message.ts';
import { createPageReader, type Page, type PagePosition } from '../core/contract/page.ts';
import type { TranscriptHead } from '../core/contract/transcript.ts';

/** Names the transcript of one epoch of one execution. */
export interface TranscriptKey {
  readonly namespace: string;
  readonly workflowId: string;
  /** Run id of the service. */
  readonly executionId: string;
  readonly epoch: number;
}

/** A transcript as the cache of a worker keeps it; items are the head, then the messages. */
export interface TranscriptCache {
  /** The items from the first on; undefined when nothing is kept. */
  read(key: TranscriptKey): readonly Json[] | undefined;
  /** Adds items at index `from`; ignored when that leaves a gap, and where items are there already. */
  append(key: TranscriptKey, from: number, items: readonly Json[]): void;
  drop(key: TranscriptKey): void;
}

/** Asks an execution for a page of its scratchpad: head and messages from `from` on. */
export type PageQuery = (
  key: TranscriptKey,
  from: PagePosition,
) => Promise<{ readonly page: Page; readonly stale: boolean }>;

/** Gives the transcript that a reference names. */
export interface TranscriptSource {
  /**
   * The head and exactly `reference.length` messages.
   * @throws an error that says what was missing; nothing was asked of a provider then.
   */
  resolve(key: TranscriptKey, reference: TranscriptReference): Promise<TranscriptView>;
  /** Adds the message that a reply will become, so that the next query is about the rest alone. */
  remember(key: TranscriptKey, reference: TranscriptReference, message: Message): void;
}

/** A source over the cache of this process and the query. */
export function createTranscriptSource(parts: {
  readonly cache: TranscriptCache;
  readonly query: PageQuery;
}): TranscriptSource {
  const { cache, query } = parts;
  const readers = new Map<string, Promise<readonly Json[]>>();
  const digests = createDigests();

  /** T2: whoever comes while a reader is under way shares what it reads. */
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
    resolve: async (key, reference) => {
      // A wrong entry is dropped once and read anew; a second misfit is the query's.
      for (let attempt = 0; attempt < 3; attempt++) {
        const kept = cache.read(key) ?? [];
        const items = kept.length > reference.length ? kept : await readOnce(key, reference, kept);
        // The reader that this call shared may have been about fewer messages.
        if (items.length <= reference.length) continue;
        const view = viewOf(items, reference.length);
        if (digests.of(nameOf(key), view) === reference.digest) return view;
        cache.drop(key);
        digests.drop(nameOf(key));
      }
      throw new Error(
        `Expected a transcript of ${reference.length} messages with digest ${reference.digest}, got another one each time.`,
      );
    },
    remember: (key, reference, message) => {
      cache.append(key, reference.length + 1, [message as unknown as Json]);
    },
  };
}

/** What is kept and what the workflow adds to it, until there are more items than messages wanted. */
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
      throw new Error(`Expected epoch ${key.epoch} of the transcript, got a later one.`);
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

function nameOf({ namespace, workflowId, executionId, epoch }: TranscriptKey): string {
  return `${namespace}\u0000${workflowId}\u0000${executionId}\u0000${epoch}`;
}

/** How many transcripts keep their digests: a lost one is made anew from the messages. */
const MAX_DIGESTS = 1_000;

/** Digests after each message, kept while the items they were made of stay the same objects. */
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
  const known = new Map<string, Known>();
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
      known.delete(name);
      known.set(name, entry);
      const oldest = known.keys().next();
      if (known.size > MAX_DIGESTS && oldest.done !== true) known.delete(oldest.value);
      return entry.digest;
    },
    drop: (name) => known.delete(name),
  };
}
