/**
 * Failures of activities for Temporal: a stable type to switch on, and whether and when to retry.
 * In this folder, only this file and `tool-activities.ts` create an `ApplicationFailure`.
 */
import { defined } from '../core/base/defined.ts';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Delivery } from '../callbacks/deliver.ts';
import type { FailureType } from '../core/base/failure-types.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { TokenUsage } from '../core/contract/model.ts';
import { addEstimates } from '../core/model/estimated-usage.ts';
import { noUsage } from '../core/model/usage.ts';
import { keyVariable } from '../models/missing-key.ts';
import {
  classifyModelError,
  hasCost,
  retryDelayMs,
  type ModelFailure,
} from '../models/model-failures.ts';
import { redact } from '../core/text/redact.ts';
import type { EarlierTries } from '../core/contract/outcome.ts';
import type { ModelAttempt } from './model-attempt.ts';
import type { NotHereDetails, RateWaitDetails } from './activity-types.ts';
import { endsWithAttempt, triesOf } from './tries.ts';

/** When a worker stops, the next attempt starts at once, as after the first lost worker. */
const afterShutdownMs = 100;

/** Statuses of an overloaded provider: expected, so they are kept out of error metrics. */
const busyStatuses: readonly (number | undefined)[] = [429, 529];

/**
 * A failed model call as a failure with its code as type. The workflow begins each attempt, so the
 * service repeats none. `details[0]` is `details` with `status`, if there is one, and, if the call may be
 * tried again, with `retryAfterMs`: Retry-After, else 1 s doubling to 30 s by `attempt`, from 1.
 */
export function toModelFailure(
  failure: ModelFailure,
  attempt: number,
  details: object,
): ApplicationFailure {
  const { code: type, message, status, retryable } = failure;
  const retryAfterMs = retryable ? retryDelayMs(failure, attempt) : undefined;
  const category = busyStatuses.includes(status) ? ApplicationFailureCategory.BENIGN : undefined;
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable: true,
    details: [{ ...details, ...defined({ status, retryAfterMs }) }],
    ...defined({ category }),
  });
}

/** The failure of a model call that threw `error`; what is one already stays as it is. */
export function thrownFailure(order: ModelOrder, error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const failure = classifyModelError(error);
  return modelFailure(order, failure, failure.usage, keyVariable(error));
}

/**
 * A failed model call, with what its attempts used. `variable`: the environment variable of a key that
 * is missing.
 */
export function modelFailure(
  order: ModelOrder,
  failure: ModelFailure,
  usage: TokenUsage = noUsage,
  variable?: string,
): ApplicationFailure {
  const { attempt, added } = triesOf(order);
  const usageKnown = hasCost(usage);
  const estimated = addEstimates(added.estimated, failure.estimated);
  const details = { usage, usageKnown, ...added, ...defined({ estimated }) };
  // Another worker may have a key that works, and this one may soon.
  if (failure.code === 'model_auth' && !usageKnown) {
    const { code, status, message } = failure;
    const named = variable === undefined ? '' : ` (${variable})`;
    const what = `credentials of model ${order.model}${named}`;
    return notHere({ ...details, what, agent: order.agent, ...defined({ code, status }) }, message);
  }
  return toModelFailure(failure, attempt, details);
}

/**
 * The transcript of the run is not available: the workflow did not answer its query. Retried, because
 * a lost or busy worker is temporary.
 */
export function transcriptUnavailable(cause: string): ApplicationFailure {
  const message = redact(`The transcript could not be read: ${cause}`);
  return retryable('transcript_unavailable', message);
}

/**
 * This worker lacks what a call needs, as `details[0]` says, and nothing was begun. Not retried by
 * the service: the workflow waits for another worker, which uses no attempt.
 */
export function notHere(details: NotHereDetails, message: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'not_here',
    message,
    nonRetryable: true,
    // Expected while a fleet is upgraded, so it is kept out of error metrics.
    category: ApplicationFailureCategory.BENIGN,
    details: [details],
  });
}

/** This worker does not have the agent of a run. */
export function agentNotHere(agent: string): ApplicationFailure {
  const message = `This worker has no agent \`${agent}\`. Start a worker that has it.`;
  return notHere({ what: `agent ${agent}`, agent }, message);
}

