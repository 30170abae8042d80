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
import { type JsonObject, utf8Length } from '../core/base/json.ts';
import type { Author, WrittenPart } from '../core/base/message.ts';
import { priceUsage, type PricedUsage } from '../core/model/cost.ts';
import type {
  ModelChunk,
  NativeCall,
  Reply,
  ReplyItem,
  ReplyWarning,
} from '../core/contract/model.ts';
import { withBoundedReplies } from './bodies/bounded-replies.ts';
import { createEarlyText } from './deltas/early-text.ts';
import { joiningModel } from './deltas/joining-model.ts';
import { brokenStream } from './model-failures.ts';
import type { LanguageModel } from '../define/model/language-model.ts';
import { takeExtraContent, withExtraContent, type ExtraContent } from './extra-content.ts';
import {
  contentParts,
  mergeMetadata,
  searchesIn,
  toHostedCall,
  toNativeCall,
  toReplyParts,
  toWrittenPart,
  writtenBytes,
  type OpenBlock,
  type ToolCallEvent,
  type WholePart,
} from './reply-items.ts';
import type { CalledEntry } from '../define/model/model-entry.ts';
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
import { generate, openStream, type SdkCallOptions, type StreamPart } from './specification.ts';

/** A call of an AI SDK model in flight. */
export interface ModelCollector {
  /** Streams one call to its end. Rejects with the model's error, or with a broken stream (I2). */
  stream(model: LanguageModel, options: SdkCallOptions): Promise<Reply>;
  /** One call of a model that cannot stream: one chunk for each kind when it is done. */
  generate(model: LanguageModel, options: SdkCallOptions): Promise<Reply>;
  /** The usage that the provider reported so far (I1). */
  usage(): PricedUsage;
}

type Finish = Extract<StreamPart, { type: 'finish' }>;
type BlockPart = Extract<StreamPart, { type: `${OpenBlock['type']}-${'start' | 'delta' | 'end'}` }>;

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
  readonly entry: CalledEntry;
  readonly size: ReplySize;
  /** What has come, in the order in which it began. */
  readonly items: (OpenBlock | Exclude<ReplyItem, { readonly text: string }>)[];
  /** The blocks that may still grow, by type and id. */
  readonly open: Map<string, OpenBlock>;
  /** How many calls of our tools have come. */
  calls: number;
  readonly extra: ExtraContent;
  readonly warnings: ReplyWarning[];
  /** The calls of which no argument came; the provider may only have begun them. */
  readonly bare: Set<NativeCall>;
  /** Bytes of the arguments that were published piece by piece, by the id of their call. */
  readonly streamedInputs: Map<string, number>;
  /** Usage as the raw chunks reported it. */
  reported: JsonObject;
  /** What the raw chunks say about the end. */
  notes: EndNotes;
  finish: Finish | undefined;
  /** The id of a call that its provider runs once a person has approved it. */
  waitsFor?: string;
}

/** A collector for one call of `entry`'s model; `onChunk` gets the pieces in order. */
export function modelCollector(entry: CalledEntry, io: CollectorIo): ModelCollector {
  const partial: PartialReply = {
    entry,
    ...io,
    size: createReplySize(io.maxReplyBytes),
    items: [],
    open: new Map(),
    calls: 0,
    extra: new Map(),
    warnings: [],
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
      return replyOf(partial, model, partial.finish?.finishReason ?? NO_REASON);
    },
    generate: async (model, options) => {
      const { content, usage, finishReason, providerMetadata, response } = await withBoundedReplies(
        model,
        'whole',
        (bounded) => generate(bounded, options),
      );
      takeExtraContent(partial.extra, response?.body);
      for (const part of contentParts(content)) takePart(partial, part);
      partial.finish = { type: 'finish', usage, finishReason, ...defined({ providerMetadata }) };
      return replyOf(partial, model, finishReason);
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
      if (part.providerExecuted === true) takeWritten(partial, toHostedCall(part));
      else takeCall(partial, part);
      return;
    case 'tool-result':
    case 'file':
    case 'reasoning-file':
    case 'source':
    case 'custom':
      takeWhole(partial, part);
      return;
    case 'raw':
      takeExtraContent(partial.extra, part.rawValue);
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
    case 'ping':
      return;
    case 'tool-approval-request':
      partial.waitsFor = part.toolCallId;
      return;
    default:
      // A later release of a provider may add parts.
      part satisfies never;
      leaveOut(partial, `an item of type ${String((part as { type?: unknown }).type)}`);
  }
}

function leaveOut({ warnings, entry }: PartialReply, what: string): void {
  const message = `The reply of model \`${entry.id}\` had ${what}, which a reply has no place for. It was left out.`;
  if (!warnings.some((known) => known.message === message)) {
    warnings.push({ code: 'item_left_out', message });
  }
}

