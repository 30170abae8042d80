/** The attempts of a model call: what they cost, and which failures another one follows. */
import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import { defined } from '../../core/base/defined.ts';
import type {
  ActivityRuntime,
  EverloopActivities,
  ModelActivityResult,
} from '../../activities/activity-types.ts';
import {
  hasNextModelAttempt,
  MAX_MODEL_ATTEMPTS,
  maxModelAttempts,
  modelRetryMs,
} from '../../core/contract/attempts.ts';
import { cappedOrder, type ModelOrder } from '../../core/contract/host-order.ts';
import type { FailedAttempt, ModelLoss, ModelOutcome } from '../../core/contract/host-outcome.ts';
import type { EstimatedUsage } from '../../core/contract/model.ts';
import { addEstimates } from '../../core/model/estimated-usage.ts';
import { noUsage } from '../../core/model/usage.ts';
import { summaryLine } from '../../core/text/summary.ts';
import type { ModelCallOptions } from '../../core/run/host.ts';
import { attemptOptions, lossPauseMs, modelOptions, onAnyWorker } from './activity-options.ts';
import {
  abortedWith,
  addEarlier,
  causeOf,
  modelDetailsOf,
  toModelOutcome,
  WaitAborted,
} from './call-failures.ts';
import { isLoss } from './losses.ts';
import type { Failed, Tried, TriedCall } from './try-again.ts';

/** A model call whose attempts the workflow begins. */
export function triedModelCall(
  order: ModelOrder,
  options: ModelCallOptions,
  runtime: ActivityRuntime,
): TriedCall<ModelActivityResult, ModelOutcome> {
  const { abortId, hasFallback } = options;
  const ledger = createLedger(options);
  return {
    label: `model ${order.model}`,
    abortId,
    ...defined({ hasFallback }),
    schedule: (tried, isElsewhere) => {
      const attempt = {
        ...attemptOptions(modelOptions(runtime), tried.losses, 'failure'),
        summary: modelSummary(order),
      };
      const { callModel } = proxyActivities<EverloopActivities>(
        isElsewhere ? onAnyWorker(attempt) : attempt,
      );
      return callModel(after(cappedOrder(order, ledger.cap()), tried));
    },
    onResult: ledger.ended,
    onFailure: ledger.failed,
  };
}

/** `gpt-5-mini`, `gpt-5-mini for compaction`. */
function modelSummary({ model, purpose }: ModelOrder): string {
  return summaryLine(purpose === 'reply' ? model : `${model} for ${purpose}`);
}

/** `order` with what was tried before; the first attempt has it as it is. */
export function after<Order extends object>(order: Order, tried: Tried): Order {
  const { attempts, losses, givenBack, retriedAfter } = tried;
  if (attempts + losses === 0) return order;
  return {
    ...order,
    attemptsBefore: attempts,
    lossesBefore: losses,
    ...defined({ givenBackBefore: givenBack === 0 ? undefined : givenBack, retriedAfter }),
  };
}

/** What the attempts of one call cost so far. */
interface Ledger {
  readonly ended: (outcome: ModelOutcome) => ModelOutcome;
  readonly failed: (error: unknown) => Failed<ModelOutcome>;
  /** The cap on the output of the next attempt after one that cost tokens. */
  readonly cap: () => number | undefined;
}

