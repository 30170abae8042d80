/**
 * A worker process for the bare workflow that does what the agent does; its argument is a
 * {@link WorkerOrder} as JSON. Its model activity calls the provider by `streamText`, and both
 * activities beat as ours do.
 */
import '../support/quiet.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { NativeConnection, Worker } from '@temporalio/worker';
import { jsonSchema, streamText, type ModelMessage, type ToolSet } from 'ai';
import { withHeartbeat } from '../../src/activities/heartbeat.ts';
import { startOrFindServer } from '../../src/worker/server/embedded-server.ts';
import { BARE_TUNING, bareBundle } from '../support/bare-worker.ts';
import type { ChatActivities } from '../workflows/bare.ts';
import {
  BARE_QUEUE,
  FLEET_TOOL,
  PACE,
  TOOL_RESULT,
  type WorkerOrder,
  type WorkerReadyNote,
} from './orders.ts';
import { tellUsed } from './tell-used.ts';

const { dataDir, cliDir, providerUrl } = JSON.parse(process.argv[2] ?? '') as WorkerOrder;
const provider = createOpenAICompatible({
  name: 'fleet',
  baseURL: providerUrl,
  includeUsage: true,
});
const tools: ToolSet = {
  [FLEET_TOOL]: {
    description: 'Reads a part.',
    inputSchema: jsonSchema({
      type: 'object',
      properties: { part: { type: 'integer' } },
      required: ['part'],
    }),
  },
};

const activities: ChatActivities = {
  chatModel: (messages) =>
    withHeartbeat(async () => {
      const reply = streamText({
        model: provider('fleet'),
        tools,
        messages: messages as ModelMessage[],
      });
      await reply.consumeStream();
      const calls = await reply.toolCalls;
      const { messages: added } = await reply.response;
      return {
        messages: added,
        calls: calls.map(({ toolCallId: id, toolName: name, input }) => ({ id, name, input })),
      };
    }),
  chatTool: () => withHeartbeat(() => sleep(PACE.toolMs, TOOL_RESULT)),
};

tellUsed();
const { address, pid = 0 } = await startOrFindServer({ dataDir, cliDir, port: 'free' });
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  namespace: 'default',
  taskQueue: BARE_QUEUE,
  workflowBundle: await bareBundle(),
  activities: { ...activities },
  ...BARE_TUNING,
});
const note: WorkerReadyNote = { address, serverPid: pid };
process.send?.(note);
await worker.run();