/**
 * The worker stops, so the call is retried on another one. Not a cancellation by a user. `details`:
 * what is known of the attempt.
 */
export function workerShutdown(details?: object, message: string = STOPPED): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'worker_shutdown',
    message,
    nonRetryable: false,
    // Without it, the service would wait as long as after a worker that died.
    nextRetryDelay: afterShutdownMs,
    ...defined({ details: details && [details] }),
  });
}

/**
 * The worker stops before a `once` tool began. The service knows the attempt as begun, so only the
 * workflow may begin another one.
 */
export function stoppedBeforeOnce(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'worker_shutdown',
    message: STOPPED,
    nonRetryable: true,
  });
}

/** A model call that no user stopped, with what it used: it is tried again. */
export function givenBack(
  { tries: { added }, used }: Pick<ModelAttempt, 'tries' | 'used'>,
  usage: TokenUsage,
  message: string = STOPPED,
): ApplicationFailure {
  if (!hasCost(usage)) {
    const estimated = used();
    return workerShutdown(estimated && { estimated }, message);
  }
  return ApplicationFailure.create({
    type: 'worker_shutdown',
    message,
    nonRetryable: true,
    details: [{ usage, usageKnown: true, ...added, retryAfterMs: afterShutdownMs }],
  });
}

const STOPPED = 'The worker stopped during the call.';

/** Why a request was closed that neither a user nor a worker stopped. */
export const PERMIT_ENDED = 'The request was closed: its permit could not be renewed.';

/**
 * An attempt of a tool or of validators that threw and may succeed when it is repeated: by the
 * service, or by the workflow if that begins each attempt.
 */
export function attemptFailed(
  order: EarlierTries,
  type: FailureType,
  message: string,
): ApplicationFailure {
  const { losses, givenBack } = triesOf(order).added;
  const details = losses === undefined ? undefined : [defined({ losses, givenBack })];
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable: endsWithAttempt(order),
    ...defined({ details }),
  });
}

/** So many workers died during the call that only an operator may have it tried again. */
export function operatorNeeded(order: EarlierTries): ApplicationFailure {
  const { losses, givenBack, added } = triesOf(order);
  return ApplicationFailure.create({
    type: 'operator_needed',
    message: `The call has ended ${losses - givenBack} workers.`,
    nonRetryable: true,
    details: [defined({ losses: added.losses ?? 0, givenBack: added.givenBack })],
  });
}

/** A try within a workflow task whose call must run again as one of its own. */
export function notLocal(message: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'not_local',
    message,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  });
}

/**
 * A callback that was not delivered: the service tries again, after `Retry-After` if the receiver
 * sent one, unless the receiver is gone.
 */
export function callbackFailure(
  delivery: Exclude<Delivery, { readonly kind: 'delivered' }>,
): ApplicationFailure {
  const nextRetryDelay = delivery.kind === 'failed' ? delivery.retryAfterMs : undefined;
  return ApplicationFailure.create({
    type: 'callback_failed',
    message: redact(delivery.message),
    nonRetryable: delivery.kind === 'gone',
    // A receiver that is down for an hour is no fault of the worker.
    category: ApplicationFailureCategory.BENIGN,
    ...defined({ nextRetryDelay }),
  });
}

/** A failure after which the service tries again. `message` has no secrets. */
export function retryable(type: FailureType, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: false });
}

/**
 * The provider takes no more requests of this entry for now, so the run waits until `at`, with its
 * moment if it has one. Not retried by the service: the workflow waits, which uses no attempt.
 */
export function rateWait(details: RateWaitDetails, cause?: string): ApplicationFailure {
  const what = details.for === 'permit' ? 'concurrency' : 'rate';
  const message =
    cause === undefined
      ? `The ${what} of the model has no room for now.`
      : redact(`The counter of the rate does not answer: ${cause}`);
  return ApplicationFailure.create({
    type: 'rate_wait',
    message,
    nonRetryable: true,
    details: [details],
    category: ApplicationFailureCategory.BENIGN,
  });
}
