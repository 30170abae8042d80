/** The layer of a model call that publishes its reply while the model writes it. */
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { ModelEnd } from '../core/contract/host-outcome.ts';
import type { ModelChunk } from '../core/contract/model.ts';
import { openChunkStream, type ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import type { CallIo } from './model-adapter.ts';

/** How a reply is published: to whom, and as which attempt of its iteration. */
export interface StreamPlace {
  readonly chunks: ChunkPublisher;
  readonly order: ModelOrder;
  /** Number of the attempt in its iteration. */
  readonly number: number;
  /** True: the reply is asked for at once while nobody reads. Default false. */
  readonly mayBeWhole?: boolean;
  /** Gets the pieces as well. */
  readonly onChunk?: (chunk: ModelChunk) => void;
}

/** What a call needs to stream. */
export type StreamIo = Required<Pick<CallIo, 'onChunk' | 'isRead' | 'isWhole'>>;

/** Makes a call whose pieces are published. Only replies stream: nobody sees what else is asked. */
export async function streamed<End extends ModelEnd>(
  { chunks, order, number, mayBeWhole = false, onChunk = () => undefined }: StreamPlace,
  next: (io: StreamIo) => Promise<End>,
): Promise<End> {
  const { purpose, runId, rootRunId = runId, iteration, agentPath } = order;
  if (purpose !== 'reply') {
    return next({ onChunk, isRead: () => false, isWhole: mayBeWhole });
  }
  const isRead = (): boolean => chunks.isRead?.({ runId, rootRunId }) ?? true;
  const origin = { rootRunId, runId, agentPath, iteration, attempt: number };
  const stream = openChunkStream(chunks, origin);
  const isWhole = mayBeWhole && !isRead();
  if (isWhole) stream.notStreamed();
  const write = (chunk: ModelChunk): void => {
    onChunk(chunk);
    stream.write(chunk);
  };
  try {
    const end = await next({ onChunk: write, isRead, isWhole });
    stream.end();
    return end;
  } catch (error) {
    stream.fail();
    throw error;
  }
}
