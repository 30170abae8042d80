/** The events of a run that workers push, from a source that may have none. */
import { defined } from '../../core/base/defined.ts';
import type { FeedMark, LiveFilter, PushedEvent } from '../../core/streaming/chunk.ts';
import { leavable, rootOf, type ChunkSource, type StreamParts } from './run-stream.ts';

/** What {@link pushedOf} takes. */
export type PushedParts = Pick<StreamParts, 'id' | 'wholeTree' | 'chunks' | 'identify'>;

/** The events of a run, or of its whole tree, until the source ends or the reader leaves. */
export function pushedOf(parts: PushedParts): AsyncIterable<PushedEvent | FeedMark> {
  const { id, wholeTree, chunks, identify } = parts;
  return leavable((left) =>
    readPushed(chunks, left, async () => {
      const run = await identify(left);
      return wholeTree ? { rootRunId: rootOf(id, run) } : { runId: run.runId };
    }),
  );
}

/** The events of all runs, of these `types` if they are named, until the reader leaves. */
export function pushedOfAll(
  chunks: ChunkSource | undefined,
  types: readonly string[] | undefined,
): AsyncIterable<PushedEvent | FeedMark> {
  return leavable((left) => readPushed(chunks, left, async () => defined({ types })));
}

async function* readPushed(
  chunks: ChunkSource | undefined,
  left: AbortSignal,
  filterOf: () => Promise<LiveFilter>,
): AsyncGenerator<PushedEvent | FeedMark, undefined> {
  const subscribe = chunks?.subscribeEvents?.bind(chunks);
  if (subscribe === undefined) return void (yield { kind: 'feed', feed: 'polled' });
  const filter = await filterOf();
  if (left.aborted) return;
  const items = subscribe(filter)[Symbol.asyncIterator]();
  const leave = (): void => void items.return?.();
  left.addEventListener('abort', leave, { once: true });
  try {
    for (;;) {
      const next = await items.next();
      if (next.done === true || left.aborted) return;
      const item = next.value;
      if (item.kind === 'event' || item.kind === 'feed') yield item;
    }
  } finally {
    leave();
  }
}
