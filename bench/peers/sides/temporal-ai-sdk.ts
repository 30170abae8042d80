/** Temporal's own plugin for the AI SDK. */
import type { LanguageModelV4, LanguageModelV4Prompt, ProviderV4 } from '@ai-sdk/provider';
import { AiSdkPlugin } from '@temporalio/ai-sdk';
import { serveSide, type Side } from '../side.ts';
import { askModel, chatOf, type Order } from '../work.ts';
import { startTemporal } from './temporal/temporal-worker.ts';

/** The name of a model is the order, since a provider learns nothing else of a run. */
function languageModel(modelId: string): LanguageModelV4 {
  const order = JSON.parse(modelId) as Order;
  return {
    specificationVersion: 'v4',
    provider: 'peers',
    modelId,
    supportedUrls: {},
    doGenerate: async ({ prompt }) => {
      const { text, call } = await askModel(order, turnOf(prompt));
      return {
        content: [
          { type: 'text', text },
          ...(call === undefined
            ? []
            : [
                {
                  type: 'tool-call' as const,
                  toolCallId: call.id,
                  toolName: 'read',
                  input: JSON.stringify(call.args),
                },
              ]),
        ],
        finishReason: { unified: call === undefined ? 'stop' : 'tool-calls', raw: undefined },
        usage: {
          inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 10, text: 10, reasoning: 0 },
        },
        warnings: [],
      };
    },
    doStream: () => Promise.reject(new Error('Expected doGenerate, got doStream.')),
  };
}

function turnOf(prompt: LanguageModelV4Prompt): number {
  return prompt.filter(({ role }) => role === 'tool').length + 1;
}

const modelProvider = {
  specificationVersion: 'v4',
  languageModel,
  embeddingModel: () => {
    throw new Error('Expected a language model.');
  },
  imageModel: () => {
    throw new Error('Expected a language model.');
  },
} satisfies ProviderV4;

await serveSide(async (places): Promise<Side> => {
  const taskQueue = 'temporal-ai-sdk';
  const plugins = [new AiSdkPlugin({ modelProvider })];
  const client = await startTemporal(places, { workflows: './ai-loop.ts', taskQueue, plugins });
  return {
    play: async (order) => {
      const earlier = chatOf(order).map(({ role, text }) => ({ role, content: text }));
      const args = [order, earlier, 1];
      await client.workflow.execute('aiLoop', { workflowId: order.id, taskQueue, args });
    },
  };
});
