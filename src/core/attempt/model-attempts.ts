/**
 * The attempts of a model call: what a failure does to what was tried, what it cost, and what follows when
 * the call has ended without a reply.
 */
import { defined } from '../base/defined.ts';
import type { ModelOrder, RateTicket } from '../contract/host-order.ts';
import type {
  FailedAttempt,
  ModelLoss,
  ModelOutcome,
  UnfailedOutcome,
} from '../contract/host-outcome.ts';
import type { EstimatedUsage } from '../contract/model.ts';
import { addEstimates } from '../model/estimated-usage.ts';
import { addUsage, noUsage } from '../model/usage.ts';
import { hasNextModelAttempt, lossPauseMs, maxModelAttempts, modelRetryMs } from './attempts.ts';
import type { AttemptFailure } from './failure.ts';
import { NOTHING_TRIED, type NextAttempt, type Tried, stepAfter } from './table.ts';

/** What the loop says about the attempts of a model call. */
export interface ModelPolicy {
  /** Asked before an attempt that cost tokens is retried; if false, the call ends with `lost`. */
  readonly mayRetry: (lost: ModelLoss) => boolean;
  /** An estimate of the prompt, for attempts of which nothing is known but that they were lost. */
  readonly promptEstimate?: () => EstimatedUsage;
  /** The `maxOutputTokens` of the order that retries such an attempt. Default: as before. */
  readonly maxOutputAfter?: ((lost: ModelLoss) => number | undefined) | undefined;
  /**
   * True: another model is asked if this call fails. So it has two attempts, waits at most 10 s for
   * the second, and waits for no other worker.
   */
  readonly hasFallback?: boolean;
  /** Called for each failed attempt after which the host tries again. */
  readonly onFailedAttempt?: (failed: FailedAttempt) => void;
}

/** What was tried of a model call, and what it cost. */
export interface TriedModel extends Tried {
  /** The attempts that have ended, each with its cost. */
  readonly lost: readonly ModelLoss[];
  /** What the last try has of the rate of the model; absent: nothing. */
  readonly ticket?: RateTicket;
}

/** No model was asked. */
export const NO_MODEL_TRIED: TriedModel = { ...NOTHING_TRIED, lost: [] };

/** What comes after the failure of an attempt. `now`: milliseconds since 1970. */
export function afterModelFailure(
  policy: ModelPolicy,
  { ticket: _ticket, ...tried }: TriedModel,
  failure: AttemptFailure,
  now: number,
): NextAttempt<ModelOutcome, TriedModel> {
  const step = stepAfter('model', failure.kind);
  switch (step) {
    case 'elsewhere':
      return { kind: 'elsewhere' };
    case 'stop': {
      const attempts = failure.kind === 'left' ? 0 : 1;
      const cost = { usage: noUsage, usageKnown: false, attempts };
      return { kind: 'end', outcome: withEarlier(tried.lost, { kind: 'aborted', ...cost }) };
    }
    case 'wait': {
      const { at = now, waitsFor = 'its rate', ticket = {} } = failure.wait ?? {};
      const inMs = Math.max(0, at - now);
      return { kind: 'again', tried: { ...tried, ticket }, inMs, waitsFor };
    }
    case 'repeat':
      if (failure.kept !== undefined)
        return { kind: 'end', outcome: modelEnd(tried, failure.kept) };
      return goOn(policy, tried, failure, 'repeat');
    default:
      return goOn(policy, tried, failure, step === 'retry' ? 'retry' : 'error');
  }
}

/** The outcome of a call whose last attempt ended so. */
export function modelEnd({ lost }: TriedModel, ended: UnfailedOutcome): ModelOutcome {
  const { takenOver = 0, ...outcome } = ended;
  const first = lost.length - takenOver;
  // A later attempt took them over, so they lost nothing.
  const charged = lost.map(({ estimated, ...part }, at) =>
    at < first ? { ...part, ...defined({ estimated }) } : part,
  );
  return withEarlier(charged, outcome);
}

/** The order of the next attempt. */
export function nextModelOrder(
  { maxOutputAfter }: ModelPolicy,
  order: ModelOrder,
  { attempts, losses, lost, ticket }: TriedModel,
): ModelOrder {
  // An attempt that is lost does not say what ran beside its reply: nothing does beside a later one.
  const { reads: _reads, ...others } = order;
  const asked = attempts + losses === 0 ? order : others;
  const sum = lost.some(isCharged) ? sumOf(lost) : null;
  const maxOutputTokens = sum === null ? undefined : maxOutputAfter?.(sum);
  return { ...asked, ...defined({ maxOutputTokens, rate: ticket }) };
}

