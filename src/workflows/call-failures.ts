/**
 * The outcome of a call whose activity failed, read from Temporal's failure. Attempts that Temporal
 * itself retries leave no trace here, so an attempt that cost tokens is never left to it.
 */
import { defined } from '../core/base/defined.ts';
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  isCancellation,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { ModelFailureDetails } from '../activities/activity-types.ts';
import type { ApprovalOutcome, ModelLoss, ModelOutcome } from '../core/contract/host-outcome.ts';
import type { ToolSpec } from '../core/contract/spec.ts';
import { addUsage, noUsage } from '../core/model/usage.ts';
import {
  canceledCallText,
  lostWorkerText,
  toolErrorText,
  toolTimeoutText,
  unknownOutcomeText,
} from '../core/toolchain/call-texts.ts';
import type { ToolResult } from '../core/contract/outcome.ts';
import { MAX_MODEL_ATTEMPTS, maxToolAttempts } from '../core/contract/attempts.ts';

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
  };
}

/** After how many milliseconds the workflow must retry the call; null: not at all. */
export function retryOf(error: unknown): number | null {
  return modelDetailsOf(causeOf(error)).retryAfterMs ?? null;
}

/** `outcome` with the cost of earlier attempts added. */
export function addEarlier<Outcome extends ModelOutcome>(
  earlier: ModelLoss,
  outcome: Outcome,
): Outcome {
  const attempts = earlier.attempts + outcome.attempts;
  if (outcome.kind === 'reply') {
    const usage = addUsage(earlier.usage, outcome.reply.usage);
    return { ...outcome, attempts, reply: { ...outcome.reply, usage } };
  }
  const usage = addUsage(earlier.usage, outcome.usage);
  return { ...outcome, attempts, usage, usageKnown: earlier.usageKnown || outcome.usageKnown };
}

/** A call that was canceled between two attempts. */
export function abortedWith({ usage, usageKnown, attempts }: ModelLoss): ModelLoss {
  return { kind: 'aborted', usage, usageKnown, attempts };
}

function modelDetailsOf(cause: Error): Partial<ModelFailureDetails> {
  if (!(cause instanceof ApplicationFailure)) return {};
  return (cause.details?.[0] ?? {}) as Partial<ModelFailureDetails>;
}

const MODEL_CODES: readonly string[] = [
  'model_error',
  'model_auth',
  'model_request_refused',
  'context_too_long',
];

function codeOf(cause: Error): string {
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  return type != null && MODEL_CODES.includes(type) ? type : 'model_error';
}

/** The result of a tool call that failed for good, lost its worker, or was canceled. */
export function toToolResult(error: unknown, tool: ToolSpec): ToolResult {
  const maxAttempts = maxToolAttempts(tool);
  const cause = causeOf(error);
  const common = { attempts: attemptsOf(error, maxAttempts), started: true };
  // With a single attempt, a call that waits to start has never run.
  if (maxAttempts === 1 && isUnstarted(cause)) {
    return { outcome: 'canceled', error: canceledCallText, attempts: 0, started: false };
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
  if (isCancellation(error)) return { kind: 'aborted' };
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

function isUnstarted(cause: Error): boolean {
  return cause instanceof CancelledFailure && cause.details.includes(NOT_STARTED);
}

/** The cause of the failure: Temporal wraps it once. */
function causeOf(error: unknown): Error {
  if (error instanceof ActivityFailure && error.cause !== undefined) return error.cause;
  return error instanceof Error ? error : new Error(String(error));
}
