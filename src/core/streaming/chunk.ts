/**
 * What workers send to readers while a run goes on: replies as they are written, which are
 * provisional, never in history and replaced by the recorded reply; and events as they are recorded.
 */
import type { AgentEvent } from '../contract/events.ts';
import type { EventPart } from '../contract/outcome.ts';

/** The origin of a chunk. */
export interface ChunkOrigin {
  /** Run id of the root of the tree. */
  readonly rootRunId: string;
  /** Unique across the tree. */
  readonly runId: string;
  /** The full path: `planner/2/writer` is writer, started in planner's iteration 2. */
  readonly agentPath: string;
  readonly iteration: number;
  /** From 1; retries, fallbacks and repeated questions in an iteration are attempts too. */
  readonly attempt: number;
  /**
   * Counts chunks from 1 for each (runId, iteration, attempt); a repeated number is a duplicate.
   */
  readonly seq: number;
}

/** A piece of text that a model wrote, or an event that the run's own code emitted. */
export interface Chunk extends ChunkOrigin, EventPart {
  /** `topic`: a tool, a validator or a loop emitted an event; its `seq` counts apart from text. */
  readonly kind: 'text' | 'reasoning' | 'tool_args' | 'topic';
  /** Of a topic: the data of the event, as JSON. */
  readonly delta: string;
  /** Of a topic: the name of the event. */
  readonly topic?: string;
  /** Of a topic: the call of the tool that emitted it. */
  readonly callId?: string;
  /**
   * Set when it stands for several pieces, as a reader gets that comes late: the length of each
   * piece. `seq` is then that of the last one.
   */
  readonly lengths?: readonly number[];
}

/**
 * A change of the stream. `restart`: another attempt begins, and the iteration's chunks so far are
 * void · `end`: the reply is complete · `error`: this attempt failed, another may follow · `gap`:
 * this subscriber was too slow and lost chunks, beginning with this one · `not_streamed`: nobody read
 * when this attempt began, so its reply comes whole at its end.
 */
export interface ChunkMarker extends ChunkOrigin {
  readonly kind: 'restart' | 'end' | 'error' | 'gap' | 'not_streamed';
}

/**
 * An event, pushed by the worker that ran the workflow. It comes at least once. One that comes just
 * before its worker dies may be recorded otherwise: then it comes again, under the same `seq`, and
 * the later one counts.
 */
export interface PushedEvent {
  readonly kind: 'event';
  readonly rootRunId: string;
  readonly event: AgentEvent;
}

/** Whether events are `pushed` by workers, or have to be `polled` because no worker sends them. */
export type EventFeed = 'pushed' | 'polled';

/**
 * Says how events come from here on. Some before it may be missing: it comes when a reader begins,
 * when a worker comes or goes, and in place of events that a slow reader has lost.
 */
export interface FeedMark {
  readonly kind: 'feed';
  readonly feed: EventFeed;
}

/** The chunks that a reader wants: those of a run, of a whole tree or, when empty, all. */
export interface ChunkFilter {
  readonly runId?: string;
  readonly rootRunId?: string;
}

/** The events that a reader wants, and whether it wants the chunks too. */
export interface LiveFilter extends ChunkFilter {
  readonly text?: boolean;
  /** Only events of these types, at most {@link MAX_FILTER_TYPES}; default: all. */
  readonly types?: readonly string[];
}

/** The most types of events that a filter names. */
export const MAX_FILTER_TYPES = 50;

/** What a reader of events gets. */
export type LiveItem = Chunk | ChunkMarker | PushedEvent | FeedMark;

/** The result of a stream. */
export interface Collected {
  readonly text: string;
  readonly reasoning: string;
  /** Whether every iteration that began has ended and no chunk is known to be missing. */
  readonly complete: boolean;
}

/** Whether `item` is a chunk, not a marker. */
export function isChunk(item: Chunk | ChunkMarker): item is Chunk {
  return 'delta' in item;
}

/** The `seq` of the first piece that `item` stands for. */
export function firstSeqOf(item: Chunk | ChunkMarker): number {
  return 'delta' in item ? item.seq - (item.lengths?.length ?? 1) + 1 : item.seq;
}

/** The pieces of `chunk` after number `seq`; null when it has none. */
export function piecesAfter(chunk: Chunk, seq: number): Chunk | null {
  if (chunk.seq <= seq) return null;
  const known = seq - firstSeqOf(chunk) + 1;
  if (known <= 0 || chunk.lengths === undefined) return chunk;
  const cut = chunk.lengths.slice(0, known).reduce((sum, length) => sum + length, 0);
  return { ...chunk, delta: chunk.delta.slice(cut), lengths: chunk.lengths.slice(known) };
}

/** Whether `filter` accepts chunks of `origin`. */
export function fitsFilter(
  filter: ChunkFilter,
  origin: Pick<ChunkOrigin, 'runId' | 'rootRunId'>,
): boolean {
  return (
    (filter.runId === undefined || filter.runId === origin.runId) &&
    (filter.rootRunId === undefined || filter.rootRunId === origin.rootRunId)
  );
}

/** The chunks of one iteration so far, of its newest attempt. */
interface Iteration {
  attempt: number;
  lastSeq: number;
  text: string;
  reasoning: string;
  isWhole: boolean;
  isMissingSome: boolean;
}

/**
 * The text of `items`, iterations in the order in which they began. Drops duplicates and chunks
 * that a later attempt or a `restart` made void. Linear.
 */
export function collect(items: Iterable<Chunk | ChunkMarker>): Collected {
  const iterations = new Map<string, Iteration>();
  let hasGap = false;
  for (const item of items) {
    if (item.kind === 'topic') continue;
    if (item.kind === 'gap') {
      hasGap = true;
      continue;
    }
    const key = `${item.runId}/${item.iteration}`;
    const known = iterations.get(key);
    const isOld =
      known !== undefined &&
      (item.attempt < known.attempt ||
        (item.attempt === known.attempt && item.seq <= known.lastSeq));
    if (isOld) continue;
    const goesOn = known !== undefined && item.attempt === known.attempt && item.kind !== 'restart';
    const iteration = goesOn ? known : startIteration(item);
    if (firstSeqOf(item) > iteration.lastSeq + 1) iteration.isMissingSome = true;
    const delta = isChunk(item) ? (piecesAfter(item, iteration.lastSeq)?.delta ?? '') : '';
    iterations.set(key, iteration);
    iteration.lastSeq = item.seq;
    if (item.kind === 'text') iteration.text += delta;
    if (item.kind === 'reasoning') iteration.reasoning += delta;
    if (item.kind === 'end') iteration.isWhole = true;
  }
  const all = [...iterations.values()];
  return {
    text: all.map(({ text }) => text).join(''),
    reasoning: all.map(({ reasoning }) => reasoning).join(''),
    complete: all.length > 0 && !hasGap && all.every((each) => each.isWhole && !each.isMissingSome),
  };
}

function startIteration(item: Chunk | ChunkMarker): Iteration {
  const first = firstSeqOf(item);
  return {
    attempt: item.attempt,
    lastSeq: first - 1,
    text: '',
    reasoning: '',
    isWhole: false,
    // Numbers begin at 1. In a later attempt, 1 is the `restart`, which has no text.
    isMissingSome: first > (item.attempt > 1 ? 2 : 1),
  };
}
