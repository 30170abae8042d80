/** Model requests and replies: plain data, whatever the provider. */
import type { Json, JsonObject } from '../base/json.ts';
import type {
  Author,
  Message,
  Part,
  ReasoningPart,
  TextPart,
  WrittenPart,
} from '../base/message.ts';

/** How an agent's model answers. */
export type Mode = 'react' | 'chat' | 'json' | 'text' | 'lisp';

/** How output is requested: by the provider's schema, a forced call of `respond`, or the prompt. */
export type OutputStrategy = 'schema' | 'tool' | 'prompt';

/** A tool as it is declared to the provider. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Json;
}

/** A tool that the provider runs itself. */
export interface HostedTool {
  /** The last part of its id. */
  readonly name: string;
  /** `openai.web_search`, `anthropic.web_search_20250305`, … */
  readonly id: string;
  readonly args: JsonObject;
}

/** USD for each call of a hosted tool: one number, or one by name of the tool. */
export type HostedPrice = number | { readonly [tool: string]: number };

/** Whether the model may or must call a tool, and which one. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string };

/** The settings of a model call that an agent, a start or a model entry may have. */
export interface CallSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly seed?: number;
  /** Tokens that a reply may have, thoughts included. */
  readonly maxOutputTokens?: number;
  readonly stopSequences?: readonly string[];
  /** Without keys: those belong into a model entry, since these are recorded. */
  readonly headers?: { readonly [name: string]: string };
  /** Options that only one provider has, under its name. */
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
  /** How much a model reasons before it answers; `provider-default` is as if it was not set. */
  readonly reasoning?:
    'provider-default' | 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
}

/** One request. A model may ignore all but `messages`: replies are always validated. */
export interface ModelRequest {
  readonly mode: Mode;
  readonly agent: string;
  readonly runId: string;
  readonly iteration: number;
  /** Number of this attempt in its iteration, from 1; retries and fallbacks count. */
  readonly attempt: number;
  /** The system message first. */
  readonly messages: readonly Message[];
  /** The schema of the output, in the form that providers accept. */
  readonly schema?: Json;
  readonly tools?: readonly ModelTool[];
  readonly toolChoice?: ToolChoice;
  /** The tools that the provider runs itself; absent: none. */
  readonly hosted?: readonly HostedTool[];
  /** Those of the agent and the start; a model gets those of its entry as well: temperature, … */
  readonly settings: JsonObject;
  /** How many messages at the start the next request will repeat, for prompt caches. */
  readonly cacheUpTo: number;
  /** Tools of the agent that this request leaves out: a call of one does not run. Absent: none. */
  readonly notOffered?: readonly string[];
  /** What `prepare` of the agent gave. */
  readonly prepared?: Prepared;
}

/** What `prepare` of an agent may say about one request; what is absent stays. */
export interface Prepared {
  /** The one of the agent's models that is asked. It stays that of the run where a fallback is asked. */
  readonly model?: string;
  /** The names of the tools that are offered. */
  readonly tools?: readonly string[];
  readonly toolChoice?: ToolChoice;
  /** They replace those of the agent and the start. */
  readonly settings?: CallSettings;
}

/** The purpose of a model call. */
export type ModelPurpose = 'reply' | 'compaction' | 'judge' | 'tool';

/** Why a model stopped. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error' | 'other';

/** Integers ≥ 0, of one or more calls; input includes cached, output includes reasoning. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  /** The part of the input that was written to the provider's cache; has its own price. */
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  /** Integer micro-dollars: 1 USD is 1,000,000. */
  readonly costMicroUsd: number;
}

/** What nobody reported: of attempts that died with their worker, and of replies without usage. */
export interface EstimatedUsage {
  readonly totalTokens: number;
  /** The part of them that was written; absent: not known, most of it was read. */
  readonly outputTokens?: number;
  /** Integer micro-dollars. */
  readonly costMicroUsd: number;
}

