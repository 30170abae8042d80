/** One try of one reply, as its model writes it into a bus of chunks. */
import type { Chunk, ChunkMarker, ChunkOrigin } from './chunk.ts';

/** Takes pieces for whoever listens; never waits and never throws. */
export interface ChunkPublisher {
  publish(item: Chunk | ChunkMarker): void;
  /** Told by the worker that runs the workflow when a run has ended; readers of it may go. */
  endRun?(runId: string): void;
}

/** One try; nothing may be written after `end` or `fail`. */
export interface ChunkStream {
  readonly write: (chunk: Pick<Chunk, 'kind' | 'delta'>) => void;
  readonly end: () => void;
  readonly fail: () => void;
}

/** Opens a try: numbers its pieces, and begins with `restart` when it is not the first. */
export function openChunkStream(
  publisher: ChunkPublisher,
  origin: Omit<ChunkOrigin, 'seq'>,
): ChunkStream {
  let seq = 0;
  const mark = (kind: ChunkMarker['kind']): void => {
    seq += 1;
    publisher.publish({ ...origin, seq, kind });
  };
  if (origin.attempt > 1) mark('restart');
  return {
    write: ({ kind, delta }) => {
      seq += 1;
      publisher.publish({ ...origin, seq, kind, delta });
    },
    end: () => mark('end'),
    fail: () => mark('error'),
  };
}
