/**
 * Collects what an AI SDK model streams into a reply, and publishes the pieces as they come.
 *
 * Invariants:
 * - I1: what was counted so far can be read at any time, so that an aborted or broken call is charged.
 * - I2: a reply exists only if the provider said why it stopped; all else is a broken stream.
 */
import { defined } from '../core/base/defined.ts';
import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FinishReason,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
  SharedV3ProviderMetadata,
} from '@ai-sdk/provider';
import type { Json, JsonObject } from '../core/base/json.ts';
import { isPlainObject } from '../core/base/json.ts';
import { priceUsage, type PricedUsage } from '../core/model/cost.ts';
import type { FinishReason, ModelChunk, NativeCall, Reply } from '../core/contract/model.ts';
import { unreachable } from '../core/base/unreachable.ts';
import { brokenStream } from './model-failures.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';

/** A call of an AI SDK model in flight. */
export interface ModelCollector {
  /** Streams one call to its end. Rejects with what the model throws, or with a broken stream (I2). */
  stream(model: LanguageModelV3, options: LanguageModelV3CallOptions): Promise<Reply>;
  /** One call of a model that cannot stream: a chunk per kind when it is done. */
  generate(model: LanguageModelV3, options: LanguageModelV3CallOptions): Promise<Reply>;
  /** What the provider counted so far (I1). */
  usage(): PricedUsage;
}

type Block = { type: 'text' | 'reasoning'; text: string; metadata: SharedV3ProviderMetadata };
type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;
type ToolCallEvent = Extract<LanguageModelV3StreamPart, { type: 'tool-call' }>;

/** A collector for one call of `entry`'s model; `onChunk` gets the pieces in order. */
export function modelCollector(
  entry: ModelEntry,
  onChunk: (chunk: ModelChunk) => void,
): ModelCollector {
  const blocks: Block[] = [];
  const calls: NativeCall[] = [];
  const open = new Map<string, Block>();
  const streamedInputs = new Set<string>();
  let reported: JsonObject = {};
  let finish: Finish | undefined;

  const start = (id: string, type: Block['type'], metadata?: SharedV3ProviderMetadata): Block => {
    const block: Block = { type, text: '', metadata: { ...metadata } };
    blocks.push(block);
    open.set(`${type} ${id}`, block);
    return block;
  };
  const grow = (
    id: string,
    type: Block['type'],
    delta: string,
    metadata?: SharedV3ProviderMetadata,
  ): void => {
    const block = open.get(`${type} ${id}`) ?? start(id, type);
    block.text += delta;
    merge(block, metadata);
    if (delta !== '') onChunk({ kind: type, delta });
  };
  const end = (id: string, type: Block['type'], metadata?: SharedV3ProviderMetadata): void => {
    const block = open.get(`${type} ${id}`);
    // The signature of a thought may come with its end.
    if (block !== undefined) merge(block, metadata);
    open.delete(`${type} ${id}`);
  };

  const take = (part: LanguageModelV3StreamPart): void => {
    switch (part.type) {
      case 'text-start':
        start(part.id, 'text', part.providerMetadata);
        return;
      case 'text-delta':
        grow(part.id, 'text', part.delta, part.providerMetadata);
        return;
      case 'text-end':
        end(part.id, 'text', part.providerMetadata);
        return;
      case 'reasoning-start':
        start(part.id, 'reasoning', part.providerMetadata);
        return;
      case 'reasoning-delta':
        grow(part.id, 'reasoning', part.delta, part.providerMetadata);
        return;
      case 'reasoning-end':
        end(part.id, 'reasoning', part.providerMetadata);
        return;
      case 'tool-input-delta':
        streamedInputs.add(part.id);
        onChunk({ kind: 'tool_args', delta: part.delta });
        return;
      case 'tool-call':
        // Tools that the provider runs by itself are no calls of ours.
        if (part.providerExecuted === true) return;
        calls.push(toNativeCall(part));
        if (!streamedInputs.has(part.toolCallId) && part.input !== '') {
          onChunk({ kind: 'tool_args', delta: part.input });
        }
        return;
      case 'raw':
        reported = { ...reported, ...usageInChunk(part.rawValue) };
        return;
      case 'finish':
        finish = part;
        return;
      case 'error':
        if (!saysUnfinished(part.error)) throw part.error;
        return;
      case 'stream-start':
      case 'response-metadata':
      case 'tool-input-start':
      case 'tool-input-end':
      case 'tool-result':
      case 'tool-approval-request':
      case 'file':
      case 'source':
        // Nothing that a reply holds.
        return;
      default:
        return unreachable(part);
    }
  };

  const usage = (): PricedUsage => {
    const final = priceUsage(finish?.usage, entry.price);
    return final.known ? final : priceUsage(reported, entry.price);
  };

  const reply = (reason: LanguageModelV3FinishReason): Reply => {
    const priced = usage();
    return {
      parts: blocks.flatMap(toReplyParts),
      calls,
      finishReason: finishReasons[reason.unified] ?? 'other',
      usage: priced.usage,
      usageKnown: priced.known,
      model: entry.id,
    };
  };

  return {
    usage,

    async stream(model, options) {
      const { stream } = await model.doStream(options);
      const reader = stream.getReader();
      try {
        for (;;) {
          const next = await reader.read();
          if (next.done) break;
          take(next.value);
        }
      } catch (error) {
        // Closes the connection: the rest of the reply is of no use. What closing says is no news.
        await reader.cancel().catch(() => undefined);
        // A connection that breaks behind the last word breaks nothing.
        if (finish === undefined) throw error;
      }
      const isEmpty = blocks.length === 0 && calls.length === 0;
      if (finish === undefined || isUnfinished(finish.finishReason)) {
        throw brokenStream(isEmpty ? 'empty_stream' : 'broken_stream');
      }
      return reply(finish.finishReason);
    },

    async generate(model, options) {
      const result = await model.doGenerate(options);
      for (const part of contentParts(result)) take(part);
      finish = { type: 'finish', usage: result.usage, finishReason: result.finishReason };
      return reply(result.finishReason);
    },
  };
}

