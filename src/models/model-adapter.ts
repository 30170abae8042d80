/**
 * One call of one model: an AI SDK language model of any provider, or a function.
 *
 * No retries here: they belong to the activity around the call, which sees every failure as it was
 * thrown (see `model-failures.ts`).
 */
import { defined } from '../core/base/defined.ts';
import { priceUsage, withFees, type PricedUsage } from '../core/model/cost.ts';
import type {
  ModelChunk,
  ModelFunction,
  ModelRequest,
  NativeCall,
  Reply,
} from '../core/contract/model.ts';
import type { ModelEnd } from '../core/contract/host-outcome.ts';
import { callsOf } from '../core/contract/turn.ts';
import { noUsage } from '../core/model/usage.ts';
import { withUnreported } from '../core/ask/unreported-usage.ts';
import { readReply } from '../core/model/read-reply.ts';
import { attempt } from '../tools/attempt.ts';
import type { Message } from '../core/base/message.ts';
import { createMediaFetcher, type MediaFetcher } from './fit/fetch-media.ts';
import { fitRequest } from './fit/fit-request.ts';
import { toCallOptions } from './model-call-options.ts';
import { isPlainObject } from '../core/base/json.ts';
import { requestTokens, textTokens } from '../core/ask/context-tokens.ts';
import { estimatedUsage } from '../core/model/estimated-usage.ts';
import { mergeSettings } from '../core/model/call-settings.ts';
import { createThoughtStream, thoughtTags, withThoughts } from '../core/model/thoughts.ts';
import type { LanguageModel } from '../define/model/language-model.ts';
import type { CalledEntry } from '../define/model/model-entry.ts';
import { replyTooLong } from './bodies/reply-bounds.ts';
import { ModelCallError } from './model-failures.ts';
import { modelCollector } from './model-stream.ts';
import { paidSettings } from './paid-settings.ts';
import { createReplySize, isWithin, MAX_REPLY_BYTES } from './reply-size.ts';
import { refusedSample, withoutRefused, type ReducedRequest } from './refused-parts.ts';
import { failedReply, refusedReply } from './reply-end.ts';
import { streamWithUsage } from './usage-in-streams.ts';
import { watchCall, type CallWatch } from './call-deadlines.ts';
import { onWire } from './wire-request.ts';

/** How a call ended that did not throw. */
export type UnfailedEnd = Exclude<ModelEnd, { readonly kind: 'failed' }>;

/** What a call gets besides its request. */
export interface CallIo {
  /** Ends the call; the provider's connection is closed at once. */
  readonly signal: AbortSignal;
  /** Gets the pieces of the reply as they arrive, none after an abort. Must not wait or throw. */
  readonly onChunk: (chunk: ModelChunk) => void;
  /** Called with each call of a reply that streams, and its index from 0, once its arguments are whole. */
  readonly onCall?: (call: NativeCall, index: number) => void;
  /** Whether somebody reads the pieces as they arrive. Default: somebody does. */
  readonly isRead?: () => boolean;
  /** Asks for the reply at once, without a stream; for models of the AI SDK. */
  readonly isWhole?: boolean;
  /** The longest reply that is of use; a longer one fails. Default: the longest that any run keeps. */
  readonly maxReplyBytes?: number;
  /** The hosts from which media by URL may be fetched. Default: any at a public address. */
  readonly mediaHosts?: readonly string[] | undefined;
}

/**
 * How long an aborted model may take to stop, in ms. AI SDK models take milliseconds; a function
 * that ignores its signal must not keep a canceled run waiting.
 */
const abortGraceMs = 2_000;

/**
 * Asks the model of `entry` once.
 *
 * When aborted before the reply is complete, it returns `aborted` with the usage so far, as soon as
 * the model has stopped, at most two seconds later. A failure is thrown unchanged. If the provider
 * has already reported usage, or written something, it becomes the cause of a `ModelCallError`.
 * `classifyModelError` reads both.
 */
