/**
 * The outcome of a call whose activity failed, read from Temporal's failure. Attempts that Temporal
 * itself retries leave no trace here, so an attempt that cost tokens is never left to it.
 */
import { defined } from '../../core/base/defined.ts';
import type { FailureType } from '../../core/base/failure-types.ts';
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  isCancellation,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { ModelFailureDetails, NotHereDetails } from '../../activities/activity-types.ts';
import type { ApprovalOutcome, ModelLoss, ModelOutcome } from '../../core/contract/host-outcome.ts';
import type { ToolSpec } from '../../core/contract/spec.ts';
import { addEstimates } from '../../core/model/estimated-usage.ts';
import { addUsage, noUsage } from '../../core/model/usage.ts';
import {
  canceledCallText,
  lostWorkerText,
  nowhereText,
  toolErrorText,
  toolTimeoutText,
  unknownOutcomeText,
} from '../../core/toolchain/call-texts.ts';
import type { ToolResult } from '../../core/contract/outcome.ts';
import { MAX_MODEL_ATTEMPTS, maxToolAttempts } from '../../core/contract/attempts.ts';
import { UNREGISTERED } from './activity-options.ts';

/** The wait for a worker that has what a call needs was aborted: the call was not begun. */
export class WaitAborted extends Error {
  override readonly name = 'WaitAborted';
}

/** The worker could not read what the call was given: it was not begun. */
const UNREADABLE: readonly string[] = [
  'blob_missing',
  'blob_damaged',
  'blob_unreadable',
  // How the SDK says that it has no store.
  'ExternalStorageNotConfiguredError',
];

/** What a worker lacked. */
export interface Lack {
  /** `tool refund` */
  readonly what: string;
  /** The agent of the call; absent if the worker could not know it. */
  readonly agent?: string;
  readonly message: string;
}

/**
 * What the worker lacked that took a call, if nothing was begun for that reason; null for any other
 * failure. A worker of another version may not have the activity at all.
 */
export function lackOf(error: unknown): Lack | null {
  const cause = causeOf(error);
  if (!(cause instanceof ApplicationFailure)) return null;
  const { message } = cause;
  if (cause.type === UNREGISTERED) return { what: 'a newer version of Everloop', message };
  if (UNREADABLE.includes(cause.type ?? '')) return { what: 'the blobs of the run', message };
  if (cause.type === ('keys_missing' satisfies FailureType))
    return { what: keyOf(message), message };
  if (cause.type !== 'not_here') return null;
  const { what, agent } = notHereOf(cause);
  return { what, agent, message };
}

