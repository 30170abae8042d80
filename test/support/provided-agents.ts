/** Agents whose provider is a server of the test: what it refuses, loads by URL and runs itself. */
import * as anthropic from '@ai-sdk/anthropic';
import type { AiTool } from '../../src/define/tool/hosted-tool.ts';
import { defineAgent, defineTool, type AgentDefinition } from '../../src/index.ts';
import { modelAt } from './aimock.ts';

/** The text that the guard of `guarded` takes out of tasks. */
export const HIDDEN_CARD = '4111111111111111';

/** The agents, with their models at `url`. */
export function providedAgents(url: string): readonly AgentDefinition[] {
  const note = defineTool({
    name: 'note',
    description: 'Notes what was found.',
    effect: 'once',
    execute: () => 'noted',
  });
  return [
    defineAgent({
      name: 'watcher',
      model: modelAt(`${url}/unchecked`, 'openai-compatible'),
      onRefusal: 'ask',
    }),
    defineAgent({ name: 'reader', model: modelAt(url, 'google', 'gemini-2.5-pro') }),
    defineAgent({
      name: 'searcher',
      model: modelAt(url, 'anthropic', 'claude-sonnet-4-5'),
      tools: [anthropic.anthropic.tools.webSearch_20250305({}) as AiTool, note],
    }),
    defineAgent({
      name: 'guarded',
      model: modelAt(url, 'openai-compatible'),
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