export async function callEntry(
  entry: CalledEntry,
  request: ModelRequest,
  io: CallIo,
): Promise<UnfailedEnd> {
  if (io.signal.aborted) return { kind: 'aborted', usage: noUsage, usageKnown: false };
  const watch = watchCall(entry, io.signal);
  const { signal } = watch;
  let writtenTokens = 0;
  const tags = entry.thinkTag === false ? [] : thoughtTags(request);
  const thoughts = createThoughtStream(tags, io.onChunk);
  const onChunk = (chunk: ModelChunk): void => {
    if (signal.aborted) return;
    writtenTokens += textTokens(chunk.delta);
    thoughts.write(chunk);
  };
  const onCall = (call: NativeCall, index: number): void => {
    if (!signal.aborted) io.onCall?.(call, index);
  };
  const fetcher = createMediaFetcher({ signal, hosts: io.mediaHosts });
  const watched = { ...io, watch, onChunk, onCall, fetcher };
  const full = { ...request, settings: mergeSettings(entry.settings, request.settings) ?? {} };
  const begin = (asked: ModelRequest): Call =>
    typeof entry.model === 'function'
      ? callFunction(entry, entry.model, asked, watched)
      : callLanguageModel(entry, entry.model, asked, watched);
  const call = callInSteps(entry, full, { signal, fetcher }, begin);
  const ended = await attempt(() => watch.run(() => call.run()), { signal, graceMs: abortGraceMs });
  watch.close();
  const settled = 'late' in ended ? ended.late : ended;
  const reply = settled?.kind === 'returned' ? (settled.value as Reply) : undefined;
  if (io.signal.aborted) {
    const { usage, known } = reply === undefined ? call.usage() : pricedOf(reply);
    return { kind: 'aborted', usage, usageKnown: known };
  }
  if (reply !== undefined) {
    thoughts.end();
    const told = withFees(withThoughts(reply, tags), entry.hostedPrice);
    return { kind: 'reply', reply: withUnreported(told, request, entry.price) };
  }
  const { usage, known } = call.usage();
  const thrown = settled?.kind === 'threw' ? settled.error : new Error('The model did not stop.');
  const error = watch.expired() ?? thrown;
  if (known) throw new ModelCallError(error, { usage });
  if (writtenTokens === 0) throw error;
  const outputTokens = Math.ceil(writtenTokens);
  const estimated = estimatedUsage(requestTokens(request), outputTokens, entry.price);
  throw new ModelCallError(error, { estimated: { ...estimated, outputTokens } });
}

/**
 * The call of a request, which is made again without what the provider refuses of it: a cap, or an item.
 * A sample that the provider could not use is a reply.
 */
function callInSteps(
  entry: CalledEntry,
  request: ModelRequest,
  { signal, fetcher }: { readonly signal: AbortSignal; readonly fetcher: MediaFetcher },
  begin: (request: ModelRequest) => Call,
): Call {
  const paid = paidSettings(entry, request.settings);
  let asked = { ...request, settings: paid.settings };
  let call = begin(asked);
  const left: ReducedRequest[] = [];
  const run = async (): Promise<Reply> => {
    for (;;) {
      try {
        return withLeftOut(await call.run(), left);
      } catch (error) {
        if (signal.aborted) throw error;
        if (left.length === 0 && paid.isRefusal(error)) {
          call = begin(request);
          const reply = await call.run();
          paid.remember();
          return reply;
        }
        const sample = refusedSample(error, entry.id);
        if (sample !== undefined) return withLeftOut(sample, left);
        const leftOut = left.filter(({ media }) => media.length > 0).length;
        const reduced = withoutRefused(asked, error, {
          messages: call.sent(),
          originalOf: (part) => fetcher.originalOf(part),
          leftOut,
        });
        if (reduced === undefined) throw error;
        left.push(reduced);
        asked = reduced.request;
        call = begin(asked);
      }
    }
  };
  return { run, usage: () => call.usage(), sent: () => call.sent() };
}

/** `reply` with what was left out of its request, so that no later request has it. */
function withLeftOut(reply: Reply, left: readonly ReducedRequest[]): Reply {
  if (left.length === 0) return reply;
  const warnings = left.map(({ warning }) => ({ code: 'item_left_out', message: warning }));
  const media = left.flatMap((one) => one.media);
  const refused = media.length === 0 ? undefined : media;
  const by = reply.by && { ...reply.by, ...defined({ refused }) };
  return { ...reply, ...defined({ by }), warnings: [...(reply.warnings ?? []), ...warnings] };
}

/** What a call in flight is made with. */
interface WatchedIo extends Omit<CallIo, 'signal'> {
  readonly watch: CallWatch;
  readonly fetcher: MediaFetcher;
}

interface Call {
  readonly run: () => Promise<Reply>;
  /** The usage so far. */
  usage(): PricedUsage;
  /** The messages that the provider got. */
  sent(): readonly Message[];
}

