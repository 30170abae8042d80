/**
 * The model activity: transcript → request → stream → reply with usage. An aborted call returns its
 * usage; a failed one throws a typed failure with the usage of all its attempts.
 */
import { type RunInfo, infoOf } from '../core/calls/run-info.ts';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import { errorText } from '../core/base/error-text.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { TranscriptView } from '../core/contract/transcript.ts';
import { missingPart } from '../core/extension/own-parts.ts';
import { modeOf } from '../core/modes/modes.ts';
import { byteSize, type Json, type JsonObject } from '../core/base/json.ts';
import { addEstimates } from '../core/model/estimated-usage.ts';
import type { EstimatedUsage, ModelRequest, TokenUsage } from '../core/contract/model.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import { callsOf } from '../core/contract/turn.ts';
import { noUsage } from '../core/model/usage.ts';
import { openChunkStream, type ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import type { ModelActivityResult } from './activity-types.ts';
import type { Registry } from '../define/definition/definitions.ts';
import {
  agentNotHere,
  notHere,
  PERMIT_ENDED,
  toModelFailure,
  transcriptUnavailable,
  workerShutdown,
  workerShutdownWithCost,
} from './failures.ts';
import { awaitRate, type PacedRequest, type PaceParts } from './await-rate.ts';
import type { GivenUpCalls } from './given-up-calls.ts';
import { takenOrRun } from './take-over.ts';
import type { HeardCancels } from './heard-cancels.ts';
import { isStoppedByService, queueMs, withHeartbeat, type Beating } from './heartbeat.ts';
import { keepReply, settleKept, type KeptReply } from './kept-reply.ts';
import {
  lostReads,
  readsOfReply,
  withLostReads,
  type ReadsOfReplyParts,
} from './reads-of-reply.ts';
import { openAttempt, usedBy, type AskedAttempt } from './lost-attempts.ts';
import { endsWithAttempt, triesOf, type AttemptNumber } from './tries.ts';
import { NO_WATCH, type AttemptNotes } from '../telemetry/call-observer.ts';
import { callLayeredModel } from '../models/call-layered-model.ts';
import type { CallIo, ModelCallResult } from '../models/model-adapter.ts';
import { entryFor, type CalledEntry } from '../define/model/model-entry.ts';
import { findEntry } from '../define/model/provider-models.ts';
import { classifyModelError, hasCost, type ModelFailure } from '../models/model-failures.ts';
import { keyVariable } from '../models/missing-key.ts';
import { ownModel } from '../models/own-model.ts';
import { requestFor } from '../models/prompt-texts.ts';
import { withModel } from '../models/providers/load-model.ts';
import type { ReadsBeside } from '../tools/reads-beside.ts';
import { quickTools } from '../tools/quick-tools.ts';
import { missingModel } from '../registry/registry.ts';
import {
  OtherTranscriptError,
  type TranscriptKey,
  type TranscriptSource,
} from './transcript-source.ts';

/** What the model activity needs, its replies and what runs beside them. */
export interface CallModelParts extends ReadsOfReplyParts, PaceParts {
  readonly transcripts: TranscriptSource;
  /** The hosts from which media of requests are fetched; default: any. */
  readonly mediaHosts?: readonly string[] | undefined;
  /** Cancels that workflows of this process tell; default: none. */
  readonly cancels?: HeardCancels;
  /** Calls that later attempts take over; default: each attempt asks anew. */
  readonly givenUp?: GivenUpCalls;
}

/** The model activity of a worker. */
export function createCallModel(
  parts: CallModelParts,
): (order: ModelOrder) => Promise<ModelActivityResult> {
  return (order) => {
    const tries = triesOf(order);
    const { attempt: attempts, added } = tries;
    const asked = openAttempt(added.estimated);
    const watch = parts.watch ?? NO_WATCH;
    const attempt = { order, attempt: attempts + tries.losses, queueMs: queueMs() };
    const kept = keepReply(asked.beat);
    const run = ({ signal, beat }: Beating): Promise<ModelActivityResult> =>
      watch.model(attempt, (notes) =>
        attemptOf(parts, order, tries, { ...asked, notes, signal, beat, keep: kept.keep }),
      );
    return withHeartbeat((beating) => takenOrRun(parts.givenUp, order, tries, beating, run), {
      details: { attempts, ...defined({ losses: added.losses }) },
      more: kept.more,
      ...defined({ cancels: parts.cancels }),
      abortId: order.abortId,
    });
  };
}

/** An attempt that is watched. */
type WatchedAttempt = Omit<AskedAttempt, 'beat'> &
  Beating &
  Pick<KeptReply, 'keep'> & { readonly notes: AttemptNotes };

async function attemptOf(
  parts: CallModelParts,
  order: ModelOrder,
  tries: AttemptNumber,
  asked: WatchedAttempt,
): Promise<ModelActivityResult> {
  // Without the agent the request would lack its middleware and what its functions write.
  if (!parts.registry.agents.has(order.agent)) throw agentNotHere(order.agent);
  const entry = entryFor(await entryOf(parts.registry, order), order);
  // An order that has its whole request does not need the transcript.
  const view = order.inline === undefined ? await transcriptOf(parts, order, asked.notes) : null;
  const lacking = view && missingPart(view.head.spec, parts.registry.extensions);
  if (lacking != null) throw notHere({ what: lacking, agent: order.agent }, lacksText(lacking));
  const { added } = tries;
  const beside = readsOfReply(parts, order, { view, signal: asked.signal });
  try {
    const outcome = await callOnce(parts, order, { entry, view, asked, beside });
    // Not canceled by a user: the call is retried, on another worker if this one stops.
    if (outcome.kind === 'aborted') {
      if (outcome.lacksPermit === true) throw stopped(outcome.usage, asked, added, PERMIT_ENDED);
      if (isStoppedByService()) throw stopped(outcome.usage, asked, added);
    }
    checkSize(parts, order, outcome);
    if (outcome.kind === 'aborted') return { ...outcome, ...lostReads(beside), ...added };
    const { estimated = added.estimated } = outcome;
    const shown = {
      ...outcome,
      ...localIn(parts, { order, view }, outcome),
      ...added,
      ...defined({ estimated }),
    };
    beside.complete(outcome.reply);
    return { ...shown, ...(await settleKept(beside, { shown, reply: outcome.reply }, asked)) };
  } catch (error) {
    if (error instanceof ApplicationFailure) throw withLostReads(error, beside);
    const failure = classifyModelError(error);
    const variable = keyVariable(error);
    const keyed = { ...failure, ...defined({ variable }) };
    throw withLostReads(failureOf(order, keyed, failure.usage ?? noUsage), beside);
  }
}

/** An attempt that no user stopped: the call is retried. */
function stopped(
  usage: TokenUsage,
  asked: WatchedAttempt,
  added: AttemptNumber['added'],
  message?: string,
): Error {
  if (hasCost(usage)) {
    return workerShutdownWithCost({ usage: { ...usage }, usageKnown: true, ...added }, message);
  }
  const used = usedBy(asked.used());
  return workerShutdown(used && { estimated: { ...used } }, message);
}

/** The tools of a reply that this worker expects to be quick. */
function localIn(
  { figures }: CallModelParts,
  { order, view }: { readonly order: ModelOrder; readonly view: TranscriptView | null },
  outcome: ModelCallResult,
): { readonly local?: readonly string[] } {
  if (figures === undefined || order.purpose !== 'reply') return {};
  if (outcome.kind !== 'reply' || view === null) return {};
  return defined({ local: quickTools(figures, view.head.spec, outcome.reply) });
}

function lacksText(what: string): string {
  return `This worker has no ${what}. Add it with \`extend\` in the module of \`workflowsPath\`.`;
}

/** A failed call, and the environment variable of a key that is missing. */
interface KeyedFailure extends ModelFailure {
  readonly variable?: string;
}

/**
 * A reply that is too large is not retried, since the next would be as long; a fallback is tried.
 */
function checkSize(
  { hasBlobs = false }: CallModelParts,
  order: ModelOrder,
  outcome: ModelCallResult,
): void {
  if (outcome.kind === 'aborted') return;
  const bytes = byteSize(outcome.reply as unknown as Json);
  const { reply: maxBytes } = sizesOf({ blobs: hasBlobs && order.blobs === true });
  if (bytes <= maxBytes) return;
  const message = `Expected a reply of at most ${maxBytes} bytes, got ${bytes}. Set \`maxOutputTokens\`.`;
  // A worker with a blob store may take it.
  const retryable = order.blobs === true && !hasBlobs;
  throw failureOf(order, { code: 'model_error', retryable, message }, outcome.reply.usage);
}

/**
 * The worker that loaded the agent had its models, so another worker may have them. Models that a
 * custom loop names were never checked, so for these the failure is final.
 */
async function entryOf(registry: Registry, order: ModelOrder): Promise<CalledEntry> {
  const { attempt, added } = triesOf(order);
  const details = { usage: { ...noUsage }, usageKnown: false, ...added };
  const entry = findEntry(registry.models, order.model);
  if (entry !== undefined) {
    try {
      return await withModel(entry, registry.packageFolders);
    } catch (error) {
      const what = `the package of model ${order.model}`;
      throw notHere(
        { ...details, what, agent: order.agent, code: 'model_error' },
        errorText(error),
      );
    }
  }
  const failure = missingModel(registry, order);
  if (order.own?.models === undefined) {
    const what = `model ${order.model}`;
    throw notHere({ ...details, what, agent: order.agent, code: 'model_error' }, failure.message);
  }
  throw toModelFailure(failure, { attempt, details, endsActivity: endsWithAttempt(order) });
}

async function transcriptOf(
  { transcripts }: CallModelParts,
  order: ModelOrder,
  notes: AttemptNotes,
): Promise<TranscriptView> {
  try {
    const onRead = (isCached: boolean): void => notes.transcript(isCached ? 'cache' : 'query');
    return await transcripts.resolve(keyOf(order), order.transcript, onRead);
  } catch (error) {
    notes.transcript('failed');
    // While the run does not answer, the attempt is lost. Another answer would come again for ever.
    if (!(error instanceof OtherTranscriptError)) throw transcriptUnavailable(errorText(error));
    const { retryable, message } = error;
    throw failureOf(order, { code: 'model_error', retryable, message }, noUsage);
  }
}

function keyOf(order: ModelOrder): TranscriptKey {
  const { workflowNamespace, workflowExecution } = Context.current().info;
  return {
    namespace: workflowNamespace ?? '',
    workflowId: workflowExecution?.workflowId ?? '',
    executionId: workflowExecution?.runId ?? '',
    epoch: order.transcript.epoch,
  };
}

/** The result of an attempt, and how long the first piece of its reply took. */
type TimedResult = ModelCallResult & {
  readonly firstTokenMs?: number;
  /** Of an aborted call whose permit ended. */
  readonly lacksPermit?: true;
  /** Of an aborted call that did not stream: nobody reports what it used. */
  readonly estimated?: EstimatedUsage;
};

/** The model to ask, and what for. */
interface AskedModel {
  readonly entry: CalledEntry;
  readonly view: TranscriptView | null;
  readonly asked: WatchedAttempt;
  readonly beside: ReadsBeside;
}

async function callOnce(
  parts: CallModelParts,
  order: ModelOrder,
  { entry: named, view, asked, beside }: AskedModel,
): Promise<TimedResult> {
  const tries = triesOf(order);
  const attempt = order.triesBefore + tries.attempt + tries.losses;
  const run = Context.current().info.workflowExecution?.workflowId ?? '';
  const info = infoOf(order, { run, context: view?.head.context });
  const entry = await ownModel(named, info);
  const request = await requestFor(parts.registry, order, view, { attempt, info });
  const paced = await awaitRate(parts, { order, entry, request, signal: asked.signal });
  try {
    const result = await askPaced(parts, order, {
      entry,
      view,
      asked,
      beside,
      request,
      paced,
      attempt,
      info,
    });
    return result.kind === 'aborted' && paced.lacksPermit()
      ? { ...result, lacksPermit: true }
      : result;
  } finally {
    paced.release();
  }
}

/** A request that may be sent. */
interface PacedModel extends AskedModel {
  readonly request: ModelRequest;
  readonly paced: PacedRequest;
  readonly attempt: number;
  readonly info: RunInfo;
}

async function askPaced(
  { registry, chunks, transcripts, mediaHosts }: CallModelParts,
  order: ModelOrder,
  { entry, view, asked, beside, request, paced, attempt, info }: PacedModel,
): Promise<TimedResult> {
  const { runId, rootRunId = runId, iteration, agentPath, purpose } = order;
  const definition = registry.agents.get(order.agent)?.definition;
  const isRead = (): boolean => isOrderRead(chunks, order);
  const isWhole = (definition?.stream ?? entry.stream) === 'auto' && !isRead();
  // A heartbeat that said otherwise is out of date: a loss would not be charged.
  if (asked.onRequest(entry, request)) asked.beat();
  const { notes } = asked;
  notes.asked(request.messages as unknown as Json);
  const startedAt = performance.now();
  let firstTokenMs: number | undefined;
  const hear = (delta: string): void => {
    firstTokenMs ??= Math.round(performance.now() - startedAt);
    notes.firstChunk();
    asked.onText(delta);
  };
  const timed = (result: ModelCallResult): TimedResult => {
    if (result.kind !== 'reply') return isWhole ? withEstimate(result, asked) : result;
    if (result.reply.usageKnown) paced.ended(result.reply.usage);
    notes.replied(result.reply.parts as unknown as Json);
    return { ...result, ...defined({ firstTokenMs }) };
  };
  const { signal } = paced;
  // A worker without a blob store reads it to its end, since another one may keep it.
  const { reply: maxReplyBytes } = sizesOf(defined({ blobs: order.blobs }));
  const common = { signal, isRead, isWhole, maxReplyBytes, mediaHosts };
  // Summaries see the same conversation, so middleware that hides secrets applies to them as well.
  const around = { layers: definition?.middleware?.model ?? [], info };
  // Only replies stream, and only replies become messages of the transcript.
  if (purpose !== 'reply') {
    const onChunk: CallIo['onChunk'] = ({ delta }) => hear(delta);
    const io = { ...common, onChunk };
    return timed(await callLayeredModel(around, entry, request, io));
  }
  const stream = openChunkStream(chunks, { rootRunId, runId, agentPath, iteration, attempt });
  if (isWhole) stream.notStreamed();
  try {
    const onChunk: CallIo['onChunk'] = (chunk) => {
      hear(chunk.delta);
      stream.write(chunk);
    };
    const io: CallIo = { ...common, onChunk, onCall: beside.offer };
    const outcome = timed(await callLayeredModel(around, entry, request, io));
    stream.end();
    // The workflow gives calls their ids, so the message of a reply with calls is not known here.
    const isKnown =
      order.own === undefined && outcome.kind === 'reply' && callsOf(outcome.reply).length === 0;
    const [message] =
      isKnown && view !== null ? modeOf(view.head.spec).answerMessages(outcome.reply) : [];
    if (message !== undefined) transcripts.remember(keyOf(order), order.transcript, message);
    return outcome;
  } catch (error) {
    stream.fail();
    throw error;
  }
}

/** Only replies stream. */
function isOrderRead(chunks: ChunkPublisher, order: ModelOrder): boolean {
  const { purpose, runId, rootRunId = runId } = order;
  return purpose === 'reply' && (chunks.isRead?.({ runId, rootRunId }) ?? true);
}

/** An aborted call that did not stream: no provider reports what it used. */
function withEstimate(result: TimedResult, asked: Pick<AskedAttempt, 'used'>): TimedResult {
  if (result.kind === 'reply' || result.usageKnown) return result;
  return { ...result, ...defined({ estimated: usedBy(asked.used()) }) };
}

function failureOf(order: ModelOrder, failure: KeyedFailure, usage: TokenUsage): Error {
  const { attempt, added } = triesOf(order);
  const usageKnown = hasCost(usage);
  const estimated = addEstimates(added.estimated, failure.estimated);
  const details: JsonObject = {
    usage: { ...usage },
    usageKnown,
    ...added,
    ...defined({ estimated: estimated && { ...estimated } }),
  };
  // Another worker may have a key that works, and this one may soon.
  if (failure.code === 'model_auth' && !usageKnown) {
    const { code, status, message, variable } = failure;
    const named = variable === undefined ? '' : ` (${variable})`;
    const what = `credentials of model ${order.model}${named}`;
    return notHere(defined({ ...details, what, agent: order.agent, code, status }), message);
  }
  return toModelFailure(failure, {
    attempt,
    endsActivity: usageKnown || estimated !== undefined || endsWithAttempt(order),
    details,
  });
}
