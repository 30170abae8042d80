/**
 * What streams while a model writes. All of it is provisional: it never enters history, and the
 * durable reply replaces it.
 */

/** Where a piece comes from, so that it is never taken for another's. */
export interface ChunkOrigin {
  /** Run id of the root of the tree. */
  readonly rootRunId: string;
  /** Unique across the tree. */
  readonly runId: string;
  /** The full path: `planner/2/writer` is writer, started in planner's iteration 2. */
  readonly agentPath: string;
  readonly iteration: number;
  /** From 1; counts the tries of one iteration over retries, fallbacks and repeated questions. */
  readonly attempt: number;
  /** From 1, by one per (runId, iteration, attempt), markers included; a repeated one is a duplicate. */
  readonly seq: number;
}

/** A piece of text that a model wrote. */
export interface Chunk extends ChunkOrigin {
  readonly kind: 'text' | 'reasoning' | 'tool_args';
  readonly delta: string;
}

/**
 * Something that happened to a stream. `restart`: another attempt begins, what the iteration gave
 * so far is void · `end`: the reply is whole · `error`: this attempt failed, another may follow ·
 * `gap`: this subscriber was too slow and lost pieces, from the one with this origin on.
 */
export interface ChunkMarker extends ChunkOrigin {
  readonly kind: 'restart' | 'end' | 'error' | 'gap';
}

/** Which pieces a reader wants: those of a run, of a whole tree, or, when empty, all. */
export interface ChunkFilter {
  readonly runId?: string;
  readonly rootRunId?: string;
}

/** What a stream came to. */
export interface Collected {
  readonly text: string;
  readonly reasoning: string;
  /** Whether each iteration that began has ended and nothing is known to be missing. */
  readonly complete: boolean;
}

/** Whether `item` is a piece of text and no marker. */
export function isChunk(item: Chunk | ChunkMarker): item is Chunk {
  return 'delta' in item;
}

/** Whether `filter` asks for what comes from `origin`. */
export function fitsFilter(filter: ChunkFilter, origin: ChunkOrigin): boolean {
  return (
    (filter.runId === undefined || filter.runId === origin.runId) &&
    (filter.rootRunId === undefined || filter.rootRunId === origin.rootRunId)
  );
}

/** What one iteration gave so far, in its newest attempt. */
interface Iteration {
  attempt: number;
  lastSeq: number;
  text: string;
  reasoning: string;
  isWhole: boolean;
  isMissingSome: boolean;
}

/**
 * The text that `items` amount to, iterations in the order in which they began. Leaves out what a
 * higher attempt or a `restart` made void, and duplicates. Linear.
 */
export function collect(items: Iterable<Chunk | ChunkMarker>): Collected {
  const iterations = new Map<string, Iteration>();
  let hasGap = false;
  for (const item of items) {
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
    if (item.seq > iteration.lastSeq + 1) iteration.isMissingSome = true;
    iterations.set(key, iteration);
    iteration.lastSeq = item.seq;
    if (item.kind === 'text') iteration.text += item.delta;
    if (item.kind === 'reasoning') iteration.reasoning += item.delta;
    if (item.kind === 'end') iteration.isWhole = true;
  }
  const all = [...iterations.values()];
  return {
    text: all.map(({ text }) => text).join(''),
    reasoning: all.map(({ reasoning }) => reasoning).join(''),
    complete: all.length > 0 && !hasGap && all.every((each) => each.isWhole && !each.isMissingSome),
  };
}

function startIteration(origin: ChunkOrigin): Iteration {
  return {
    attempt: origin.attempt,
    lastSeq: origin.seq,
    text: '',
    reasoning: '',
    isWhole: false,
    // Numbers begin at 1, with the `restart` of an attempt that is not the first: it holds no text.
    isMissingSome: origin.seq > (origin.attempt > 1 ? 2 : 1),
  };
}
