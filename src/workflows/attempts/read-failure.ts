/**
 * Reads the failures of activities into the vocabulary of `core/attempt`: this file alone knows how the
 * service and the activities say them.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  isCancellation,
  TimeoutFailure,
} from '@temporalio/workflow';
import type {
  HeartbeatDetails,
  ModelFailureDetails,
  NotHereDetails,
  RateWaitDetails,
} from '../../activities/activity-types.ts';
import {
  LEFT,
  type AttemptFailure,
  type FailureKind,
  type Lack,
  type RateWait,
} from '../../core/attempt/failure.ts';
import { defined } from '../../core/base/defined.ts';
import type { FailureType } from '../../core/base/failure-types.ts';
import { addEstimates } from '../../core/model/estimated-usage.ts';
import { isoOfMoment } from '../../core/text/civil-date.ts';
import { UNREGISTERED } from './activity-options.ts';

/** The wait for a worker that has what a call needs was aborted: the call was not begun. */
export class WaitAborted extends Error {
  override readonly name = 'WaitAborted';
}

/** What a failure of an activity says. */
export function failureOf(error: unknown): AttemptFailure {
  if (error instanceof WaitAborted) return LEFT;
  const cause = causeOf(error);
  const { message } = cause;
  if (isCancellation(error))
    return { kind: isUnstarted(cause) ? 'unstarted' : 'canceled', message };
  if (cause instanceof TimeoutFailure) return timeoutOf(cause);
  const isOfActivity = error instanceof ActivityFailure;
  if (!(cause instanceof ApplicationFailure)) {
    return { kind: isOfActivity ? 'broken' : 'unreadable', message };
  }
  const read = applicationFailureOf(cause);
  // An activity fails with a failure around it; anything else is no word of a worker.
  const kind = isOfActivity || KINDS[cause.type ?? ''] !== undefined ? read.kind : 'unreadable';
  const isExhausted = isOfActivity && error.retryState === 'MAXIMUM_ATTEMPTS_REACHED';
  return { ...read, kind, ...defined({ isExhausted: isExhausted || undefined }) };
}

/** The failures by which activities and the SDK say more than that they failed. */
const KINDS: Readonly<Record<string, FailureKind>> = {
  ...({
    worker_shutdown: 'given_back',
    transcript_unavailable: 'lost_unbegun',
    // The result could not be stored, so the tool ran.
    blob_store_failed: 'lost',
    tool_failed: 'failed',
    validator_failed: 'failed',
    not_here: 'lack',
    keys_missing: 'lack',
    blob_missing: 'lack',
    blob_damaged: 'lack',
    blob_unreadable: 'lack',
    rate_wait: 'paced',
    not_local: 'crowded',
    operator_needed: 'refused',
    message_too_large: 'unsent',
  } satisfies Partial<Record<FailureType, FailureKind>>),
  // How the SDK says that it has no store, and that it has no such activity.
  ExternalStorageNotConfiguredError: 'lack',
  [UNREGISTERED]: 'lack',
};

function applicationFailureOf(cause: ApplicationFailure): AttemptFailure {
  const { message, type } = cause;
  const details = (cause.details?.[0] ?? {}) as Partial<ModelFailureDetails & NotHereDetails> & {
    readonly givenBack?: number;
  };
  const { usage, usageKnown, losses, givenBack, estimated, lostReads } = details;
  const { retryAfterMs, status } = details;
  const known = KINDS[type ?? ''];
  const isFinal = cause.nonRetryable === true && retryAfterMs === undefined;
  const kind = known ?? (retryAfterMs !== undefined ? 'failed' : isFinal ? 'final' : 'broken');
  return {
    kind,
    message,
    ...defined({ usage, usageKnown, losses, givenBack, estimated, lostReads }),
    ...defined({ retryAfterMs, status, code: codeOf(type, details.code) }),
    ...defined({
      lack: kind === 'lack' ? lackOf(cause, details) : undefined,
      wait: kind === 'paced' ? waitOf(cause.details?.[0] as RateWaitDetails) : undefined,
    }),
  };
}

const MODEL_CODES: readonly string[] = [
  'model_error',
  'model_auth',
  'model_request_refused',
  'model_refused',
  'context_too_long',
  'blocked',
] satisfies readonly FailureType[];

function codeOf(type: string | null | undefined, lacking: string | undefined): string | undefined {
  return (
    [type === 'not_here' ? lacking : type].find((code) => MODEL_CODES.includes(code ?? '')) ??
    undefined
  );
}

/** What the worker lacked that took a call. A worker of another version may not have the activity at all. */
function lackOf(
  { type, message }: ApplicationFailure,
  { what, agent }: Partial<NotHereDetails>,
): Lack {
  if (type === 'not_here') return { what: what ?? '', ...defined({ agent }) };
  if (type === UNREGISTERED) return { what: 'a newer version of Everloop' };
  if (type !== 'keys_missing') return { what: 'the blobs of the run' };
  // The SDK keeps of the codec's error only its name and its text.
  const id = /key `([^`]*)`/.exec(message)?.[1];
  return { what: id === undefined ? 'a key' : `key ${id}` };
}

function waitOf(details: RateWaitDetails = { at: 0 }): RateWait {
  const { at, moment, tokens, tries, since, of } = details;
  const then = isoOfMoment(at, 0);
  return {
    at,
    waitsFor:
      details.for === 'permit' ? `a permit, asks again at ${then}` : `its rate until ${then}`,
    ticket: defined({ at: moment, tokens, tries, since, of }),
  };
}

/** Of an attempt that died with its worker, or at its deadline, only the last heartbeat says anything. */
function timeoutOf({ timeoutType, message, lastHeartbeatDetails }: TimeoutFailure): AttemptFailure {
  const last = (lastHeartbeatDetails ?? undefined) as Partial<HeartbeatDetails> | undefined;
  const { losses, asked, lost, kept, isEntry, began } = last ?? {};
  if (timeoutType !== 'HEARTBEAT') {
    const kind = timeoutType === 'START_TO_CLOSE' ? 'stalled' : 'broken';
    const estimated = addEstimates(lost, asked);
    return { kind, message, isTimeout: true, ...defined({ losses, estimated }) };
  }
  // It died before the first heartbeat, or before the second where the first was sent at entry.
  const isSilent = last === undefined || isEntry === true;
  return {
    kind: began === true ? 'lost' : 'lost_unbegun',
    message,
    ...defined({
      kept,
      estimated: isSilent ? lost : addEstimates(lost, asked),
      chargesPrompt: isSilent || undefined,
    }),
  };
}

/** The service's detail for an activity that was canceled before a worker had it (seen, 1.32.0). */
const NOT_STARTED = 'ACTIVITY_ID_NOT_STARTED';

function isUnstarted(cause: Error): boolean {
  return cause instanceof CancelledFailure && cause.details.includes(NOT_STARTED);
}

/** The cause of the failure: Temporal wraps it once. */
function causeOf(error: unknown): Error {
  if (error instanceof ActivityFailure && error.cause !== undefined) return error.cause;
  return error instanceof Error ? error : new Error(String(error));
}
