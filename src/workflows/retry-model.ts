/**
 * Retries of a model call that the workflow makes itself, because an earlier attempt cost tokens.
 */
import { type CancellationScope, proxyActivities, sleep } from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../activities/activity-types.ts';
import type { ModelCallOptions } from '../core/run/host.ts';
import type { ModelOutcome } from '../core/contract/host-outcome.ts';
import { cappedOrder, type ModelOrder } from '../core/contract/host-order.ts';
import { MAX_MODEL_ATTEMPTS } from '../core/contract/attempts.ts';
import { modelOptions } from './activity-options.ts';
import { abortedWith, addEarlier, retryOf, toModelOutcome } from './call-failures.ts';

/** Where and how long a model call is retried. */
export interface Retrying {
  readonly scope: CancellationScope;
  readonly runtime: ActivityRuntime;
  readonly mayRetry: ModelCallOptions['mayRetry'];
  readonly maxOutputAfter: ModelCallOptions['maxOutputAfter'];
}

/**
 * Begins a model call again until an attempt succeeds or its failure is final (`retryAfterMs` of
 * ModelFailureDetails is absent), or the limits have no room for another attempt.
 */
export async function retryModelCall(
  order: ModelOrder,
  failure: unknown,
  { scope, runtime, mayRetry, maxOutputAfter }: Retrying,
): Promise<ModelOutcome> {
  let lost = toModelOutcome(failure);
  let nextMs = retryOf(failure);
  while (nextMs !== null && lost.attempts < MAX_MODEL_ATTEMPTS) {
    if (!mayRetry(lost)) return lost;
    const ms = nextMs;
    try {
      await scope.run(() => sleep(ms));
    } catch {
      // The wait was aborted: nothing else rejects it.
      return abortedWith(lost);
    }
    // The limits may have been lowered meanwhile.
    if (!mayRetry(lost)) return lost;
    const { attempts } = lost;
    const next = cappedOrder(order, maxOutputAfter?.(lost));
    const { callModel } = proxyActivities<EverloopActivities>(modelOptions(runtime, attempts));
    try {
      const outcome = await scope.run(() => callModel({ ...next, attemptsBefore: attempts }));
      return addEarlier(lost, outcome);
    } catch (error) {
      lost = addEarlier(lost, toModelOutcome(error, attempts));
      nextMs = retryOf(error);
    }
  }
  return lost;
}
