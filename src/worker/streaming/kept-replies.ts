/**
 * The replies that a late reader of a bus gets whole: those that are being written, and for a short
 * time those that are complete.
 *
 * I1  A reply that an error ended, or that a later attempt or iteration replaced, is dropped at once.
 * I2  Of each reply, the last {@link KEPT_REPLY_CHARACTERS} are kept, fewer if its pieces are tiny.
 *     What is missing before them is a `gap`.
 * I3  All replies take at most {@link KEPT_BYTES}. For more, the oldest replies lose their text.
 */
import { gapAt } from '../../client/streaming/chunk-queue.ts';
import {
  fitsFilter,
  isChunk,
  type Chunk,
  type ChunkFilter,
  type ChunkMarker,
} from '../../core/streaming/chunk.ts';

/** How much of one reply is kept. */
export const KEPT_REPLY_CHARACTERS = 262_144;

/** How much memory all kept replies may take, as estimated. */
const KEPT_BYTES = 33_554_432;

/**
 * How long a complete reply is kept: enough for a reader that began when the run did, but whose
 * connection took longer than the model.
 */
export const KEPT_ENDED_MS = 10_000;

/** Maximum of one block, in characters and in pieces: a reader gets a long reply in few items. */
const BLOCK_SIZE = 4_096;

/** Estimated bytes of a character, and of a piece, a block and a reply beside what they hold. */
const CHARACTER_BYTES = 2;
const PIECE_BYTES = 16;
const BLOCK_BYTES = 256;
const REPLY_BYTES = 1_024;

/** Enough for pieces of three characters; a reply of smaller ones or of many kinds is cut earlier. */
const MAX_REPLY_BYTES = 2_097_152;

/** `restart` and `not_streamed`. */
const MAX_MARKERS = 2;

/** The kept replies of a bus. */
export interface KeptReplies {
  /** Takes over a published item. */
  readonly add: (item: Chunk | ChunkMarker) => void;
  /** What a reader with `filter` has missed, in the order of publication within each reply. */
  readonly itemsFor: (filter: ChunkFilter) => readonly (Chunk | ChunkMarker)[];
  /** Drops the reply that a run was writing when it ended. */
  readonly endRun: (runId: string) => void;
  /** Drops everything. */
  readonly clear: () => void;
}

/** Consecutive pieces of one kind. */
interface Block {
  readonly kind: Chunk['kind'];
  readonly deltas: string[];
  readonly lengths: number[];
  lastSeq: number;
  characters: number;
}

interface Reply {
  /** The newest item. */
  last: Chunk | ChunkMarker;
  /** `restart` and `not_streamed`, when the reply begins with them. */
  readonly start: ChunkMarker[];
  readonly blocks: Block[];
  characters: number;
  bytes: number;
  /** Where its missing beginning begins. */
  lost: ChunkMarker | undefined;
  endedAt: number | undefined;
}

/** No replies yet. `maxBytes` and `keepEndedMs` default to the constants of this file. */
export function createKeptReplies(
  options: { readonly maxBytes?: number; readonly keepEndedMs?: number } = {},
): KeptReplies {
  const { maxBytes = KEPT_BYTES, keepEndedMs = KEPT_ENDED_MS } = options;
  /** The replies of each run, by its id. The runs whose reply began longest ago come first. */
  const runs = new Map<string, Reply[]>();
  let bytes = 0;
  let sweeping: NodeJS.Timeout | undefined;

  const drop = (runId: string, isDropped: (reply: Reply) => boolean): void => {
    const replies = runs.get(runId) ?? [];
    const kept = replies.filter((reply) => !isDropped(reply));
    for (const reply of replies) if (!kept.includes(reply)) bytes -= reply.bytes;
    if (kept.length === 0) runs.delete(runId);
    else runs.set(runId, kept);
  };
  const sweep = (): void => {
    sweeping = undefined;
    const before = performance.now() - keepEndedMs;
    let isLeft = false;
    for (const [runId, replies] of runs) {
      drop(runId, ({ endedAt }) => endedAt !== undefined && endedAt <= before);
      isLeft ||= replies.some(({ endedAt }) => endedAt !== undefined && endedAt > before);
    }
    if (isLeft) sweepLater();
  };
  const sweepLater = (): void => {
    sweeping ??= setTimeout(sweep, keepEndedMs / 4 + 1).unref();
  };
  const begin = (item: Chunk | ChunkMarker): Reply => {
    // A later attempt makes its iteration void, and a later iteration shows that no more will come.
    drop(item.runId, (reply) => reply.endedAt === undefined || isVoidedBy(reply.last, item));
    const reply = replyOf(item);
    const others = runs.get(item.runId) ?? [];
    // At the end of the map, since it is the newest.
    runs.delete(item.runId);
    runs.set(item.runId, [...others, reply]);
    bytes += reply.bytes;
    return reply;
  };
  const makeRoom = (): void => {
    for (const [runId, replies] of runs) {
      if (bytes <= maxBytes) return;
      const isLast = runs.size === 1;
      for (const reply of replies.slice(0, isLast ? -1 : undefined)) bytes -= reply.bytes;
      if (isLast) return void runs.set(runId, replies.slice(-1));
      runs.delete(runId);
    }
  };
  return {
    add: (item) => {
      if (item.kind === 'gap' || item.kind === 'topic') return;
      const newest = runs.get(item.runId)?.at(-1);
      if (item.kind === 'error') return drop(item.runId, (reply) => isSame(reply.last, item));
      const isOpen = newest !== undefined && isSame(newest.last, item);
      // A duplicate.
      if (isOpen && item.seq <= newest.last.seq) return;
      // Also a reply that lost its place to others: what is kept of it begins here, with a gap.
      const reply = isOpen ? newest : begin(item);
      reply.last = item;
      const before = reply.bytes;
      if (isChunk(item)) append(reply, item);
      else if (item.kind !== 'end' && reply.start.length < MAX_MARKERS) reply.start.push(item);
      bytes += reply.bytes - before;
      if (item.kind === 'end') {
        reply.endedAt = performance.now();
        sweepLater();
      }
      if (bytes > maxBytes) makeRoom();
    },
    itemsFor: (filter) => {
      const replies =
        filter.runId === undefined ? [...runs.values()].flat() : (runs.get(filter.runId) ?? []);
      return replies.filter(({ last }) => fitsFilter(filter, last)).flatMap(itemsOf);
    },
    endRun: (runId) => drop(runId, ({ endedAt }) => endedAt === undefined),
    clear: () => {
      clearTimeout(sweeping);
      runs.clear();
      bytes = 0;
    },
  };
}

