/**
 * Collects what an AI SDK model streams into a reply, and publishes the pieces as they come.
 *
 * I1  The usage so far can be read at any time, so that an aborted or broken call is charged.
 * I2  A reply exists only if the provider said why it stopped, or that the stream is complete; all else
 *     is a broken stream.
 * I3  A call of a reply that was cut has no arguments unless some came.
 */
import type { ReadableStream } from 'node:stream/web';
import { defined } from '../core/base/defined.ts';
import type { SharedV4ProviderMetadata } from '@ai-sdk-7/provider';
import { type Json, type JsonObject, utf8Length } from '../core/base/json.ts';
import { priceUsage, type PricedUsage } from '../core/model/cost.ts';
import type { ModelChunk, NativeCall, Reply } from '../core/contract/model.ts';
import { withBoundedReplies } from './bodies/bounded-replies.ts';
import { createEarlyText } from './deltas/early-text.ts';
import { joiningModel } from './deltas/joining-model.ts';
import { brokenStream } from './model-failures.ts';
import type { LanguageModel } from '../define/model/language-model.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';
import { createReplySize, type ReplySize } from './reply-size.ts';
import { withUsageIn } from './raw-usage.ts';
import {
  failedReply,
  refusedReply,
  replyEnd,
  withEndIn,
  type EndNotes,
  type StopReason,
} from './reply-end.ts';
import {
  generate,
  openStream,
  type SdkCallOptions,
  type Generated,
  type StreamPart,
} from './specification.ts';

/** A call of an AI SDK model in flight. */
export interface ModelCollector {
  /** Streams one call to its end. Rejects with the model's error, or with a broken stream (I2). */
  stream(model: LanguageModel, options: SdkCallOptions): Promise<Reply>;
  /** One call of a model that cannot stream: one chunk for each kind when it is done. */
  generate(model: LanguageModel, options: SdkCallOptions): Promise<Reply>;
  /** The usage that the provider reported so far (I1). */
  usage(): PricedUsage;
}

type Block = { type: 'text' | 'reasoning'; text: string; metadata: SharedV4ProviderMetadata };
type Finish = Extract<StreamPart, { type: 'finish' }>;
type ToolCallEvent = Extract<StreamPart, { type: 'tool-call' }>;
type BlockPart = Extract<StreamPart, { type: `${Block['type']}-${'start' | 'delta' | 'end'}` }>;

/** What a collector calls while it reads. */
export interface CollectorIo {
  readonly onChunk: (chunk: ModelChunk) => void;
  /** Called with each part of a stream; a token is a part that the model itself wrote. */
  readonly onPart: (isToken: boolean) => void;
  /** Called with each call of the reply, and its index from 0, as soon as its arguments are whole. */
  readonly onCall?: (call: NativeCall, index: number) => void;
  /** Whether somebody reads the pieces; default: somebody does. */
  readonly isRead?: () => boolean;
  /** The longest reply that is of use. */
  readonly maxReplyBytes?: number;
}

/** The part of a reply that has arrived. */
interface PartialReply extends Pick<CollectorIo, 'onPart' | 'onCall'> {
  onChunk: CollectorIo['onChunk'];
  readonly entry: ModelEntry;
  readonly size: ReplySize;
  readonly blocks: Block[];
  /** The blocks that may still grow, by type and id. */
  readonly open: Map<string, Block>;
  readonly calls: NativeCall[];
  /** The calls of which no argument came; the provider may only have begun them. */
  readonly bare: Set<NativeCall>;
  /** Bytes of the arguments that were published piece by piece, by the id of their call. */
  readonly streamedInputs: Map<string, number>;
  /** Usage as the raw chunks reported it. */
  reported: JsonObject;
  /** What the raw chunks say about the end. */
  notes: EndNotes;
  finish: Finish | undefined;
}

/** A collector for one call of `entry`'s model; `onChunk` gets the pieces in order. */
export function modelCollector(entry: ModelEntry, io: CollectorIo): ModelCollector {
  const partial: PartialReply = {
    entry,
    ...io,
    size: createReplySize(io.maxReplyBytes),
    blocks: [],
    open: new Map(),
    calls: [],
    bare: new Set(),
    streamedInputs: new Map(),
    reported: {},
    notes: {},
    finish: undefined,
  };
  return {
    usage: () => usageOf(partial),
    stream: async (model, options) => {
      await readJoined(partial, io, model, options);
      return replyOf(partial, partial.finish?.finishReason ?? NO_REASON);
    },
    generate: async (model, options) => {
      const { content, usage, finishReason } = await withBoundedReplies(model, 'whole', (bounded) =>
        generate(bounded, options),
      );
      for (const part of contentParts(content)) takePart(partial, part);
      partial.finish = { type: 'finish', usage, finishReason };
      return replyOf(partial, finishReason);
    },
  };
}