/** The SDK keeps of the codec's error only its name and its text. */
function keyOf(message: string): string {
  const id = /key `([^`]*)`/.exec(message)?.[1];
  return id === undefined ? 'a key' : `key ${id}`;
}

function notHereOf(cause: ApplicationFailure): NotHereDetails {
  return cause.details?.[0] as NotHereDetails;
}

/**
 * The outcome of a model activity that failed for good, or was canceled before an attempt began.
 * `attemptsBefore` were made by other activities for the same call.
 */
export function toModelOutcome(error: unknown, attemptsBefore = 0): ModelLoss {
  const cost = {
    usage: noUsage,
    usageKnown: false,
    attempts: attemptsOf(error, MAX_MODEL_ATTEMPTS - attemptsBefore),
  };
  if (isCancellation(error)) return { kind: 'aborted', ...cost };
  if (error instanceof WaitAborted) return { kind: 'aborted', ...cost, attempts: 0 };
  const cause = causeOf(error);
  const details = modelDetailsOf(cause);
  const { usage, usageKnown, attempts } = { ...cost, ...details };
  return {
    kind: 'failed',
    code: codeOf(cause),
    message: cause.message,
    ...defined({ status: details.status }),
    usage,
    usageKnown,
    attempts,
    ...defined({
      losses: details.losses,
      estimated: details.estimated,
      lostReads: details.lostReads,
    }),
  };
}

/** `outcome` with the cost of earlier attempts added. */
export function addEarlier<Outcome extends ModelOutcome>(
  earlier: ModelLoss,
  outcome: Outcome,
): Outcome {
  const tries = triesOf(earlier, outcome);
  if (outcome.kind === 'reply') {
    const usage = addUsage(earlier.usage, outcome.reply.usage);
    return { ...outcome, ...tries, reply: { ...outcome.reply, usage } };
  }
  const usage = addUsage(earlier.usage, outcome.usage);
  return { ...outcome, ...tries, usage, usageKnown: earlier.usageKnown || outcome.usageKnown };
}

function triesOf(
  earlier: ModelLoss,
  outcome: ModelOutcome,
): Pick<ModelLoss, 'attempts' | 'losses' | 'estimated' | 'lostReads'> {
  const attempts = earlier.attempts + outcome.attempts;
  const losses = (earlier.losses ?? 0) + (outcome.losses ?? 0);
  const estimated = addEstimates(earlier.estimated, outcome.estimated);
  const lost = [...(earlier.lostReads ?? []), ...(outcome.lostReads ?? [])];
  const lostReads = lost.length === 0 ? undefined : lost;
  return {
    attempts,
    ...defined({ losses: losses === 0 ? undefined : losses, estimated, lostReads }),
  };
}

/** A call that was canceled between two attempts. */
export function abortedWith({
  usage,
  usageKnown,
  attempts,
  losses,
  estimated,
  lostReads,
}: ModelLoss): ModelLoss {
  const cost = { usage, usageKnown, attempts };
  return { kind: 'aborted', ...cost, ...defined({ losses, estimated, lostReads }) };
}

/** The details of a failed model activity; empty for a failure of another kind. */
export function modelDetailsOf(cause: Error): Partial<ModelFailureDetails> {
  if (!(cause instanceof ApplicationFailure)) return {};
  return (cause.details?.[0] ?? {}) as Partial<ModelFailureDetails>;
}

const MODEL_CODES: readonly string[] = [
  'model_error',
  'model_auth',
  'model_request_refused',
  'model_refused',
  'context_too_long',
  'blocked',
];

function codeOf(cause: Error): string {
  if (!(cause instanceof ApplicationFailure)) return 'model_error';
  const type = cause.type === 'not_here' ? notHereOf(cause).code : cause.type;
  return type != null && MODEL_CODES.includes(type) ? type : 'model_error';
}

/** The result of a tool call that failed for good, lost its worker, or was canceled. */
export function toToolResult(error: unknown, tool: ToolSpec): ToolResult {
  const maxAttempts = maxToolAttempts(tool);
  const cause = causeOf(error);
  const common = { attempts: attemptsOf(error, maxAttempts), started: true };
  const unbegun = { attempts: 0, started: false };
  if (error instanceof WaitAborted) {
    return { outcome: 'canceled', error: canceledCallText, ...unbegun };
  }
  const lack = lackOf(error);
  if (lack !== null) {
    return { outcome: 'error', error: nowhereText(lack.what, lack.agent), ...unbegun };
  }
  if (isTooLarge(cause)) {
    return { outcome: 'error', error: toolErrorText(cause.message), ...unbegun };
  }
  // With a single attempt, a call that waits to start has never run.
  if (maxAttempts === 1 && isUnstarted(cause)) {
    return { outcome: 'canceled', error: canceledCallText, ...unbegun };
  }
  if (tool.effect === 'once') {
    // Lost heartbeat, time-out, killed worker, shutdown: all mean unknown, not failed.
    return { outcome: 'unknown', error: unknownOutcomeText(tool.name), ...common };
  }
  if (isCancellation(error)) {
    return { outcome: 'canceled', error: canceledCallText, ...common };
  }
  return { outcome: 'error', error: errorTextOf(cause, tool), ...common };
}

/** Whether the call was refused before it left the workflow. */
function isTooLarge(cause: Error): boolean {
  const type = 'message_too_large' satisfies FailureType;
  return cause instanceof ApplicationFailure && cause.type === type;
}

function errorTextOf(cause: Error, { name, timeoutMs }: ToolSpec): string {
  if (!(cause instanceof TimeoutFailure)) return toolErrorText(cause.message);
  return cause.timeoutType === 'HEARTBEAT'
    ? lostWorkerText(name)
    : toolTimeoutText(name, timeoutMs);
}

/** The outcome of a check that failed for good, or was canceled. */
export function toCheckOutcome(
  error: unknown,
): Extract<ApprovalOutcome, { readonly kind: 'aborted' | 'failed' }> {
  if (isCancellation(error) || error instanceof WaitAborted) return { kind: 'aborted' };
  return { kind: 'failed', message: causeOf(error).message };
}

/**
 * The attempts of an activity that failed: all that it had, or the number in the last heartbeat of
 * a lost worker. Else 1, since history does not show failed attempts without a heartbeat.
 */
function attemptsOf(error: unknown, maxAttempts: number): number {
  if (error instanceof ActivityFailure && error.retryState === 'MAXIMUM_ATTEMPTS_REACHED') {
    return maxAttempts;
  }
  const cause = causeOf(error);
  const heard = cause instanceof TimeoutFailure ? cause.lastHeartbeatDetails : undefined;
  // Written by `withHeartbeat`.
  return (heard as { readonly attempts?: number } | null | undefined)?.attempts ?? 1;
}

/** The service's detail for an activity that was canceled before a worker had it (seen, 1.32.0). */
const NOT_STARTED = 'ACTIVITY_ID_NOT_STARTED';

/** Whether an activity was canceled before a worker had it. */
export function isUnstarted(cause: Error): boolean {
  return cause instanceof CancelledFailure && cause.details.includes(NOT_STARTED);
}

/** The cause of the failure: Temporal wraps it once. */
export function causeOf(error: unknown): Error {
  if (error instanceof ActivityFailure && error.cause !== undefined) return error.cause;
  return error instanceof Error ? error : new Error(String(error));
}
