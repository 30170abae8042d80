/**
 * The model activity: transcript → request → stream → reply with usage. An aborted call returns its
 * usage; a failed one throws a typed failure with the usage of all its attempts.
 */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import { errorText } from '../core/base/error-text.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { TranscriptView } from '../core/contract/transcript.ts';
import { missingPart } from '../core/extension/own-parts.ts';
import { modeOf } from '../core/modes/modes.ts';
import { byteSize, type Json } from '../core/base/json.ts';
import type { TokenUsage } from '../core/contract/model.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import { noUsage } from '../core/model/usage.ts';
import { openChunkStream, type ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import type { ModelActivityResult } from './activity-types.ts';
import type { Registry } from '../define/definition/definitions.ts';
import {
  agentNotHere,
  notHere,
  toModelFailure,
  transcriptUnavailable,
  workerShutdown,
  workerShutdownWithCost,
} from './failures.ts';
import { withHeartbeat, isStoppedByService } from './heartbeat.ts';
import { openAttempt, usedBy, type AskedAttempt } from './lost-attempts.ts';
import { endsWithAttempt, triesOf, type AttemptNumber } from './tries.ts';
import { NO_WATCH, type AttemptNotes, type CallObserver } from '../telemetry/call-observer.ts';
import { callLayeredModel } from '../models/call-layered-model.ts';
import type { CallIo, ModelCallResult } from '../models/model-adapter.ts';
import { entryFor, type CalledEntry } from '../define/model/model-entry.ts';
import { findEntry } from '../define/model/provider-models.ts';
import { classifyModelError, hasCost, type ModelFailure } from '../models/model-failures.ts';
import { keyVariable } from '../models/missing-key.ts';
import { requestFor } from '../models/prompt-texts.ts';
import { withModel } from '../models/providers/load-model.ts';
import { missingModel } from '../registry/registry.ts';
import {
  OtherTranscriptError,
  type TranscriptKey,
  type TranscriptSource,
} from './transcript-source.ts';

/** What the model activity needs. */
export interface CallModelParts {
  readonly registry: Registry;
  readonly transcripts: TranscriptSource;
  readonly chunks: ChunkPublisher;
  /** Watches the attempts. Default: nothing does. */
  readonly watch?: CallObserver;
  /** Whether this worker has a blob store; default false. */
  readonly hasBlobs?: boolean;
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
    const run = (notes: AttemptNotes): Promise<ModelActivityResult> =>
      attemptOf(parts, order, tries, { ...asked, notes });
    return withHeartbeat(() => watch.model(attempt, run), {
      details: { attempts, ...defined({ losses: added.losses }) },
      more: asked.beat,
    });
  };
}

/** How long the activity waited for this worker. */
function queueMs(): number {
  return Math.max(0, Date.now() - Context.current().info.currentAttemptScheduledTimestampMs);
}

/** An attempt that is watched. */
type WatchedAttempt = AskedAttempt & { readonly notes: AttemptNotes };

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
  try {
    const outcome = await callOnce(parts, order, { entry, view, asked });
    // Not canceled by a user: the call is retried, on another worker if this one stops.
    if (outcome.kind === 'aborted' && isStoppedByService()) {
      const { usage } = outcome;
      if (!hasCost(usage)) {
        const used = usedBy(asked.beat());
        throw workerShutdown(used && { estimated: { ...used } });
      }
      throw workerShutdownWithCost({ usage: { ...usage }, usageKnown: true, ...added });
    }
    checkSize(parts, order, outcome);
    return { ...outcome, ...added };
  } catch (error) {
    if (error instanceof ApplicationFailure) throw error;
    const failure = classifyModelError(error);
    const variable = keyVariable(error);
    throw failureOf(order, { ...failure, ...defined({ variable }) }, failure.usage ?? noUsage);
  }
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
type TimedResult = ModelCallResult & { readonly firstTokenMs?: number };

/** The model to ask, and what for. */
interface AskedModel {
  readonly entry: CalledEntry;
  readonly view: TranscriptView | null;
  readonly asked: WatchedAttempt;
}

async function callOnce(
  parts: CallModelParts,
  order: ModelOrder,
  { entry, view, asked }: AskedModel,
): Promise<TimedResult> {
  const { registry, chunks, transcripts } = parts;
  const context = Context.current();
  const tries = triesOf(order);
  const attempt = order.triesBefore + tries.attempt + tries.losses;
  const { runId, iteration, agentPath, purpose } = order;
  const request = await requestFor(registry, order, view, attempt);
  asked.onRequest(entry, request);
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
    if (result.kind !== 'reply') return result;
    notes.replied(result.reply.parts as unknown as Json);
    return { ...result, ...defined({ firstTokenMs }) };
  };
  const signal = context.cancellationSignal;
  // Summaries see the same conversation, so middleware that hides secrets applies to them as well.
  const around = registry.agents.get(order.agent)?.definition.middleware?.model ?? [];
  // Only replies stream, and only replies become messages of the transcript.
  if (purpose !== 'reply') {
    const onChunk: CallIo['onChunk'] = ({ delta }) => hear(delta);
    return timed(await callLayeredModel(around, entry, request, { signal, onChunk }));
  }
  const { rootRunId = runId } = order;
  const stream = openChunkStream(chunks, { rootRunId, runId, agentPath, iteration, attempt });
  try {
    const onChunk: CallIo['onChunk'] = (chunk) => {
      hear(chunk.delta);
      stream.write(chunk);
    };
    const outcome = timed(await callLayeredModel(around, entry, request, { signal, onChunk }));
    stream.end();
    // The workflow gives calls their ids, so the message of a reply with calls is not known here.
    const isKnown =
      order.own === undefined && outcome.kind === 'reply' && outcome.reply.calls.length === 0;
    const [message] =
      isKnown && view !== null ? modeOf(view.head.spec).answerMessages(outcome.reply) : [];
    if (message !== undefined) transcripts.remember(keyOf(order), order.transcript, message);
    return outcome;
  } catch (error) {
    stream.fail();
    throw error;
  }
}

function failureOf(order: ModelOrder, failure: KeyedFailure, usage: TokenUsage): Error {
  const { attempt, added } = triesOf(order);
  const usageKnown = hasCost(usage);
  const details = { usage: { ...usage }, usageKnown, ...added };
  // Another worker may have a key that works, and this one may soon.
  if (failure.code === 'model_auth' && !usageKnown) {
    const { code, status, message, variable } = failure;
    const named = variable === undefined ? '' : ` (${variable})`;
    const what = `credentials of model ${order.model}${named}`;
    return notHere(defined({ ...details, what, agent: order.agent, code, status }), message);
  }
  return toModelFailure(failure, {
    attempt,
    endsActivity: usageKnown || endsWithAttempt(order),
    details,
  });
}