function createLedger({
  mayRetry,
  maxOutputAfter,
  promptEstimate,
  hasFallback = false,
  onFailedAttempt,
}: ModelCallOptions): Ledger {
  let lost: ModelLoss | null = null;
  const add = <Outcome extends ModelOutcome>(outcome: Outcome): Outcome =>
    lost === null ? outcome : addEarlier(lost, outcome);

  return {
    ended: add,
    cap: () => (lost === null || !isCharged(lost) ? undefined : maxOutputAfter?.(lost)),
    failed: (error) => {
      if (isCancellation(error) || error instanceof WaitAborted) {
        return { kind: 'final', outcome: add(toModelOutcome(error)) };
      }
      const hasLost = isLoss(error);
      const last = hasLost ? lossOf(error, promptEstimate) : failureOf(error);
      const now = add(last);
      lost = now;
      const inMs = hasLost ? lossPauseMs(now.losses ?? 1) : waitOf(error, now, hasFallback);
      if (inMs === null || (isCharged(last) && !mayRetry(now)))
        return { kind: 'final', outcome: now };
      const failed = failedAttempt(now, inMs);
      if (!hasLost) onFailedAttempt?.(failed);
      const failure = { message: failed.message, of: maxModelAttempts(hasFallback) };
      return {
        kind: 'again',
        // No model call waits for an operator, so what was given back is not told apart.
        tried: { attempts: now.attempts, losses: now.losses ?? 0, givenBack: 0 },
        inMs,
        ...defined({ failure: hasLost ? undefined : failure }),
        aborted: () => abortedWith(now),
        // The limits may have been lowered meanwhile.
        refused: () => (isCharged(last) && !mayRetry(now) ? now : null),
      };
    },
  };
}

/** Whether attempts cost tokens, so that the limits must have room for another one. */
function isCharged({ usageKnown, estimated }: ModelLoss): boolean {
  return usageKnown || estimated !== undefined;
}

/** A loss: no attempt of the provider, but it may have cost tokens. */
function lossOf(error: unknown, promptEstimate: ModelCallOptions['promptEstimate']): ModelLoss {
  const cause = causeOf(error);
  const { usage = noUsage, usageKnown = false, losses = 0 } = modelDetailsOf(cause);
  const { message } = cause;
  const cost = { usage, usageKnown, attempts: 0, losses: losses + 1 };
  const estimated =
    cause instanceof TimeoutFailure
      ? estimateOf(cause, promptEstimate)
      : modelDetailsOf(cause).estimated;
  return { kind: 'failed', code: 'model_error', message, ...cost, ...defined({ estimated }) };
}

/** What the last heartbeat of a model activity says, in part. */
interface LastBeat {
  /** Attempts of the activity before this one that were lost. */
  readonly losses?: number;
  readonly asked?: EstimatedUsage;
  readonly lost?: EstimatedUsage;
}

/**
 * What an attempt used that died with its worker, by its last heartbeat (`UsedSoFar`); its prompt if
 * it died before the first.
 */
function estimateOf(
  { lastHeartbeatDetails }: TimeoutFailure,
  promptEstimate: ModelCallOptions['promptEstimate'],
): EstimatedUsage | undefined {
  const last = lastHeartbeatDetails as LastBeat | null | undefined;
  return last === undefined || last === null
    ? promptEstimate?.()
    : addEstimates(last.lost, last.asked);
}

/**
 * A failure of the provider. The activity of a call that the workflow tries has one attempt. At its
 * deadline only the last heartbeat says what was used and lost.
 */
function failureOf(error: unknown): ModelLoss {
  const failure = toModelOutcome(error, MAX_MODEL_ATTEMPTS - 1);
  const cause = causeOf(error);
  if (!(cause instanceof TimeoutFailure)) return failure;
  const { losses, asked, lost } = (cause.lastHeartbeatDetails ?? {}) as LastBeat;
  return { ...failure, ...defined({ losses, estimated: addEstimates(lost, asked) }) };
}

/** How long the next attempt waits; null: there is none. */
function waitOf(error: unknown, { attempts }: ModelLoss, hasFallback: boolean): number | null {
  const cause = causeOf(error);
  const { retryAfterMs } = modelDetailsOf(cause);
  const isFinal = cause instanceof ApplicationFailure && cause.nonRetryable === true;
  if (retryAfterMs === undefined && (isFinal || !(error instanceof ActivityFailure))) return null;
  const inMs = retryAfterMs ?? modelRetryMs(attempts);
  return hasNextModelAttempt(attempts, inMs, hasFallback) ? inMs : null;
}

function failedAttempt(now: ModelLoss, retryInMs: number): FailedAttempt {
  const { code, message, status } = now as Extract<ModelLoss, { kind: 'failed' }>;
  return { attempt: now.attempts, code, message, ...defined({ status }), retryInMs };
}