function isSame(a: Chunk | ChunkMarker, b: Chunk | ChunkMarker): boolean {
  return a.iteration === b.iteration && a.attempt === b.attempt;
}

function isVoidedBy(older: Chunk | ChunkMarker, item: Chunk | ChunkMarker): boolean {
  return older.iteration >= item.iteration;
}

function replyOf(item: Chunk | ChunkMarker): Reply {
  const isWhole = item.kind === 'restart' || item.seq === 1;
  const lost = isWhole ? undefined : gapAt(item, 1);
  return {
    last: item,
    start: [],
    blocks: [],
    characters: 0,
    bytes: REPLY_BYTES,
    lost,
    endedAt: undefined,
  };
}

/** Adds a piece, and drops the oldest blocks of a reply that is too long. */
function append(reply: Reply, item: Chunk): void {
  const { kind, seq } = item;
  const delta = item.delta.slice(-KEPT_REPLY_CHARACTERS);
  if (delta.length < item.delta.length) reply.lost ??= gapAt(item);
  const block = blockFor(reply, kind);
  block.deltas.push(delta);
  block.lengths.push(delta.length);
  block.lastSeq = seq;
  block.characters += delta.length;
  reply.characters += delta.length;
  reply.bytes += CHARACTER_BYTES * delta.length + PIECE_BYTES;
  while (reply.characters > KEPT_REPLY_CHARACTERS || reply.bytes > MAX_REPLY_BYTES) {
    const oldest = reply.blocks.shift();
    if (oldest === undefined) return;
    reply.lost ??= gapAt(item, oldest.lastSeq - oldest.lengths.length + 1);
    reply.characters -= oldest.characters;
    reply.bytes -= bytesOf(oldest);
  }
}

/** The block that takes the next piece of `kind`. */
function blockFor(reply: Reply, kind: Chunk['kind']): Block {
  const last = reply.blocks.at(-1);
  const isFull =
    last !== undefined && (last.characters >= BLOCK_SIZE || last.lengths.length >= BLOCK_SIZE);
  if (last?.kind === kind && !isFull) return last;
  if (last !== undefined) seal(last);
  const block = { kind, deltas: [], lengths: [], lastSeq: 0, characters: 0 };
  reply.blocks.push(block);
  reply.bytes += BLOCK_BYTES;
  return block;
}

function bytesOf({ characters, lengths }: Block): number {
  return BLOCK_BYTES + CHARACTER_BYTES * characters + PIECE_BYTES * lengths.length;
}

/** One string takes less memory than its pieces. */
function seal(block: Block): void {
  block.deltas.splice(0, block.deltas.length, block.deltas.join(''));
}

function itemsOf({ last, start, blocks, lost, endedAt }: Reply): readonly (Chunk | ChunkMarker)[] {
  const { rootRunId, runId, agentPath, iteration, attempt } = last;
  const origin = { rootRunId, runId, agentPath, iteration, attempt };
  const chunks = blocks.map(({ kind, deltas, lengths, lastSeq }): Chunk => {
    const pieces = lengths.length > 1 ? { lengths: [...lengths] } : {};
    return { ...origin, seq: lastSeq, kind, delta: deltas.join(''), ...pieces };
  });
  return [
    ...start,
    ...(lost === undefined ? [] : [lost]),
    ...chunks,
    ...(endedAt === undefined ? [] : [last]),
  ];
}
