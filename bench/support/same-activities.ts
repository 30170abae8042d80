/**
 * The two activities of a worker, for a workflow that is no agent. So a comparison with it measures
 * the loop, not the model and tool activities. No loop feeds their transcript, so the transcript is
 * always the same: as long as the average one of an agent with fifty iterations.
 */
import { createActivities } from '../../src/activities/create-activities.ts';
import { createToolPlaces } from '../../src/tools/isolate/tool-places.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import type { ModelOrder } from '../../src/core/contract/host-order.ts';
import { headDigest, messagesDigest } from '../../src/core/run/run-state.ts';
import type { Json } from '../../src/core/base/json.ts';
import { textMessage } from '../../src/core/base/message.ts';
import type { ToolOrder } from '../../src/core/contract/outcome.ts';
import type { TranscriptHead } from '../../src/core/contract/transcript.ts';
import { createChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import { bareInput, type BareWork } from './bare-worker.ts';
import { instantAgent, REPLY_BYTES } from './instant-agent.ts';

const MESSAGES = 50;
const HEARTBEAT_MS = 5_000;

/**
 * `callModel` and `callTool` of a worker that knows the agent `instant`, with a tool of
 * `resultBytes`; `calls` tool calls a turn.
 */
export async function sameActivities(resultBytes: number, calls = 1): Promise<BareWork> {
  const registry = createRegistry({
    agents: [instantAgent('instant', { resultBytes })],
    models: [],
  });
  const items: Json[] = [];
  const worker = createActivities({
    registry,
    runtime: { heartbeatMs: HEARTBEAT_MS },
    cache: { read: () => items, append: () => undefined, drop: () => undefined },
    chunks: createChunkBus(),
    archive: { write: () => Promise.resolve(), read: () => Promise.resolve([]) },
    places: createToolPlaces(),
    callbacks: { secrets: [] },
  });
  const task = { text: String(MESSAGES) };
  const { spec } = await worker.loadAgent({ v: 1, agent: 'instant', task });
  const head: TranscriptHead = { spec, task };
  const messages = Array.from({ length: MESSAGES }, (_, index) =>
    index % 2 === 0
      ? textMessage('assistant', 'x'.repeat(REPLY_BYTES))
      : textMessage('user', 'r'.repeat(resultBytes)),
  );
  items.push(head as unknown as Json, ...(messages as unknown as readonly Json[]));
  const digest = messagesDigest(headDigest(head), messages);
  const transcript = { epoch: 1, length: MESSAGES, digest };
  return {
    activities: {
      bareModel: (order) => worker.callModel(order as ModelOrder),
      bareTool: (order) => worker.callTool(order as ToolOrder),
    },
    inputOf: (turns) => {
      const input = bareInput(turns, HEARTBEAT_MS);
      return { ...input, calls, modelOrder: { ...(input.modelOrder as object), transcript } };
    },
  };
}