/** Another attempt, if there may be one; else the failure is that of the call. */
function goOn(
  { mayRetry, promptEstimate, hasFallback = false, onFailedAttempt }: ModelPolicy,
  tried: TriedModel,
  failure: AttemptFailure,
  step: 'repeat' | 'retry' | 'error',
): NextAttempt<ModelOutcome, TriedModel> {
  const isLoss = step === 'repeat';
  const last = lossOf(failure, isLoss, promptEstimate);
  const lost = [...tried.lost, last];
  const sum = sumOf(lost) ?? last;
  const { attempts, losses = 0 } = sum;
  const inMs = isLoss ? lossPauseMs(losses) : (failure.retryAfterMs ?? modelRetryMs(attempts));
  const hasNext = isLoss || (step === 'retry' && hasNextModelAttempt(attempts, inMs, hasFallback));
  const isRefused = (): boolean => isCharged(last) && !mayRetry(sum);
  if (!hasNext || isRefused()) return { kind: 'end', outcome: sum };
  const { code = 'model_error', message, status } = failure;
  if (!isLoss) {
    onFailedAttempt?.({
      attempt: attempts,
      code,
      message,
      ...defined({ status }),
      retryInMs: inMs,
    });
  }
  const shown = isLoss ? undefined : { message, of: maxModelAttempts(hasFallback) };
  return {
    kind: 'again',
    // No model call waits for an operator, so what was given back is not told apart.
    tried: { ...tried, attempts, losses, lost },
    inMs,
    ...defined({ failure: shown }),
    // The limits may have been lowered meanwhile.
    refused: () => (isRefused() ? sum : null),
  };
}

/** An attempt that failed, or that was lost: then it is none of the provider. */
function lossOf(
  failure: AttemptFailure,
  isLoss: boolean,
  promptEstimate: ModelPolicy['promptEstimate'],
): ModelLoss {
  const { message, usage = noUsage, usageKnown = false, lostReads, status } = failure;
  const losses = (failure.losses ?? 0) + (isLoss ? 1 : 0);
  const prompt = failure.chargesPrompt === true ? promptEstimate?.() : undefined;
  return {
    kind: 'failed',
    code: isLoss ? 'model_error' : (failure.code ?? 'model_error'),
    message,
    ...defined({ status: isLoss ? undefined : status }),
    usage,
    usageKnown,
    attempts: isLoss ? 0 : 1,
    ...defined({
      losses: losses === 0 ? undefined : losses,
      estimated: addEstimates(failure.estimated, prompt),
      lostReads,
    }),
  };
}

/** Whether attempts cost tokens, so that the limits must have room for another one. */
function isCharged({ usageKnown, estimated }: ModelLoss): boolean {
  return usageKnown || estimated !== undefined;
}

function sumOf(lost: readonly ModelLoss[]): ModelLoss | null {
  const last = lost.at(-1);
  return last === undefined ? null : withEarlier(lost.slice(0, -1), last);
}

/** `outcome` with what the attempts before it cost. */
function withEarlier<Outcome extends ModelOutcome>(
  lost: readonly ModelLoss[],
  outcome: Outcome,
): Outcome {
  return lost.reduceRight<Outcome>((sum, earlier) => withOne(earlier, sum), outcome);
}

function withOne<Outcome extends ModelOutcome>(earlier: ModelLoss, outcome: Outcome): Outcome {
  const losses = (earlier.losses ?? 0) + (outcome.losses ?? 0);
  const lostReads = [...(earlier.lostReads ?? []), ...(outcome.lostReads ?? [])];
  const sum = {
    ...outcome,
    attempts: earlier.attempts + outcome.attempts,
    ...defined({
      losses: losses === 0 ? undefined : losses,
      estimated: addEstimates(earlier.estimated, outcome.estimated),
      lostReads: lostReads.length === 0 ? undefined : lostReads,
    }),
  };
  if (outcome.kind === 'reply') {
    const { reply } = outcome;
    return { ...sum, reply: { ...reply, usage: addUsage(earlier.usage, reply.usage) } };
  }
  const usage = addUsage(earlier.usage, outcome.usage);
  return { ...sum, usage, usageKnown: earlier.usageKnown || outcome.usageKnown };
}

/**
 * `next_model`: the next fallback is asked · `shorten`: the conversation is made shorter first · `end`:
 * nobody else is asked.
 */
export type AfterRefusal = 'next_model' | 'shorten' | 'end';

/** A failed call, as its host tells it. */
export interface ModelRefusal {
  /** A `ModelFailureCode`. */
  readonly code: string;
  readonly status?: number;
}

/**
 * What follows from `failed`. What one provider refuses, another may take: so a run ends only when its
 * last model has refused. A request that is alone too large for a minute of one account (429) is not too
 * long for the next; without one it is made shorter, too. What the agent itself has blocked goes to
 * nobody.
 */
export function afterRefusal(
  { code, status }: ModelRefusal,
  { hasFallback, canShorten }: { readonly hasFallback: boolean; readonly canShorten: boolean },
): AfterRefusal {
  if (code === 'blocked') return 'end';
  if (code !== 'context_too_long' || !canShorten) return 'next_model';
  return status === 429 && hasFallback ? 'next_model' : 'shorten';
}