/** How long pieces may be joined that nobody waits for, because they are published early or unread. */
const UNREAD_HOLD_MS = 250;

/** How long pieces may be joined that a reader waits for. */
const READ_HOLD_MS = 12;

/** Reads a stream whose pieces are joined before the SDK parses them, and published before that. */
async function readJoined(
  partial: PartialReply,
  io: CollectorIo,
  model: LanguageModel,
  options: SdkCallOptions,
): Promise<void> {
  const early = createEarlyText(io.onChunk);
  partial.onChunk = early.confirm;
  // Adapters may turn what is said in JSON from one kind into another.
  const isEarly = options.responseFormat === undefined;
  const joining = {
    onDelta: (chunk: ModelChunk) => {
      io.onPart(true);
      if (isEarly) early.publish(chunk);
    },
    holdMs: (kind: ModelChunk['kind']) =>
      (isEarly && kind !== 'tool_args') || io.isRead?.() === false ? UNREAD_HOLD_MS : READ_HOLD_MS,
  };
  try {
    const stream = await withBoundedReplies(
      model,
      'stream',
      (bounded) => openStream(joiningModel(bounded, joining), options),
      () => {
        partial.notes = { ...partial.notes, isDone: true };
      },
    );
    await readStream(partial, stream);
  } finally {
    early.close();
  }
}

/** Parts that come before the first token of the model. */
const PREAMBLES: ReadonlySet<string> = new Set([
  'stream-start',
  'response-metadata',
  'raw',
  'custom',
  'ping',
]);

async function readStream(
  partial: PartialReply,
  stream: ReadableStream<StreamPart>,
): Promise<void> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const next = await reader.read();
      if (next.done) break;
      partial.onPart(!PREAMBLES.has(next.value.type));
      takePart(partial, next.value);
    }
  } catch (error) {
    // Closes the connection, since the rest of the reply is not needed; its errors do not matter.
    await reader.cancel().catch(() => undefined);
    // A connection that breaks after the finish has lost nothing.
    if (partial.finish === undefined) throw error;
  }
}

function takePart(partial: PartialReply, part: StreamPart): void {
  const { onChunk, streamedInputs, size } = partial;
  switch (part.type) {
    case 'text-start':
    case 'text-delta':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
      takeBlockPart(partial, part);
      return;
    case 'tool-input-start':
      // An adapter may give the call itself only at the end.
      size.item(part.id);
      return;
    case 'tool-input-delta':
      size.text(part.delta);
      streamedInputs.set(part.id, (streamedInputs.get(part.id) ?? 0) + utf8Length(part.delta));
      onChunk({ kind: 'tool_args', delta: part.delta });
      return;
    case 'tool-call':
      // The provider runs these tools itself.
      if (part.providerExecuted === true) return;
      takeCall(partial, part);
      return;
    case 'raw':
      partial.reported = withUsageIn(part.rawValue, partial.reported);
      partial.notes = withEndIn(part.rawValue, partial.notes, hasContent(partial));
      return;
    case 'finish':
      partial.finish = part;
      return;
    case 'error':
      if (!saysUnfinished(part.error)) throw part.error;
      return;
    case 'stream-start':
    case 'response-metadata':
    case 'tool-input-end':
    case 'tool-result':
    case 'tool-approval-request':
    case 'file':
    case 'reasoning-file':
    case 'source':
    case 'custom':
    case 'ping':
      // A reply has no place for these.
      return;
    default:
      // So it is with parts that a later release of a provider adds.
      part satisfies never;
  }
}

function takeCall(partial: PartialReply, part: ToolCallEvent): void {
  const { onChunk, calls, streamedInputs, size } = partial;
  const { toolCallId: id, toolName, input, providerMetadata } = part;
  const streamed = streamedInputs.get(id);
  size.item(toolName);
  size.data(providerMetadata as Json | undefined);
  // What came piece by piece is counted; another call may have the same id.
  size.text(input.slice(streamed ?? 0));
  streamedInputs.set(id, 0);
  const call = toNativeCall(part);
  calls.push(call);
  if (streamed === undefined && input !== '') onChunk({ kind: 'tool_args', delta: input });
  // Adapters write `{}` where a provider has written nothing, perhaps because it was cut there.
  const isBare = /^\s*(?:\{\s*\})?\s*$/.test(input) && (streamed ?? 0) === 0;
  if (isBare) partial.bare.add(call);
  else partial.onCall?.(call, calls.length - 1);
}

