/** The examples of docs/models.md: its code blocks are the regions of this file. */
import { openai } from '@ai-sdk/openai';
import { defineAgent, type AgentDefinition, type ModelEntry } from '../../src/index.ts';

/** Entries for a worker. */
export function entries(): readonly ModelEntry[] {
  // #region entries
  const models: ModelEntry[] = [
    {
      id: 'large',
      model: openai('gpt-5'),
      contextWindow: 400_000,
      price: { input: 1.25, output: 10, cachedInput: 0.125 },
      fallbacks: ['small'],
      settings: { temperature: 0 },
    },
    { id: 'small', model: openai('gpt-5-mini'), price: { input: 0.25, output: 2 } },
  ];
  // #endregion
  return models;
}

/** Models by name. */
export function named(): {
  readonly agent: AgentDefinition;
  readonly models: readonly ModelEntry[];
} {
  // #region named
  const models: ModelEntry[] = [
    { id: 'large', model: 'openai/gpt-5', price: { input: 1.25, output: 10 } },
  ];
  const agent = defineAgent({ name: 'clerk', model: 'openai/gpt-5-mini' });
  // #endregion
  return { agent, models };
}

/** A model that is a function, and an agent that falls back to it. */
export function withFallback(): {
  readonly agent: AgentDefinition;
  readonly models: readonly ModelEntry[];
} {
  // #region functions
  const models: ModelEntry[] = [
    {
      id: 'down',
      price: { input: 1, output: 2 },
      model: async () => {
        throw Object.assign(new Error('overloaded'), { status: 401 });
      },
      fallbacks: ['parrot'],
    },
    {
      id: 'parrot',
      price: { input: 1, output: 2 },
      model: async ({ messages }, { onChunk }) => {
        onChunk({ kind: 'text', delta: '<answer>' });
        return {
          content: `<answer>${messages.length} messages</answer>`,
          usage: { prompt_tokens: 1_000, completion_tokens: 10 },
        };
      },
    },
  ];
  const agent = defineAgent({ name: 'bird', model: 'down', limits: { costUsd: 0.05 } });
  // #endregion
  return { agent, models };
}
