/** The events that the code of users emits, as chunks for readers of the run. */
import { defined } from '../base/defined.ts';
import type { Json } from '../base/json.ts';
import type { EventPart } from '../contract/outcome.ts';
import type { ChunkOrigin } from './chunk.ts';
import type { ChunkPublisher } from './chunk-stream.ts';

/** Where an event comes from. */
export interface TopicOrigin extends Omit<ChunkOrigin, 'seq'> {
  readonly callId?: string;
}

/** Publishes event number `seq` of `origin`. */
export function publishTopic(
  publisher: ChunkPublisher,
  { rootRunId, runId, agentPath, iteration, attempt, callId }: TopicOrigin,
  event: EventPart & { readonly seq: number; readonly topic: string; readonly data: Json },
): void {
  const { seq, topic, data, id, keep } = event;
  publisher.publish({
    rootRunId,
    runId,
    agentPath,
    iteration,
    attempt,
    seq,
    topic,
    ...defined({ callId, id, keep }),
    kind: 'topic',
    delta: JSON.stringify(data),
  });
}

/** Publishes the events of one attempt of a call, as its tool emits them. */
export function callTopics(
  publisher: ChunkPublisher,
  origin: Omit<TopicOrigin, 'iteration'> & { readonly callId: string },
): (topic: string, data: Json, part?: EventPart) => void {
  let seq = 0;
  // An id of a call begins with its iteration.
  const iteration = Number.parseInt(origin.callId, 10) || 0;
  return (topic, data, part) => {
    seq += 1;
    publishTopic(publisher, { ...origin, iteration }, { seq, topic, data, ...part });
  };
}
