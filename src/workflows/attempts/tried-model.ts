/** The attempts of a model call: what they cost, and which failures another one follows. */
import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import { defined } from '../../core/base/defined.ts';
import type { ActivityRuntime, EverloopActivities } from '../../activities/activity-types.ts';
import {
  hasNextModelAttempt,
  MAX_MODEL_ATTEMPTS,
  maxModelAttempts,
  modelRetryMs,
} from '../../core/contract/attempts.ts';
import { cappedOrder, type ModelOrder, type RateTicket } from '../../core/contract/host-order.ts';
import type {
  FailedAttempt,
  ModelLoss,
  ModelOutcome,
  UnfailedOutcome,
} from '../../core/contract/host-outcome.ts';
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
import { recorded } from '../recorded/recorded.ts';
import { rateWaitOf, type RateWait } from './rate-wait.ts';
import type { Failed, Tried, TriedCall } from './try-again.ts';

/** A model call whose attempts the workflow begins. */
export function triedModelCall(
  order: ModelOrder,
  options: ModelCallOptions,
  runtime: ActivityRuntime,
): TriedCall<UnfailedOutcome, ModelOutcome> {
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
      const asked = mayRead(runtime, tried) ? order : withoutReads(order);
      const known = { ...cappedOrder(asked, ledger.cap()), ...defined({ abortId }) };
      const next = after(known, tried);
      return callModel(ledger.ticket === null ? next : { ...next, rate: ledger.ticket });
    },
    onResult: ledger.ended,
    onFailure: ledger.failed,
  };
}

/**
 * Whether reads may run beside the reply: in the first attempt, since an attempt that is lost does not
 * say what ran, and where the workers of models run tools.
 */
function mayRead({ toolQueue, modelQueue }: ActivityRuntime, tried: Tried): boolean {
  const isFirst = tried.attempts + tried.losses === 0;
  return isFirst && toolQueue === undefined && modelQueue === undefined;
}

function withoutReads({ reads: _reads, ...order }: ModelOrder): ModelOrder {
  return order;
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
  readonly ended: (result: UnfailedOutcome) => ModelOutcome;
  readonly failed: (error: unknown, tried: Tried) => Failed<ModelOutcome>;
  /** What the last try has of the rate of the model; null: nothing. */
  ticket: RateTicket | null;
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
  const parts: ModelLoss[] = [];
  const add = <Outcome extends ModelOutcome>(outcome: Outcome): Outcome =>
    lost === null ? outcome : addEarlier(lost, outcome);

  const ledger: Ledger = {
    ticket: null,
    ended: ({ takenOver, ...outcome }) => {
      if (takenOver !== undefined) lost = withoutTaken(parts, takenOver);
      return add(outcome);
    },
    cap: () => (lost === null || !isCharged(lost) ? undefined : maxOutputAfter?.(lost)),
    failed: (error, tried) => {
      const wait = rateWaitOf(error);
      if (wait !== null) {
        ledger.ticket = wait.ticket;
        return pacedTry(tried, wait, () => add(toModelOutcome(new WaitAborted())));
      }
      ledger.ticket = null;
      if (isCancellation(error) || error instanceof WaitAborted) {
        return { kind: 'final', outcome: add(toModelOutcome(error)) };
      }
      const hasLost = isLoss(error);
      const kept = hasLost ? keptReplyOf(error) : undefined;
      if (kept !== undefined) return { kind: 'final', outcome: add(kept) };
      const last = hasLost ? lossOf(error, promptEstimate) : failureOf(error);
      const now = add(last);
      lost = now;
      parts.push(last);
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
  return ledger;
}

/** The try of a call that had no room under the rate of its model: no attempt was made. */
function pacedTry(
  tried: Tried,
  { at, waitsFor }: RateWait,
  aborted: () => ModelOutcome,
): Failed<ModelOutcome> {
  return { kind: 'again', tried, inMs: Math.max(0, at - recorded().now()), waitsFor, aborted };
}

/** The sum of `parts`, the last `taken` of which lost nothing: a later attempt took them over. */
function withoutTaken(parts: readonly ModelLoss[], taken: number): ModelLoss | null {
  const first = parts.length - taken;
  return parts
    .map(({ estimated, ...part }, at) =>
      at < first ? { ...part, ...defined({ estimated }) } : part,
    )
    .reduce<ModelLoss | null>((sum, part) => (sum === null ? part : addEarlier(sum, part)), null);
}

/** Whether attempts cost tokens, so that the limits must have room for another one. */
function isCharged({ usageKnown, estimated }: ModelLoss): boolean {
  return usageKnown || estimated !== undefined;
}

/** The reply of an attempt whose worker was lost while only reads beside it were open. */
function keptReplyOf(error: unknown): UnfailedOutcome | undefined {
  const cause = causeOf(error);
  if (!(cause instanceof TimeoutFailure)) return undefined;
  return (cause.lastHeartbeatDetails as LastBeat | null | undefined)?.kept;
}

/** A loss: no attempt of the provider, but it may have cost tokens. */
function lossOf(error: unknown, promptEstimate: ModelCallOptions['promptEstimate']): ModelLoss {
  const cause = causeOf(error);
  const details = modelDetailsOf(cause);
  const { usage = noUsage, usageKnown = false, losses = 0, lostReads } = details;
  const { message } = cause;
  const cost = { usage, usageKnown, attempts: 0, losses: losses + 1 };
  const estimated =
    cause instanceof TimeoutFailure ? estimateOf(cause, promptEstimate) : details.estimated;
  return {
    kind: 'failed',
    code: 'model_error',
    message,
    ...cost,
    ...defined({ estimated, lostReads }),
  };
}

/** What the last heartbeat of a model activity says, in part. */
interface LastBeat {
  /** Attempts of the activity before this one that were lost. */
  readonly losses?: number;
  readonly asked?: EstimatedUsage;
  readonly lost?: EstimatedUsage;
  /** The whole reply, once only reads beside it are open. */
  readonly kept?: UnfailedOutcome;
  /** Sent before the attempt began. */
  readonly isEntry?: true;
}

/**
 * What an attempt used that died with its worker, by its last heartbeat (`UsedSoFar`); its prompt if
 * it died before the first, or before the second where the first was sent at entry.
 */
function estimateOf(
  { lastHeartbeatDetails }: TimeoutFailure,
  promptEstimate: ModelCallOptions['promptEstimate'],
): EstimatedUsage | undefined {
  const last = lastHeartbeatDetails as LastBeat | null | undefined;
  if (last === undefined || last === null) return promptEstimate?.();
  return addEstimates(last.lost, last.isEntry === true ? promptEstimate?.() : last.asked);
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
