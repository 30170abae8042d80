/**
 * Failures of activities as Temporal wants them: a stable type to switch on, whether to try again, and
 * when. With the files for tools, the only place in the activities that knows `ApplicationFailure`.
 */
import { defined } from '../core/base/defined.ts';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { FailureType } from '../core/base/failure-types.ts';
import type { JsonObject } from '../core/base/json.ts';
import { retryDelayMs, type ModelFailure } from '../models/model-failures.ts';
import { redact } from '../tools/redact.ts';

/** After a stopped worker the next attempt comes at once, as after a lost one. */
const afterShutdownMs = 100;

/** Statuses of a provider that has too much to do: ordinary life, kept out of error metrics. */
const busyStatuses: readonly (number | undefined)[] = [429, 529];

/** What a failure of a model call carries beside its classification. */
export interface ModelFailureContext {
  /** The attempt that failed, from 1; decides on the wait before the next. */
  readonly attempt: number;
  /** Whether it had cost; then the workflow tries again, not the service. Default: no. */
  readonly hadCost?: boolean;
  /** What the workflow needs of it, usage first of all. */
  readonly details: JsonObject;
}

/**
 * A failed model call as a failure with its code as type: final, or tried again after Retry-After,
 * else after 1 s doubling to 30 s. `details[0]` is `context.details` with `status`, if there is one,
 * and with `retryAfterMs`, if it is the workflow that tries again.
 */
export function toModelFailure(
  failure: ModelFailure,
  context: ModelFailureContext,
): ApplicationFailure {
  const { hadCost = false, attempt } = context;
  const retryAfterMs = failure.retryable ? retryDelayMs(failure, attempt) : null;
  const details: JsonObject = {
    ...context.details,
    ...defined({
      status: failure.status,
      retryAfterMs: retryAfterMs !== null && hadCost ? retryAfterMs : undefined,
    }),
  };
  const isBusy = busyStatuses.includes(failure.status);
  return ApplicationFailure.create({
    type: failure.code,
    message: failure.message,
    nonRetryable: retryAfterMs === null || hadCost,
    details: [details],
    ...defined({
      nextRetryDelay: retryAfterMs === null || hadCost ? undefined : retryAfterMs,
      category: isBusy ? ApplicationFailureCategory.BENIGN : undefined,
    }),
  });
}

/**
 * The transcript of the run could not be had: the workflow did not answer its query, or what came did
 * not fit the digest. Tried again, as a worker that was lost or busy mends.
 */
export function transcriptUnavailable(cause: string): ApplicationFailure {
  return retryable('transcript_unavailable', `The transcript could not be read: ${cause}`);
}

/** The worker stops: the call is tried again on another one. No cancellation by a user. */
export function workerShutdown(): ApplicationFailure {
  return retryable('worker_shutdown', SHUTDOWN);
}

/** The worker stops a model call that had cost: `details[0]` is `details` with `retryAfterMs`. */
export function workerShutdownWithCost(details: JsonObject): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'worker_shutdown',
    message: SHUTDOWN,
    nonRetryable: true,
    details: [{ ...details, retryAfterMs: afterShutdownMs }],
  });
}

const SHUTDOWN = 'The worker stopped during the call.';

function retryable(type: FailureType, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message: redact(message), nonRetryable: false });
}
