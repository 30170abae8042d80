import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { Chunk, ChunkMarker, PushedEvent } from '../../src/core/streaming/chunk.ts';

const ORIGIN = { rootRunId: 'r', runId: 'r', agentPath: 'a', iteration: 1, attempt: 1, seq: 0 };

/** A piece of text of run `r`, iteration 1, attempt 1, unless said otherwise. */
export function chunk(seq: number, delta: string, over: Partial<Chunk> = {}): Chunk {
  return { ...ORIGIN, seq, kind: 'text', delta, ...over };
}

/** A marker of run `r`, iteration 1, attempt 1, unless said otherwise. */
export function marker(
  seq: number,
  kind: ChunkMarker['kind'],
  over: Partial<ChunkMarker> = {},
): ChunkMarker {
  return { ...ORIGIN, seq, kind, ...over };
}

/** Event number `seq` of run `r`, as its worker pushes it. */
export function pushed(seq: number, over: Partial<AgentEvent> = {}, rootRunId = 'r'): PushedEvent {
  const event = {
    seq,
    type: 'agent:iteration:before',
    runId: 'r',
    agent: 'a',
    agentPath: 'a',
    at: seq,
    iteration: 1,
    depth: 0,
    ...over,
  } as AgentEvent;
  return { kind: 'event', rootRunId, event };
}
