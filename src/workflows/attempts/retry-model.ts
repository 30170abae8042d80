/**
 * Retries of a model call that the workflow makes itself, because an earlier attempt cost tokens, or
 * because the worker lacked what the call needs.
 */
import { proxyActivities, sleep } from '@temporalio/workflow';
import type {
  ActivityRuntime,
  EverloopActivities,
  ModelActivityResult,
} from '../../activities/activity-types.ts';
import type { ModelCallOptions } from '../../core/run/host.ts';
import type { ModelOutcome } from '../../core/contract/host-outcome.ts';
import { cappedOrder, type ModelOrder } from '../../core/contract/host-order.ts';
import { MAX_MODEL_ATTEMPTS } from '../../core/contract/attempts.ts';
import { modelOptions, onAnyWorker } from './activity-options.ts';
import { abortedWith, addEarlier, retryOf, toModelOutcome } from './call-failures.ts';
import type { OpenCall } from './open-call.ts';
import type { Elsewhere } from './retry-elsewhere.ts';

/** Where and how long a model call is retried. */
export interface Retrying extends OpenCall, Omit<ModelCallOptions, 'abortId'> {
  readonly runtime: ActivityRuntime;
  readonly elsewhere: Elsewhere;
}

/**
 * Begins a model call again after `failure`, until an attempt succeeds or its failure is final
 * (`retryAfterMs` of ModelFailureDetails is absent), or the limits have no room for another attempt.
 */
export async function retryModelCall(
  order: ModelOrder,
  failure: unknown,
  retrying: Retrying,
): Promise<ModelOutcome> {
  const { scope, mayRetry, maxOutputAfter } = retrying;
  const first = elsewhereOf(order, failure, retrying);
  const then = first === null ? { error: failure } : await settled(first);
  if ('outcome' in then) return then.outcome;
  let lost = toModelOutcome(then.error);
  let nextMs = retryOf(then.error);
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
    const again = { ...cappedOrder(order, maxOutputAfter?.(lost)), attemptsBefore: attempts };
    const { callModel } = proxyActivities<EverloopActivities>(
      modelOptions(retrying.runtime, attempts),
    );
    try {
      const outcome = await scope.run(() => callModel(again));
      return addEarlier(lost, outcome);
    } catch (error) {
      const retried = elsewhereOf(again, error, retrying);
      const next = retried === null ? { error } : await settled(retried);
      if ('outcome' in next) return addEarlier(lost, next.outcome);
      lost = addEarlier(lost, toModelOutcome(next.error, attempts));
      nextMs = retryOf(next.error);
    }
  }
  return lost;
}

function elsewhereOf(
  order: ModelOrder,
  error: unknown,
  { elsewhere, runtime, hasFallback = false, ...open }: Retrying,
): Promise<ModelActivityResult> | null {
  // Those before the one that met a worker without the model.
  const earlier = toModelOutcome(error).attempts - 1;
  const attemptsBefore = (order.attemptsBefore ?? 0) + earlier;
  const again = async (): Promise<ModelActivityResult> => {
    const options = onAnyWorker(modelOptions(runtime, attemptsBefore));
    const { callModel } = proxyActivities<EverloopActivities>(options);
    const outcome = await callModel({ ...order, attemptsBefore });
    return { ...outcome, attempts: outcome.attempts + earlier };
  };
  return elsewhere.retry(error, { ...open, again, hasFallback });
}

function settled<Outcome>(
  pending: Promise<Outcome>,
): Promise<{ readonly outcome: Outcome } | { readonly error: unknown }> {
  return pending.then(
    (outcome) => ({ outcome }),
    (error: unknown) => ({ error }),
  );
}
