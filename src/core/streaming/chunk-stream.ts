/** One attempt at one reply, published as chunks while the model writes it. */
import type { Chunk, ChunkMarker, ChunkOrigin, PushedEvent } from './chunk.ts';

/** Publishes chunks to all subscribers; never waits and never throws. */
export interface ChunkPublisher {
  publish(item: Chunk | ChunkMarker): void;
  /** Publishes an event of a run whose workflow this worker runs; without it, readers poll. */
  publishEvent?(item: PushedEvent): void;
  /** Called by the worker that runs the workflow when a run has ended; its readers may leave. */
  endRun?(runId: string): void;
  /** Whether somebody reads the chunks of a run now; without it, somebody might. */
  isRead?(origin: Pick<ChunkOrigin, 'runId' | 'rootRunId'>): boolean;
}

/** One attempt; nothing may be written after `end` or `fail`. */
export interface ChunkStream {
  /** Says that the reply comes whole at its end; before the first piece. */
  readonly notStreamed: () => void;
  readonly write: (chunk: Pick<Chunk, 'kind' | 'delta'>) => void;
  readonly end: () => void;
  readonly fail: () => void;
}

/** Opens an attempt, which numbers its items and begins with `restart` unless it is the first. */
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
    notStreamed: () => mark('not_streamed'),
    write: ({ kind, delta }) => {
      seq += 1;
      publisher.publish({ ...origin, seq, kind, delta });
    },
    end: () => mark('end'),
    fail: () => mark('error'),
  };
}