/** What a model function may return instead of plain text; every field is optional. */
export interface ModelReply {
  readonly parts?: readonly Part[];
  readonly content?: string | null;
  readonly reasoning?: string;
  readonly toolCalls?: readonly LooseToolCall[];
  readonly finishReason?: FinishReason;
  /** Usage in any shape that a provider uses; see `readUsage`. */
  readonly usage?: Json;
  readonly model?: string;
  /** Not part of the transcript; for logs of the worker. */
  readonly raw?: Json;
}

/** A native call from a model function; text in `args` or `arguments` is read as JSON. */
export interface LooseToolCall {
  readonly id?: string;
  readonly name: string;
  readonly args?: Json;
  readonly arguments?: Json;
}

/** A native call, its arguments not yet read: it is answered even if they are unreadable. */
export interface NativeCall {
  readonly type: 'call';
  /** The provider's id, or none. */
  readonly id?: string;
  readonly tool: string;
  /** The arguments as the provider returned them: JSON, or text to be read as JSON. */
  readonly args: Json;
  readonly providerData?: Json;
}

/** One item of a reply. */
export type ReplyItem = TextPart | ReasoningPart | NativeCall | WrittenPart;

/** What was left out of a request or of a reply, in words for an operator. */
export interface ReplyWarning {
  readonly code: string;
  readonly message: string;
}

/** A reply: what the model wrote, in the order in which it wrote it. */
export interface Reply {
  readonly parts: readonly ReplyItem[];
  /** Who wrote it; absent for model functions. */
  readonly by?: Author;
  /** What of the request or the reply was left out; absent: nothing. */
  readonly warnings?: readonly ReplyWarning[];
  readonly finishReason: FinishReason;
  /** Why the provider could not use what the model wrote, in its words; absent: it could. */
  readonly unusable?: string;
  readonly usage: TokenUsage;
  /** False when the provider reported no usage, or what cannot be, so that `usage` is all zero. */
  readonly usageKnown: boolean;
  /** What of the report of usage cannot be: its field and value. */
  readonly usageProblem?: string;
  /** How often the provider ran hosted tools whose calls are no items, by name; absent: not at all. */
  readonly ran?: { readonly [tool: string]: number };
  /** How many calls of hosted tools are in no price; absent: none. */
  readonly unpricedCalls?: number;
  /** What the call used, by estimate: set when `usageKnown` is false. */
  readonly unreported?: EstimatedUsage;
  /** Id of the model entry that answered. */
  readonly model: string;
  /** Tools that its request left out: a call of one does not run. Absent: none. */
  readonly notOffered?: readonly string[];
  /** What `prepare` of the agent said about its request. */
  readonly prepared?: Prepared;
  /** The calls are numbered after so many, which ran beside replies that were thrown away. */
  readonly callsBefore?: number;
}

/** Text, reasoning or arguments as they stream in; provisional until the reply is recorded. */
export interface ModelChunk {
  readonly kind: 'text' | 'reasoning' | 'tool_args';
  readonly delta: string;
}

/** What a model function gets with its request. */
export interface ModelIo {
  /** Aborted when the run is canceled or interrupted: pass it on to `fetch` or to a client. */
  readonly signal: AbortSignal;
  /** Publishes a chunk of the reply; never waits. */
  readonly onChunk: (chunk: ModelChunk) => void;
}

declare global {
  /** The platform's type, where there is one: it merges with this, which adds nothing to it. */
  interface AbortSignal {
    readonly aborted: boolean;
  }
}

/** A user's model: takes a request, returns a reply or plain text. */
export type ModelFunction = (request: ModelRequest, io: ModelIo) => Promise<ModelReply | string>;

/** USD per million tokens, which is micro-dollars per token. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Default: `input`. */
  readonly cachedInput?: number;
  /** Default: `input`. */
  readonly cacheWrite?: number;
  /** Prices of requests with more input, the smallest first. Default: all have the same price. */
  readonly tiers?: readonly PriceTier[];
}

/** The price of a whole request that has more tokens of input than `above`. */
export interface PriceTier extends Omit<Price, 'tiers'> {
  readonly above: number;
}
