/** Agents whose provider is a server of the test: what it refuses, loads by URL and runs itself. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { AiTool } from '../../src/define/tool/hosted-tool.ts';
import { defineAgent, defineTool, type AgentDefinition } from '../../src/index.ts';

/** The text that the guard of `guarded` takes out of tasks. */
export const HIDDEN_CARD = '4111111111111111';

/** The agents, with their models at `url`. */
export function providedAgents(url: string): readonly AgentDefinition[] {
  const apiKey = 'key';
  const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey });
  const google = createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey });
  const chatAt = (baseURL: string) => createOpenAICompatible({ name: 'mock', baseURL, apiKey });
  const note = defineTool({
    name: 'note',
    description: 'Notes what was found.',
    effect: 'once',
    execute: () => 'noted',
  });
  return [
    defineAgent({
      name: 'watcher',
      model: chatAt(`${url}/unchecked/v1`)('watched'),
      onRefusal: 'ask',
    }),
    defineAgent({ name: 'reader', model: google('gemini-2.5-pro') }),
    defineAgent({
      name: 'searcher',
      model: anthropic('claude-sonnet-4-5'),
      tools: [anthropic.tools.webSearch_20250305({}) as AiTool, note],
    }),
    defineAgent({
      name: 'guarded',
      model: chatAt(`${url}/v1`)('m'),
      guards: [
        {
          name: 'cards',
          check: async ({ text }) => {
            await fetch(`${url}/guard`, { method: 'POST', body: '{}' });
            return { rewrite: text.replaceAll(HIDDEN_CARD, '[card]') };
          },
        },
      ],
    }),
  ];
}
