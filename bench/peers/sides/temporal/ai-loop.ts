/** The same loop with Temporal's plugin for the AI SDK, whose model calls are activities. */
import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { TemporalProvider } from '@temporalio/ai-sdk/workflow';
import { generateText, isStepCount, tool, type ModelMessage } from 'ai';
import { z } from 'zod';
import type { Order, ReadArgs } from '../../work.ts';
import type { Activities } from './loop.ts';

const { readPart } = proxyActivities<Pick<Activities, 'readPart'>>({
  startToCloseTimeout: '1m',
  heartbeatTimeout: '10s',
});

// The plugin's own default is ten minutes, after which it would notice that a worker was lost.
const provider = new TemporalProvider({ languageModel: { startToCloseTimeout: '1m' } });

const read = tool({
  description: 'Reads a part.',
  inputSchema: z.object({
    run: z.string(),
    part: z.number(),
    bytes: z.number(),
    ms: z.number(),
  }),
  execute: (args: ReadArgs) => readPart(args),
});

/** One step of `generateText` a turn, so that a new history can begin between two turns. */
export async function aiLoop(
  order: Order,
  earlier: readonly ModelMessage[],
  firstTurn: number,
): Promise<string> {
  const messages = [...earlier];
  for (let turn = firstTurn; ; turn++) {
    const result = await generateText({
      model: provider.languageModel(JSON.stringify(order)),
      messages,
      tools: { read },
      stopWhen: isStepCount(1),
    });
    messages.push(...result.response.messages);
    if (result.toolCalls.length === 0) return result.text;
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof aiLoop>(order, messages, turn + 1);
    }
  }
}