function callFunction(
  entry: CalledEntry,
  model: ModelFunction,
  request: ModelRequest,
  io: WatchedIo,
): Call {
  const { signal } = io.watch;
  const size = createReplySize(io.maxReplyBytes);
  let published = false;
  const onChunk = (chunk: ModelChunk): void => {
    try {
      size.text(chunk.delta);
    } catch (error) {
      // Ends a function that goes on for ever without a look at its signal.
      io.watch.giveUp(error as Error);
      throw error;
    }
    published = true;
    io.watch.onPart(true);
    io.onChunk(chunk);
  };
  let reported: unknown;
  const run = async (): Promise<Reply> => {
    try {
      const raw = await model(request, { signal, onChunk });
      // One that is refused costs as much.
      reported = usageIn(raw);
      checkSize(raw, io.maxReplyBytes);
      const reply = readReply(raw, entry);
      if (reply.finishReason === 'content_filter')
        throw refusedReply(reply.finishReason, undefined);
      if (reply.finishReason === 'error') throw failedReply(reply.finishReason, undefined);
      if (!published) publishWhole(reply, io.onChunk);
      return reply;
    } catch (error) {
      // A function that fails or stops may report its usage on the error.
      reported = usageIn(error) ?? reported;
      throw error;
    }
  };
  return { run, usage: () => priceUsage(reported, entry.price), sent: () => request.messages };
}

/** What a reply or an error has as usage, which nobody has checked. */
function usageIn(given: unknown): unknown {
  return (Object(given) as { readonly usage?: unknown }).usage;
}

/** What a function returns is not copied before its size is known. What it has for logs is not read. */
function checkSize(raw: unknown, maxBytes: number = MAX_REPLY_BYTES): void {
  const read = isPlainObject(raw) ? { ...raw, raw: undefined } : raw;
  if (!isWithin(read, maxBytes)) throw replyTooLong(maxBytes);
}

function callLanguageModel(
  entry: CalledEntry,
  model: LanguageModel,
  request: ModelRequest,
  { watch, onChunk, onCall, isRead, isWhole = false, maxReplyBytes, fetcher }: WatchedIo,
): Call {
  const { signal } = watch;
  const wire = onWire(entry, model, request);
  const collector = modelCollector(entry, {
    onChunk,
    onPart: watch.onPart,
    onCall: (call, index) => onCall?.(wire.decodeCall(call), index),
    ...defined({ isRead, maxReplyBytes }),
  });
  const ask = async (fitted: ModelRequest): Promise<Reply> => {
    const options = toCallOptions(entry, model, onWire(entry, model, fitted).request, signal);
    const canStream = request.settings['stream'] !== false && typeof model.doStream === 'function';
    if (!canStream || (isWhole && typeof model.doGenerate === 'function'))
      return collector.generate(model, options);
    try {
      return await streamWithUsage(collector, model, options);
    } catch (error) {
      if (signal.aborted || !cannotStream(error)) throw error;
      return collector.generate(model, options);
    }
  };
  let sent = request.messages;
  const run = async (): Promise<Reply> => {
    const { request: fitted, warnings } = await fitRequest(model, request, fetcher);
    sent = fitted.messages;
    const reply = wire.decode(await ask(fitted));
    if (warnings.length === 0) return reply;
    return { ...reply, warnings: [...warnings, ...(reply.warnings ?? [])] };
  };
  return { run, usage: () => collector.usage(), sent: () => sent };
}

/** A model that cannot stream sends one chunk for each kind. */
function publishWhole(reply: Reply, onChunk: (chunk: ModelChunk) => void): void {
  for (const kind of ['reasoning', 'text'] as const) {
    const delta = reply.parts.flatMap((part) => (part.type === kind ? [part.text] : [])).join('');
    if (delta !== '') onChunk({ kind, delta });
  }
  const args = callsOf(reply).map((call) =>
    typeof call.args === 'string' ? call.args : JSON.stringify(call.args),
  );
  if (args.length > 0) onChunk({ kind: 'tool_args', delta: args.join('') });
}

function pricedOf(reply: Reply): PricedUsage {
  return { usage: reply.usage, known: reply.usageKnown };
}

/**
 * Whether a model refused to stream: the adapter cannot, or OpenAI answered 400 for the parameter
 * `stream` (some models stream only for verified organisations).
 */
function cannotStream(error: unknown): boolean {
  const { name, functionality, statusCode, data } = Object(error) as {
    readonly [key: string]: unknown;
  };
  if (name === 'AI_UnsupportedFunctionalityError') return /stream/i.test(String(functionality));
  const inner = Object(Object(data)['error']) as { readonly param?: unknown };
  return statusCode === 400 && inner.param === 'stream';
}
