/** Attempts at a model call that the workflow begins itself, because those before them had cost. */
import { type CancellationScope, proxyActivities, sleep } from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../activities/activity-types.ts';
import type { MayTryAgain, ModelLoss, ModelOrder, ModelOutcome } from '../core/run/host.ts';
import { MAX_MODEL_ATTEMPTS, modelOptions } from './activity-options.ts';
import { abortedWith, addEarlier, retryOf, toModelOutcome } from './call-failures.ts';

/** Where and how long a model call is tried again. */
export interface Retrying {
  readonly scope: CancellationScope;
  readonly runtime: ActivityRuntime;
  readonly mayTryAgain: MayTryAgain;
}

/**
 * Begins a model call anew until one ends for good, see `retryAfterMs` of ModelFailureDetails, or the
 * limits have no room for another attempt.
 */
export async function tryAgain(
  order: ModelOrder,
  failed: ModelLoss,
  waitMs: number | null,
  { scope, runtime, mayTryAgain }: Retrying,
): Promise<ModelOutcome> {
  let lost = failed;
  for (let nextMs = waitMs; nextMs !== null && lost.attempts < MAX_MODEL_ATTEMPTS;) {
    if (!mayTryAgain(lost)) return lost;
    const ms = nextMs;
    try {
      await scope.run(() => sleep(ms));
    } catch {
      // The wait was aborted: nothing else rejects it.
      return abortedWith(lost);
    }
    // The limits may have been lowered meanwhile.
    if (!mayTryAgain(lost)) return lost;
    const { attempts } = lost;
    const { callModel } = proxyActivities<EverloopActivities>(modelOptions(runtime, attempts));
    try {
      const outcome = await scope.run(() => callModel({ ...order, attemptsBefore: attempts }));
      return addEarlier(lost, outcome);
    } catch (error) {
      lost = addEarlier(lost, toModelOutcome(error, attempts));
      nextMs = retryOf(error);
    }
  }
  return lost;
}
