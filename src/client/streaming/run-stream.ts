/**
 * The provisional text of one run, from a source that does not know when runs end.
 *
 * I1  The stream is open before anything is asked of a worker: the run is identified by the service.
 * I2  The end of the run ends the stream, after a short time for what is still on its way.
 */
import type { Client } from '@temporalio/client';
import type {
  Chunk,
  ChunkFilter,
  ChunkMarker,
  LiveFilter,
  LiveItem,
} from '../../core/streaming/chunk.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { AskedAgents } from './ask-agents.ts';
import { readStatus } from '../reading/run-status.ts';
import { describeRun } from '../connection/own-run.ts';
import { isAlive } from '../connection/service-calls.ts';

/**
 * A source of provisional text; of events if it has `subscribeEvents`, and of what workers say of
 * their agents if it has `agents`.
 */
export interface ChunkSource {
  subscribe(filter: ChunkFilter): AsyncIterable<Chunk | ChunkMarker>;
  subscribeEvents?(filter: LiveFilter): AsyncIterable<LiveItem>;
  agents?(): Promise<AskedAgents>;
}

type Item = Chunk | ChunkMarker;

/** What a stream has to know of its run. */
export interface StreamedRun {
  readonly runId: string;
  readonly isRoot: boolean;
  /** When it ended, in ms since 1970; null while it is live. */
  readonly endedAt: number | null;
}

/** What {@link streamOf} takes. */
export interface StreamParts {
  readonly id: string;
  /** Includes the text of all runs below. */
  readonly wholeTree: boolean;
  readonly chunks: ChunkSource | undefined;
  readonly identify: (left?: AbortSignal) => Promise<StreamedRun>;
  readonly result: (left: AbortSignal) => Promise<unknown>;
  /** Gives a stream of this run that is open already, once; not for a whole tree. */
  readonly opened?: (() => AsyncIterator<Item> | undefined) | undefined;
}

/**
 * What a stream has to know of run `id`. Asks the service and no worker.
 *
 * @throws UsageError `run_not_found`, `not_an_agent`.
 */
export async function identifyRun(client: Client, id: string): Promise<StreamedRun> {
  const described = await describeRun(client, id);
  const { firstRunId } = described.raw.workflowExecutionInfo ?? {};
  return {
    // Servers before 1.25 do not name it.
    runId: firstRunId || (await readStatus(client, id)).runId,
    isRoot: (described.parentExecution ?? null) === null,
    endedAt: isAlive(described.status.name) ? null : (described.closeTime?.getTime() ?? 0),
  };
}

/**
 * The run id of `run`, whose whole tree is to be streamed.
 *
 * @throws UsageError `no_stream` if it has a run above it.
 */
export function rootOf(id: string, { runId, isRoot }: StreamedRun): string {
  if (isRoot) return runId;
  throw new UsageError(
    'no_stream',
    `Expected the root of a tree to stream it whole, got \`${id}\`, which has a run above it. Use the handle of the root.`,
  );
}

/** The chunks of a live run, until it ends or the reader leaves. */
export function streamOf(parts: StreamParts): AsyncIterable<Item> {
  return leavable((left) => readStream(parts, left));
}

/**
 * The items of a generator whose reader may leave while it waits. `return` then aborts `left`;
 * otherwise a generator that waits for a silent run would end at its next item only.
 */
export function leavable<Output>(
  generate: (left: AbortSignal) => AsyncGenerator<Output, undefined>,
): AsyncIterable<Output> {
  return {
    [Symbol.asyncIterator]: () => {
      const left = new AbortController();
      const items = generate(left.signal);
      return {
        next: () => items.next(),
        return: () => {
          left.abort();
          return items.return(undefined);
        },
      };
    },
  };
}

/** How long workers keep the replies of a run that has ended, at least. */
const KEPT_MS = 10_000;

/** How long the rest of a reply may be on its way after the end of its run. */
const REST_MS = 1_000;

/** As {@link REST_MS}, when nothing is known to be missing. */
const QUIET_MS = 100;

