/**
 * What a reader has got from one endpoint. A worker sends its open replies again to a reader that
 * connects again; this drops what the reader already has, and notices what it has missed.
 */
import {
  firstSeqOf,
  isChunk,
  piecesAfter,
  type Chunk,
  type ChunkMarker,
} from '../../core/streaming/chunk.ts';
import { WIRE_VERSION, type WireMessage } from '../../core/streaming/chunk-wire.ts';
import { gapAt } from './chunk-queue.ts';

type Item = Chunk | ChunkMarker;

/** How many runs are remembered; a reader of all runs may meet many. */
const MAX_RUNS = 1_000;

/** Where the reader is in a run. */
interface Position {
  readonly last: Item;
  /** Set after a broken connection, until something new comes. */
  readonly isResumed: boolean;
}

/** Passes the new chunks of one endpoint to `push`; `leave` ends the connection. */
export function createSeen(push: (item: Item) => void): {
  readonly take: (message: WireMessage) => 'on' | 'leave';
} {
  let instance: string | undefined;
  const positions = new Map<string, Position>();
  const hello = (message: Extract<WireMessage, { readonly kind: 'hello' }>): void => {
    // A new process has lost its calls; their next attempts begin with `restart`.
    if (message.instance !== instance) positions.clear();
    instance = message.instance;
    for (const [runId, { last }] of positions) positions.set(runId, { last, isResumed: true });
  };
  const takeItem = (item: Item): void => {
    if (item.kind === 'topic') return push(item);
    const { runId } = item;
    const position = positions.get(runId);
    const fresh = position?.isResumed === true ? resumedWith(position.last, item) : [item];
    if (fresh.length === 0) return;
    positions.delete(runId);
    positions.set(runId, { last: item, isResumed: false });
    const [oldest] = positions.keys();
    if (positions.size > MAX_RUNS && oldest !== undefined) positions.delete(oldest);
    for (const one of fresh) push(one);
  };
  return {
    take: (message) => {
      switch (message.kind) {
        case 'hello':
          if (message.v !== WIRE_VERSION) return 'leave';
          hello(message);
          return 'on';
        case 'item':
          takeItem(message.item);
          return 'on';
        case 'event':
        case 'feed':
          return 'on';
        case 'end':
        case 'broken':
          return 'leave';
      }
    },
  };
}

/** What is new in `item` for a reader that got `last` before its connection broke. */
function resumedWith(last: Item, item: Item): readonly Item[] {
  const order = item.iteration - last.iteration || item.attempt - last.attempt;
  if (order < 0) return [];
  if (order > 0) {
    const wasOpen = last.kind !== 'end' && last.kind !== 'error';
    return wasOpen ? [gapAt(last, last.seq + 1), item] : [item];
  }
  if (item.kind === 'gap') return [];
  if (item.seq <= last.seq) return [];
  const fresh = isChunk(item) ? piecesAfter(item, last.seq) : item;
  if (fresh === null) return [];
  return firstSeqOf(fresh) > last.seq + 1 ? [gapAt(item, last.seq + 1), fresh] : [fresh];
}