/** Starts, grows or ends a block. A delta without a start begins a block of its own. */
function takeBlockPart(partial: PartialReply, part: BlockPart): void {
  const { blocks, open, onChunk, size } = partial;
  const type = part.type.startsWith('text') ? 'text' : 'reasoning';
  const key = `${type} ${part.id}`;
  let block = part.type.endsWith('start') ? undefined : open.get(key);
  if (block === undefined && !part.type.endsWith('end')) {
    size.item(part.id);
    block = { type, text: '', metadata: {} };
    blocks.push(block);
    open.set(key, block);
  }
  // The signature of a thought may come with its end.
  if (block !== undefined) merge(block, part.providerMetadata, size);
  if (part.type.endsWith('end')) open.delete(key);
  if (block === undefined || !('delta' in part)) return;
  size.text(part.delta);
  block.text += part.delta;
  if (part.delta !== '') onChunk({ kind: type, delta: part.delta });
}

function usageOf({ entry, finish, reported }: PartialReply): PricedUsage {
  const final = priceUsage(finish?.usage, entry.price);
  const raw = priceUsage(reported, entry.price);
  return final.known || (final.problem !== undefined && !raw.known) ? final : raw;
}

/** The reason of a stream that gave none. */
const NO_REASON: StopReason = { unified: 'other' };

function hasContent({ blocks, calls }: PartialReply): boolean {
  return blocks.length > 0 || calls.length > 0;
}

/** The reply, if its end makes it one. */
function replyOf(partial: PartialReply, reason: StopReason): Reply {
  const finishReason = finishReasonOf(partial, reason);
  const { usage, known, problem: usageProblem } = usageOf(partial);
  const wasCut = finishReason === 'length';
  return {
    parts: partial.blocks.flatMap(toReplyParts),
    calls: partial.calls.map((call) =>
      wasCut && partial.bare.has(call) ? { ...call, args: '' } : call,
    ),
    finishReason,
    ...defined({ unusable: unusableIn(partial, reason) }),
    usage,
    usageKnown: known,
    ...defined({ usageProblem }),
    model: partial.entry.id,
  };
}

/** The pieces of a reply that came at once, each as one delta of a stream. */
function contentParts(list: Generated['content']): readonly StreamPart[] {
  return list.map((content, index): StreamPart => {
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

/** Why the provider could not use the sample; the next one may be better. */
function unusableIn({ notes }: PartialReply, reason: StopReason): string | undefined {
  return replyEnd(reason).kind === 'unusable' ? (notes.words ?? reason.raw) : undefined;
}

function finishReasonOf(partial: PartialReply, reason: StopReason): Reply['finishReason'] {
  const { error, words, refusal, isDone } = partial.notes;
  const end = replyEnd(reason);
  if (refusal !== undefined) throw refusedReply(undefined, refusal);
  switch (end.kind) {
    case 'ended':
      return end.finishReason;
    case 'refused':
      throw refusedReply(reason.raw, words);
    case 'failed':
      throw error ?? failedReply(reason.raw, words);
    case 'unusable':
      return 'error';
    case 'unfinished':
      if (error !== undefined) throw error;
      if (!hasContent(partial)) throw brokenStream('empty_stream');
      if (isDone !== true) throw brokenStream('broken_stream');
      return partial.calls.length > 0 ? 'tool_calls' : 'stop';
  }
}

/**
 * The adapter for OpenAI-compatible servers reports a missing finish reason as an error of its own.
 */
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
    // Kept as text. It is parsed later, where problems can be reported to the model. No text means
    // no arguments, if the reply was not cut.
    args: part.input.trim() === '' ? {} : part.input,
    ...defined({ providerData: part.providerMetadata as JsonObject | undefined }),
  };
}

/** Metadata may come in pieces; a later piece adds to or replaces the fields of its provider. */
function merge(
  block: Block,
  metadata: SharedV4ProviderMetadata | undefined,
  size: ReplySize,
): void {
  if (metadata === undefined) return;
  const merged = { ...block.metadata };
  for (const [provider, data] of Object.entries(metadata)) {
    const before = merged[provider];
    for (const [name, value] of Object.entries(data)) {
      size.data(value as Json | undefined, before?.[name] as Json | undefined);
    }
    merged[provider] = { ...before, ...data };
  }
  block.metadata = merged;
}
