/** An agent of a real model, for tests and for the worker processes that they kill. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { ModelEntry } from '../../src/define/model/model-entry.ts';

/** The model that llama.cpp serves at `url`. */
export function realModelEntry(url: string, more: Partial<ModelEntry> = {}): ModelEntry {
  const llama = createOpenAICompatible({
    name: 'llama',
    baseURL: `${url}/v1`,
    supportsStructuredOutputs: true,
  });
  return {
    id: 'smollm2',
    model: llama('smollm2'),
    maxOutputTokens: 200,
    price: { input: 0, output: 0 },
    ...more,
  };
}

/** Names of a list that `lister` writes: some hundred tokens, as its schema asks. */
export const LISTED = 40;

/** What `lister` answers. */
export const listed: z.ZodType<readonly string[]> = z
  .array(z.enum(['north', 'east', 'south', 'west']))
  .length(LISTED);

/** `lister` writes long enough to be killed meanwhile. */
export function realModelAgent(url: string): AgentDefinition {
  return defineAgent({
    name: 'lister',
    mode: 'json',
    model: realModelEntry(url, { maxOutputTokens: 1_000 }),
    signature: { output: listed },
  }) as AgentDefinition;
}
