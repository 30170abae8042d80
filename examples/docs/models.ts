/** The examples of docs/models.md: its code blocks are the regions of this file. */
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createAzure } from '@ai-sdk/azure';
import { openai } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { defineAgent, type AgentDefinition, type ModelEntry } from '../../src/index.ts';

/** An agent whose model is named by its provider. */
export function first(): AgentDefinition {
  // #region first
  const clerk = defineAgent({ name: 'clerk', mode: 'chat', model: 'openai/gpt-5-mini' });
  // #endregion
  return clerk;
}

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
      settings: { reasoning: 'low' },
    },
    { id: 'small', model: openai('gpt-5-mini'), price: { input: 0.25, output: 2 } },
  ];
  // #endregion
  return models;
}

/** A model that OpenRouter passes on. */
export function atOpenRouter(): ModelEntry {
  // #region openrouter
  const openrouter = createOpenAICompatible({
    name: 'openrouter',
    baseURL: 'https://openrouter.ai/api/v1',
    apiKey: process.env['OPENROUTER_API_KEY'] ?? '',
    supportsStructuredOutputs: true,
  });
  const entry: ModelEntry = {
    id: 'sonnet',
    model: openrouter('anthropic/claude-sonnet-4.5'),
    settings: { providerOptions: { openrouter: { provider: { require_parameters: true } } } },
  };
  // #endregion
  return entry;
}

/** A model of Ollama on this machine. */
export function atOllama(): ModelEntry {
  // #region ollama
  const ollama = createOpenAICompatible({ name: 'ollama', baseURL: 'http://localhost:11434/v1' });
  const entry: ModelEntry = {
    id: 'qwen',
    model: ollama('qwen3:8b'),
    contextWindow: 16_384,
    firstTokenMs: 600_000,
    price: { input: 0, output: 0 },
  };
  // #endregion
  return entry;
}

/** A model of LM Studio on this machine. */
export function atLmStudio(): ModelEntry {
  // #region lmstudio
  const lmstudio = createOpenAICompatible({
    name: 'lmstudio',
    baseURL: 'http://localhost:1234/v1',
    supportsStructuredOutputs: true,
  });
  const entry: ModelEntry = {
    id: 'gpt-oss',
    model: lmstudio('openai/gpt-oss-20b'),
    contextWindow: 32_768,
    price: { input: 0, output: 0 },
  };
  // #endregion
  return entry;
}

/** A model of vLLM, or of llama.cpp. */
export function atVllm(): ModelEntry {
  // #region vllm
  const vllm = createOpenAICompatible({
    name: 'vllm',
    baseURL: 'http://gpu-1:8000/v1',
    apiKey: process.env['VLLM_API_KEY'] ?? '',
    supportsStructuredOutputs: true,
  });
  const entry: ModelEntry = {
    id: 'qwen',
    model: vllm('Qwen/Qwen3-8B'),
    contextWindow: 32_768,
    price: { input: 0, output: 0 },
  };
  // #endregion
  return entry;
}

/** Claude of Amazon Bedrock. */
export function atBedrock(): ModelEntry {
  // #region bedrock
  const bedrock = createAmazonBedrock({ region: 'eu-central-1' });
  const entry: ModelEntry = {
    id: 'sonnet',
    model: bedrock('eu.anthropic.claude-sonnet-4-5-20250929-v1:0'),
  };
  // #endregion
  return entry;
}

/** A deployment of Azure. */
export function atAzure(): ModelEntry {
  // #region azure
  const azure = createAzure({ resourceName: 'my-resource' });
  const entry: ModelEntry = {
    id: 'large',
    model: azure('my-deployment'),
    contextWindow: 400_000,
    price: { input: 1.25, output: 10, cachedInput: 0.125 },
  };
  // #endregion
  return entry;
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
        onChunk({ kind: 'text', delta: `${messages.length} ` });
        return {
          content: `${messages.length} messages`,
          usage: { prompt_tokens: 1_000, completion_tokens: 10 },
        };
      },
    },
  ];
  const agent = defineAgent({ name: 'bird', model: 'down', limits: { costUsd: 0.05 } });
  // #endregion
  return { agent, models };
}