async function* readStream(parts: StreamParts, left: AbortSignal): AsyncGenerator<Item, undefined> {
  const source = await openSource(parts, left);
  if (source === null) return;
  const progress = createProgress();
  let wake = (): void => undefined;
  const end = (step: unknown): void => {
    progress.onEnd(step);
    wake();
  };
  const over = new AbortController();
  void parts.result(AbortSignal.any([left, over.signal])).then(end, () => end(undefined));
  left.addEventListener('abort', () => wake(), { once: true });
  try {
    let reading = source.next();
    while (!left.aborted) {
      const restMs = progress.restMs();
      // Each wait has a promise of its own, because a single one would keep every race in memory.
      const woken = new Promise<null>((resolve) => {
        wake = () => resolve(null);
      });
      const timer = restMs === null ? undefined : setTimeout(wake, Math.max(0, restMs));
      const next = await Promise.race([reading, woken]);
      clearTimeout(timer);
      if (next === null) {
        if ((progress.restMs() ?? 1) <= 0) return;
        continue;
      }
      if (next.done === true) return;
      progress.onItem(next.value);
      yield next.value;
      reading = source.next();
    }
  } finally {
    over.abort();
    await source.return?.();
  }
}

/** Subscribes; null for a run that ended too long ago. */
async function openSource(
  parts: StreamParts,
  left: AbortSignal,
): Promise<AsyncIterator<Item> | null> {
  const { id, wholeTree, chunks, identify, opened } = parts;
  if (chunks === undefined) {
    throw new UsageError(
      'no_stream',
      'Expected a client with a source of chunks, got one without. Use `connect()` or `local()`, or give `chunks` to the client.',
    );
  }
  const held = wholeTree ? undefined : opened?.();
  if (held !== undefined) return held;
  const run = await identify(left);
  const { runId, endedAt } = run;
  if (wholeTree) rootOf(id, run);
  if (endedAt !== null && endedAt < Date.now() - KEPT_MS) return null;
  return chunks.subscribe(wholeTree ? { rootRunId: runId } : { runId })[Symbol.asyncIterator]();
}

/** How far a stream is, and how long it waits for more. */
interface Progress {
  readonly onItem: (item: Item) => void;
  /** The run has ended, with this Step. */
  readonly onEnd: (step: unknown) => void;
  /** Null while the run is live; from 0 down when the stream is over. */
  readonly restMs: () => number | null;
}

function createProgress(): Progress {
  const startedAt = performance.now();
  let last: Item | undefined;
  let lastAt = startedAt;
  let endedAt: number | undefined;
  let iterations: unknown;
  /** The runs with a reply that is being written. */
  const open = new Set<string>();
  const graceMs = (): number => {
    if (open.size > 0) return REST_MS;
    if (last === undefined) return Math.max(QUIET_MS, startedAt + REST_MS - (endedAt ?? startedAt));
    return last.kind === 'end' && last.iteration === iterations ? 0 : QUIET_MS;
  };
  return {
    onItem: (item) => {
      if (item.kind === 'topic') return;
      last = item;
      lastAt = performance.now();
      if (item.kind === 'end' || item.kind === 'error') open.delete(item.runId);
      else if (item.kind !== 'gap') open.add(item.runId);
    },
    onEnd: (step) => {
      endedAt = performance.now();
      iterations = Object(step)['iterations'];
    },
    restMs: () =>
      endedAt === undefined ? null : Math.max(endedAt, lastAt) + graceMs() - performance.now(),
  };
}

/** How long a stream that was opened with a start may stay unread. */
const UNREAD_MS = 60_000;

/**
 * Opens the stream of a run for the first reader. Without one, it is closed after a minute. Returns
 * a function that gives it once.
 */
export function openAhead(
  chunks: ChunkSource,
  runId: string,
): () => AsyncIterator<Item> | undefined {
  let held: AsyncIterator<Item> | undefined = chunks.subscribe({ runId })[Symbol.asyncIterator]();
  const take = (): AsyncIterator<Item> | undefined => {
    const items = held;
    held = undefined;
    clearTimeout(timer);
    return items;
  };
  const timer = setTimeout(() => void take()?.return?.(), UNREAD_MS).unref();
  return take;
}
