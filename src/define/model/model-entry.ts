/** Model entries: AI SDK language models and functions, each with an id. */
import { defined } from '../../core/base/defined.ts';
import type { RunInfo } from '../../core/calls/run-info.ts';
import type { JsonObject } from '../../core/base/json.ts';
import type { HostedPrice, ModelFunction, Price } from '../../core/contract/model.ts';
import type { ModelRate } from '../../core/base/rate.ts';
import type { LanguageModel } from './language-model.ts';

/**
 * How the provider gets the schema of an output; `auto` is the best way that the model supports.
 */
export type StructuredOutput = 'auto' | 'schema' | 'tool' | 'prompt';

/**
 * Whether models are asked to stream: `always`, or `auto`, only while somebody reads the run when
 * the call begins.
 */
export type StreamPolicy = 'always' | 'auto';

/** A model that agents name by `id`. */
export interface ModelEntry {
  /**
   * `openai/gpt-5`, `mine`, …: up to 128 letters, digits and `. _ / : @ + -`. Keys of statistics
   * end with it.
   */
  readonly id: string;
  /**
   * A model of the AI SDK 6 or 7, a function, or the name of a model with its provider, such as
   * `openai/gpt-5-mini`, whose package is loaded from your folder by the first call. Models of the
   * adapter for OpenAI-compatible servers are asked for usage in streams, unless they were made with
   * `includeUsage: false`.
   */
  readonly model: LanguageModel | ModelFunction | string;
  /**
   * Gives the model of one call in place of `model`, such as one with the key of the customer; called on
   * the worker for each attempt. Nothing of it is recorded. Undefined: `model` is called.
   */
  readonly modelFor?: (
    info: RunInfo,
  ) =>
    LanguageModel | ModelFunction | undefined | Promise<LanguageModel | ModelFunction | undefined>;
  /**
   * Maximum number of tokens in a request, from 1. The trigger `context` needs it. Default: as for
   * `price`, where the data have it.
   */
  readonly contextWindow?: number;
  /** Maximum number of tokens in one reply, from 1. Default: the provider's. */
  readonly maxOutputTokens?: number;
  /**
   * What its provider takes, of all workers together: `requestsPerMinute`, `tokensPerMinute`, and
   * `concurrency`, the requests under way at once, such as `{ concurrency: 8 }`. Others wait for
   * their moment. Default: no bound.
   */
  readonly rate?: ModelRate;
  /**
   * USD per million tokens. Default for a model of the AI SDK at its provider's own address: what
   * the package `@pydantic/genai-prices` says when the worker starts. Null: no price. Without one,
   * what calls cost is unknown and counts as 0.
   */
  readonly price?: Price | null;
  /**
   * USD for each call of a tool that the provider runs, such as a search: one number, or one by name
   * of the tool. Default: not known, so that what runs cost is at least what they say.
   */
  readonly hostedPrice?: HostedPrice;
  /** Ids of entries that are tried in this order after a final failure. Default: none. */
  readonly fallbacks?: readonly string[];
  /**
   * For an AI SDK model: its call options (`temperature`, `topP`, `topK`, `presencePenalty`,
   * `frequencyPenalty`, `stopSequences`, `seed`, `maxOutputTokens`, `headers`, `providerOptions`),
   * `reasoning` (`none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max` or `provider-default`)
   * and `stream: false` to turn streaming off. For a function: any JSON, passed on unchanged.
   */
  readonly settings?: JsonObject;
  /**
   * Milliseconds until a request is on its way, more than 0. Node's `fetch` itself gives up after
   * 10,000. Default 10,000; for a function: no deadline.
   */
  readonly connectMs?: number;
  /**
   * Milliseconds until the first token; without streaming, until the whole reply. Default 180,000;
   * for a function: `Infinity`, which means no deadline.
   */
  readonly firstTokenMs?: number;
  /** Milliseconds between two parts of a reply. Default 60,000; for a function: `Infinity`. */
  readonly idleMs?: number;
  /** An agent's own `stream` comes first. Default `always`. */
  readonly stream?: StreamPolicy;
  /** How the provider gets the schema of an output. Default `auto`. */
  readonly structuredOutput?: StructuredOutput;
  /**
   * Whether the provider should enforce the schemas of tools and output. Default: it decides.
   */
  readonly strict?: boolean;
  /**
   * Whether thoughts at the beginning of the text, in `<think>`, `<thinking>` or `<reasoning>`, are
   * reasoning and no part of the reply. A tag that the prompt names is not: it is yours. Default true.
   */
  readonly thinkTag?: boolean;
}

/**
 * A model of an agent: the id of an entry, the name of a model with its provider, an entry, or a
 * model without one.
 */
export type AgentModel = string | ModelEntry | ModelFunction | LanguageModel;

/** An entry for one call, whose model is loaded. */
export interface CalledEntry extends Omit<ModelEntry, 'price'> {
  readonly price?: Price;
  readonly model: LanguageModel | ModelFunction;
  /** All that the budgets of the run still pay of the output. */
  readonly paidTokens?: number;
}

/** `entry` with what the run has decided about the call. */
export function entryFor(
  entry: CalledEntry,
  order: { readonly structuredOutput?: StructuredOutput; readonly maxOutputTokens?: number },
): CalledEntry {
  const { structuredOutput, maxOutputTokens: paidTokens } = order;
  return { ...entry, ...defined({ structuredOutput, paidTokens }) };
}

/** A model as an id or an entry. One without an entry is named after its provider or `owner`. */
export function modelOf(owner: string, model: AgentModel): string | ModelEntry {
  if (typeof model === 'string') return model;
  if (typeof model === 'function') return { id: `${owner}/model`, model };
  if ('specificationVersion' in model) return { id: `${model.provider}/${model.modelId}`, model };
  return model;
}