/** The pieces of a reply that came at once, as they would have streamed: each in one delta. */
function contentParts(result: LanguageModelV3GenerateResult): LanguageModelV3StreamPart[] {
  return result.content.map((content, index): LanguageModelV3StreamPart => {
    const id = `${index}`;
    const metadata = defined({ providerMetadata: content.providerMetadata });
    switch (content.type) {
      case 'text':
        return { type: 'text-delta', id, delta: content.text, ...metadata };
      case 'reasoning':
        return { type: 'reasoning-delta', id, delta: content.text, ...metadata };
      default:
        return content;
    }
  });
}

const finishReasons: { readonly [unified: string]: FinishReason } = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  error: 'error',
  other: 'other',
};

/** Whether the provider never said why it stopped; adapters then say `other` or `error` themselves. */
function isUnfinished(reason: LanguageModelV3FinishReason): boolean {
  return reason.raw === undefined && (reason.unified === 'other' || reason.unified === 'error');
}

/** The adapter for OpenAI-compatible servers reports a missing finish reason as an error of its own. */
function saysUnfinished(error: unknown): boolean {
  const { name, data } = Object(error) as { readonly name?: unknown; readonly data?: unknown };
  return name === 'AI_InvalidResponseDataError' && data === undefined;
}

function toReplyParts(block: Block): Reply['parts'] {
  if (block.type === 'text') return block.text === '' ? [] : [{ type: 'text', text: block.text }];
  const hasData = Object.keys(block.metadata).length > 0;
  if (block.text === '' && !hasData) return [];
  const providerData = hasData ? (block.metadata as Json) : undefined;
  return [defined({ type: 'reasoning', text: block.text, providerData })];
}

function toNativeCall(part: ToolCallEvent): NativeCall {
  return {
    id: part.toolCallId,
    tool: part.toolName,
    // Text, read as JSON where its problems can be told to the model; no text is no arguments.
    args: part.input.trim() === '' ? {} : part.input,
    ...defined({ providerData: part.providerMetadata as JsonObject | undefined }),
  };
}

/** Metadata may come in pieces: a later one adds to, or replaces, what its provider said before. */
function merge(block: Block, metadata: SharedV3ProviderMetadata | undefined): void {
  if (metadata === undefined) return;
  const merged = { ...block.metadata };
  for (const [provider, data] of Object.entries(metadata)) {
    merged[provider] = { ...merged[provider], ...data };
  }
  block.metadata = merged;
}

/**
 * What one raw chunk says of usage: `usage` (OpenAI, Anthropic's `message_delta`), `message.usage`
 * (Anthropic's `message_start`), `response.usage` (OpenAI's responses), `usageMetadata` (Google).
 * All of them are totals so far, so later ones replace earlier ones field by field.
 */
function usageInChunk(chunk: unknown): JsonObject {
  if (!isPlainObject(chunk)) return {};
  const inner = (key: string): unknown => {
    const value = chunk[key];
    return isPlainObject(value) ? value['usage'] : undefined;
  };
  const found = [inner('message'), inner('response'), chunk['usageMetadata'], chunk['usage']];
  const fields = found.flatMap((usage) => (isPlainObject(usage) ? Object.entries(usage) : []));
  return Object.fromEntries(fields.filter(([, value]) => value !== null)) as JsonObject;
}
