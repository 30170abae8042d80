/** The models that a worker knows: AI SDK language models and functions, each under an id. */
import type { LanguageModelV3 } from '@ai-sdk/provider';
import type { JsonObject } from '../../core/base/json.ts';
import type { ModelFunction, Price } from '../../core/contract/model.ts';

/** How a schema of the output reaches the provider; `auto` takes the best that the model supports. */
export type StructuredOutput = 'auto' | 'schema' | 'tool' | 'prompt';

/** A model that agents name by `id`. */
export interface ModelEntry {
  /** `openai/gpt-5`, `mine`, …: up to 128 of letters, digits and `. _ / : @ + -`. Keys of statistics. */
  readonly id: string;
  /**
   * The adapter for OpenAI-compatible servers needs `includeUsage: true`, else it does not ask for
   * usage and every streamed call counts nothing.
   */
  readonly model: LanguageModelV3 | ModelFunction;
  /** Tokens that a request may hold, from 1; compaction by share needs it. */
  readonly contextWindow?: number;
  /** Tokens that one reply may hold, from 1. Default: the provider's. */
  readonly maxOutputTokens?: number;
  /** Without a price every call costs 0. */
  readonly price?: Price;
  /** Ids of the entries that are tried in order when this one fails for good. */
  readonly fallbacks?: readonly string[];
  /**
   * For an AI SDK model: its call options (`temperature`, `topP`, `topK`, `presencePenalty`,
   * `frequencyPenalty`, `stopSequences`, `seed`, `maxOutputTokens`, `headers`, `providerOptions`) and
   * `stream: false` for one that should not stream. A function gets any JSON as it is.
   */
  readonly settings?: JsonObject;
  /** Default `auto`. */
  readonly structuredOutput?: StructuredOutput;
  /** Whether the provider should enforce schemas of tools and output; default: as it likes. */
  readonly strict?: boolean;
}

/** A model of an agent: the id of an entry, an entry, or a model that becomes one. */
export type AgentModel = string | ModelEntry | ModelFunction | LanguageModelV3;

/** `entry` as it is asked for one order: a run keeps to the way in which it asks for its output. */
export function entryFor(
  entry: ModelEntry,
  { structuredOutput }: { readonly structuredOutput?: StructuredOutput },
): ModelEntry {
  return structuredOutput === undefined ? entry : { ...entry, structuredOutput };
}

/** Whether `id` can be the id of an entry: a key of statistics ends with it. */
export function isModelId(id: unknown): id is string {
  return typeof id === 'string' && /^[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,127}$/.test(id);
}

/** A model of `owner` as an id or an entry: one without an entry is named after its provider or owner. */
export function modelOf(owner: string, model: AgentModel): string | ModelEntry {
  if (typeof model === 'string') return model;
  if (typeof model === 'function') return { id: `${owner}/model`, model };
  if ('specificationVersion' in model) return { id: `${model.provider}/${model.modelId}`, model };
  return model;
}