function takeWritten({ items, size }: PartialReply, item: WrittenPart): void {
  size.item(item.type);
  size.bytes(writtenBytes(item));
  size.data(item.providerData);
  items.push(item);
}

function takeWhole(partial: PartialReply, part: WholePart): void {
  // A result that is not final is followed by another.
  if (part.type === 'tool-result' && part.preliminary === true) return;
  // Tells of usage before the message, of which it is no part.
  if (part.type === 'custom' && part.kind === 'anthropic.message_start') return;
  const item = toWrittenPart(part);
  // A file that would leave no room for the rest of the reply is left out, and the rest kept.
  const isFile = item.type === 'file' || item.type === 'reasoning_file';
  if (!isFile || partial.size.has(2 * writtenBytes(item))) takeWritten(partial, item);
  else leaveOut(partial, `a file of type ${item.mediaType} that is too large`);
}

function takeCall(partial: PartialReply, given: ToolCallEvent): void {
  const { onChunk, items, streamedInputs, size, extra } = partial;
  const { toolCallId: id, toolName, input } = given;
  const providerMetadata = withExtraContent(extra, id, given.providerMetadata as JsonObject);
  const part = { ...given, ...defined({ providerMetadata }) } as ToolCallEvent;
  const streamed = streamedInputs.get(id);
  size.item(toolName);
  size.data(providerMetadata);
  // What came piece by piece is counted; another call may have the same id.
  size.text(input.slice(streamed ?? 0));
  streamedInputs.set(id, 0);
  const call = toNativeCall(part);
  items.push(call);
  if (streamed === undefined && input !== '') onChunk({ kind: 'tool_args', delta: input });
  // Adapters write `{}` where a provider has written nothing, perhaps because it was cut there.
  const isBare = /^\s*(?:\{\s*\})?\s*$/.test(input) && (streamed ?? 0) === 0;
  if (isBare) partial.bare.add(call);
  else partial.onCall?.(call, partial.calls);
  partial.calls += 1;
}

/** Starts, grows or ends a block. A delta without a start begins a block of its own. */
function takeBlockPart(partial: PartialReply, part: BlockPart): void {
  const { items, open, onChunk, size } = partial;
  const type = part.type.startsWith('text') ? 'text' : 'reasoning';
  const key = `${type} ${part.id}`;
  let block = part.type.endsWith('start') ? undefined : open.get(key);
  if (block === undefined && !part.type.endsWith('end')) {
    size.item(part.id);
    block = { type, text: '', metadata: {} };
    items.push(block);
    open.set(key, block);
  }
  // The signature of a thought may come with its end.
  if (block !== undefined) mergeMetadata(block, part.providerMetadata, size);
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

/** The reply, if its end makes it one. */
function replyOf(
  partial: PartialReply,
  { provider, modelId }: LanguageModel,
  reason: StopReason,
): Reply {
  const { items, warnings, bare } = partial;
  const finishReason = finishReasonOf(partial, reason);
  const { usage, known, problem: usageProblem } = usageOf(partial);
  const wasCut = finishReason === 'length';
  const by: Author = { provider, model: modelId };
  return {
    parts: items.flatMap((item) => {
      if ('metadata' in item) return toReplyParts(item);
      return [wasCut && item.type === 'call' && bare.has(item) ? { ...item, args: '' } : item];
    }),
    by,
    ...defined({ warnings: warnings.length === 0 ? undefined : warnings }),
    finishReason,
    ...defined({ unusable: unusableIn(partial, reason) }),
    usage,
    usageKnown: known,
    ...defined({ usageProblem, ran: searchesIn(partial.finish?.providerMetadata) }),
    model: partial.entry.id,
  };
}

function hasContent({ items }: PartialReply): boolean {
  return items.length > 0;
}

/**
 * Why the sample is of no use; the next one may be better. A provider that waits for an approval goes on
 * only by state that it keeps, so its call is refused in words.
 */
function unusableIn(
  { notes, waitsFor, items }: PartialReply,
  reason: StopReason,
): string | undefined {
  if (waitsFor !== undefined) {
    const call = items.find((item) => item.type === 'hosted_call' && item.id === waitsFor);
    const tool = call?.type === 'hosted_call' ? call.tool : 'a tool';
    return `a call of ${tool} waits for an approval by its provider, and nobody is asked for one there. Go on without this call`;
  }
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
      return partial.calls > 0 ? 'tool_calls' : 'stop';
  }
}

/**
 * The adapter for OpenAI-compatible servers reports a missing finish reason as an error of its own.
 */
function saysUnfinished(error: unknown): boolean {
  const { name, data } = Object(error) as { readonly name?: unknown; readonly data?: unknown };
  return name === 'AI_InvalidResponseDataError' && data === undefined;
}
