/**
 * The model activity: transcript → request → reply with usage. An aborted call returns its usage; a
 * failed one throws a typed failure with the usage of all its attempts.
 *
 * Around the call there are layers, the outermost first, each of which takes an attempt and the rest of
 * the call:
 *
 *     beating         model-attempt.ts         heartbeats, and what was used so far
 *     takenOrRun      take-over.ts             the call of an attempt that the service gave up
 *     watched         model-attempt.ts         the span of telemetry
 *     readingBeside   reads-of-reply.ts        reads beside the reply
 *     paced           await-rate.ts            rates and permits
 *     streamed        models/stream-reply.ts   the pieces of the reply
 */
import { defined } from '../core/base/defined.ts';
import { byteSize, type Json } from '../core/base/json.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { AttemptFacts, ModelEnd, UnfailedOutcome } from '../core/contract/host-outcome.ts';
import type { Reply } from '../core/contract/model.ts';
import { callsOf } from '../core/contract/turn.ts';
import { modeOf } from '../core/modes/modes.ts';
import { callLayeredModel } from '../models/call-layered-model.ts';
import { streamed } from '../models/stream-reply.ts';
import type { AttemptNotes } from '../telemetry/call-observer.ts';
import type { EverloopActivities } from './activity-types.ts';
import { paced, type PaceParts } from './await-rate.ts';
import { givenBack, modelFailure } from './failures.ts';
import { findCall, requestOf, transcriptKey, type FindParts } from './find-call.ts';
import type { GivenUpCalls } from './given-up-calls.ts';
import type { HeardCancels } from './heard-cancels.ts';
import { isStoppedByService } from './heartbeat.ts';
import { beating, watched, type AskedAttempt, type ModelAttempt } from './model-attempt.ts';
import { readingBeside, type ReadsOfReplyParts } from './reads-of-reply.ts';
import { takenOrRun } from './take-over.ts';

/** What the model activity needs, its replies and what runs beside them. */
export interface CallModelParts extends ReadsOfReplyParts, PaceParts, FindParts {
  /** The hosts from which media of requests are fetched; default: any at a public address. */
  readonly mediaHosts?: readonly string[] | undefined;
  /** Cancels that workflows of this process tell; default: none. */
  readonly cancels?: HeardCancels;
  /** Calls that later attempts take over; default: each attempt asks anew. */
  readonly givenUp?: GivenUpCalls;
}

/** The model activity of a worker. */
export function createCallModel(parts: CallModelParts): EverloopActivities['callModel'] {
  const { cancels, givenUp, watch } = parts;
  return (order) =>
    beating(cancels, order, (begun) =>
      takenOrRun(givenUp, begun, (attempt) =>
        watched(watch, attempt, (notes) => callModel(parts, attempt, notes)),
      ),
    );
}

/** An attempt, once it has begun: finds what it needs, then asks. */
async function callModel(
  parts: CallModelParts,
  attempt: ModelAttempt,
  notes: AttemptNotes,
): Promise<UnfailedOutcome> {
  const { order } = attempt;
  const found = { ...attempt, notes, ...(await findCall(parts, order, notes)) };
  return readingBeside(parts, found, async (onCall) => {
    const asked = { ...found, ...(await requestOf(parts, found)), onCall };
    const outcome = await paced(parts, asked, (sent) => ask(parts, sent));
    // Not canceled by a user: the call is retried, on another worker if this one stops.
    if (outcome.kind === 'aborted' && isStoppedByService()) throw givenBack(found, outcome.usage);
    if (outcome.kind === 'reply') checkSize(parts, order, outcome.reply);
    return outcome;
  });
}

/** Asks the provider once. */
async function ask(
  { registry, chunks, transcripts, mediaHosts }: CallModelParts,
  attempt: AskedAttempt,
): Promise<UnfailedOutcome> {
  const { order, entry, view, request, number, signal, notes, onCall, info } = attempt;
  const definition = registry.agents.get(order.agent)?.definition;
  attempt.onRequest(entry, request);
  notes.asked(request.messages as unknown as Json);
  const startedAt = performance.now();
  let firstTokenMs: number | undefined;
  const onChunk = ({ delta }: { readonly delta: string }): void => {
    firstTokenMs ??= Math.round(performance.now() - startedAt);
    notes.firstChunk();
    attempt.onText(delta);
  };
  const mayBeWhole = (definition?.stream ?? entry.stream) === 'auto';
  // A worker without a blob store reads it to its end, since another one may keep it.
  const { reply: maxReplyBytes } = sizesOf(defined({ blobs: order.blobs }));
  // Summaries see the same conversation, so middleware that hides secrets applies to them as well.
  const around = { layers: definition?.middleware?.model ?? [], info };
  let isWhole = false;
  const end = await streamed({ chunks, order, number, mayBeWhole, onChunk }, (io) => {
    ({ isWhole } = io);
    const asked = { ...io, signal, maxReplyBytes, mediaHosts, onCall };
    return callLayeredModel(around, entry, request, asked);
  });
  if (end.kind === 'aborted') return { ...end, ...factsOf(attempt, { isWhole, end }) };
  const { reply } = end;
  notes.replied(reply.parts as unknown as Json);
  // The workflow gives calls their ids, so the message of a reply with calls is not known here.
  const isKnown = order.own === undefined && order.purpose === 'reply' && view !== null;
  if (isKnown && callsOf(reply).length === 0) {
    const [message] = modeOf(view.head.spec).answerMessages(reply);
    if (message !== undefined) {
      transcripts.remember(transcriptKey(order), order.transcript, message);
    }
  }
  return { ...end, ...factsOf(attempt, { isWhole, end }), ...defined({ firstTokenMs }) };
}

/** The facts of an attempt. Of an aborted call that did not stream, no provider reports what it used. */
function factsOf(
  { tries: { added }, used }: AskedAttempt,
  { isWhole, end }: { readonly isWhole: boolean; readonly end: ModelEnd },
): AttemptFacts {
  const isUnreported = isWhole && end.kind === 'aborted' && !end.usageKnown;
  return isUnreported ? { ...added, ...defined({ estimated: used() }) } : added;
}

/**
 * A reply that is too large is not retried, since the next would be as long; a fallback is tried.
 */
function checkSize({ hasBlobs = false }: CallModelParts, order: ModelOrder, reply: Reply): void {
  const bytes = byteSize(reply as unknown as Json);
  const { reply: maxBytes } = sizesOf({ blobs: hasBlobs && order.blobs === true });
  if (bytes <= maxBytes) return;
  const message = `Expected a reply of at most ${maxBytes} bytes, got ${bytes}. Set \`maxOutputTokens\`.`;
  // A worker with a blob store may take it.
  const retryable = order.blobs === true && !hasBlobs;
  throw modelFailure(order, { code: 'model_error', retryable, message }, reply.usage);
}
