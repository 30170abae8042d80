/** The provisional text of one run, from a source that does not know when runs end. */
import type { RunStatus } from '../core/contract/messages.ts';
import type { Chunk, ChunkFilter, ChunkMarker } from '../core/streaming/chunk.ts';
import { UsageError } from '../core/base/usage-error.ts';

/** A source of provisional text. */
export interface ChunkSource {
  subscribe(filter: ChunkFilter): AsyncIterable<Chunk | ChunkMarker>;
}

/** What {@link streamOf} takes. */
export interface StreamParts {
  readonly id: string;
  /** Includes the text of all runs below. */
  readonly wholeTree: boolean;
  readonly chunks: ChunkSource | undefined;
  readonly status: () => Promise<RunStatus>;
  readonly isRoot: () => Promise<boolean>;
  readonly result: () => Promise<unknown>;
}

/** The chunks of a live run, until it ends or the reader leaves. */
export function streamOf(parts: StreamParts): AsyncIterable<Chunk | ChunkMarker> {
  return leavable((left) => readStream(parts, left));
}

/**
 * The items of a generator whose reader may leave while it waits. `return` then aborts `left`;
 * otherwise a generator that waits for a silent run would end at its next item only.
 */
export function leavable<Item>(
  generate: (left: AbortSignal) => AsyncGenerator<Item, undefined>,
): AsyncIterable<Item> {
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

async function* readStream(
  { id, wholeTree, chunks, status, isRoot, result }: StreamParts,
  left: AbortSignal,
): AsyncGenerator<Chunk | ChunkMarker, undefined> {
  if (chunks === undefined) {
    throw new UsageError(
      'no_stream',
      'Expected a client with a source of chunks, got one without. Use `connect()` or `local()`, or give `chunks` to the client.',
    );
  }
  const { runId, state } = await status();
  if (state === 'ended') return;
  if (wholeTree && !(await isRoot())) {
    throw new UsageError(
      'no_stream',
      `Expected the root of a tree to stream it whole, got \`${id}\`, which has a run above it. Use the handle of the root.`,
    );
  }
  const filter = wholeTree ? { rootRunId: runId } : { runId };
  const source = chunks.subscribe(filter)[Symbol.asyncIterator]();
  // The end of the run ends the stream. Each chunk gets a promise of its own, because a single one
  // would keep every race in memory until the run ends.
  let hasEnded = false;
  let wake = (): void => undefined;
  const end = (): void => {
    hasEnded = true;
    wake();
  };
  void result().then(end, end);
  left.addEventListener('abort', end, { once: true });
  try {
    for (;;) {
      const ended = new Promise<typeof END>((resolve) => {
        wake = () => resolve(END);
        if (hasEnded) wake();
      });
      const next = await Promise.race([source.next(), ended]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await source.return?.();
  }
}

const END: IteratorResult<Chunk | ChunkMarker> = { done: true, value: undefined };
