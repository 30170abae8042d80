/** What is asked of a model and what it replies: plain data, whatever the provider. */
import type { Json, JsonObject } from '../base/json.ts';
import type { Message, Part } from '../base/message.ts';

/** How an agent's model answers. */
export type Mode = 'react' | 'chat' | 'json' | 'text' | 'lisp';

/**
 * How the output is asked for: `schema` by the provider's own means, `tool` by a forced call of
 * `respond`, `prompt` by words alone.
 */
export type OutputStrategy = 'schema' | 'tool' | 'prompt';

/** A tool as the provider is told of it. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Json;
}

/** Whether and what the model must call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string };

/** One request. A model may ignore all but `messages`: replies are always validated. */
export interface ModelRequest {
  readonly mode: Mode;
  readonly agent: string;
  readonly runId: string;
  readonly iteration: number;
  /** Tries of this iteration, from 1, over retries and fallbacks. */
  readonly attempt: number;
  /** The system message first. */
  readonly messages: readonly Message[];
  /** The provider's schema of the output. */
  readonly schema?: Json;
  readonly tools?: readonly ModelTool[];
  readonly toolChoice?: ToolChoice;
  /** Those of the model's entry: temperature, provider options, … */
  readonly settings: JsonObject;
  /** How many leading messages stay the same in the next request, for caches of prompts. */
  readonly cacheUpTo: number;
}

/** What a model call is for. */
export type ModelPurpose = 'reply' | 'compaction' | 'judge' | 'tool';

/** Why a model stopped. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error' | 'other';

/** Tokens and money of one or more calls. All integers ≥ 0; input includes cached, output includes reasoning. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  /** Part of the input that was written to the provider's cache; priced apart. */
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** Integer micro-dollars: 1 USD is 1,000,000. */
  readonly costMicroUsd: number;
}

/** What a model function may return instead of plain text; every field may be missing. */
export interface ModelReply {
  readonly parts?: readonly Part[];
  readonly content?: string | null;
  readonly reasoning?: string;
  readonly toolCalls?: readonly LooseToolCall[];
  readonly finishReason?: FinishReason;
  /** In any shape that a provider uses; see `readUsage`. */
  readonly usage?: Json;
  readonly model?: string;
  /** Kept out of the transcript; for logs of the worker. */
  readonly raw?: Json;
}

/** A native call as a model function may give it; text in `args` or `arguments` is read as JSON. */
export interface LooseToolCall {
  readonly id?: string;
  readonly name: string;
  readonly args?: Json;
  readonly arguments?: Json;
}

/** A native call whose arguments could not be read, kept so that it can be answered. */
export interface NativeCall {
  /** The provider's id, or none. */
  readonly id?: string;
  readonly tool: string;
  /** The arguments as the provider gave them: JSON, or text that is still to be read as JSON. */
  readonly args: Json;
  readonly providerData?: Json;
}

/** A reply as the loop sees it: text and reasoning in order, native calls beside them. */
export interface Reply {
  readonly parts: readonly (
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'reasoning'; readonly text: string; readonly providerData?: Json }
  )[];
  readonly calls: readonly NativeCall[];
  readonly finishReason: FinishReason;
  readonly usage: TokenUsage;
  /** False when the provider reported no usage, so that `usage` is all zero. */
  readonly usageKnown: boolean;
  /** Id of the model entry that answered. */
  readonly model: string;
}

/** Text, reasoning or arguments as they stream in; provisional until the reply is recorded. */
export interface ModelChunk {
  readonly kind: 'text' | 'reasoning' | 'tool_args';
  readonly delta: string;
}

/** What a model function gets beside its request. */
export interface ModelIo {
  /** Aborted when the run is canceled or interrupted. */
  readonly signal: AbortSignalLike;
  /** Publishes a piece of the reply; never waits. */
  readonly onChunk: (chunk: ModelChunk) => void;
}

/** The part of an `AbortSignal` that code without the DOM's types may name. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A model of the user's own: a request in, a reply or plain text out. */
export type ModelFunction = (request: ModelRequest, io: ModelIo) => Promise<ModelReply | string>;

/** USD per million tokens, which is micro-dollars per token. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Default: `input`. */
  readonly cachedInput?: number;
  /** Default: `input`. */
  readonly cacheWrite?: number;
}
