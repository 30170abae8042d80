/** How often each kind of call is attempted, and when; the same for every host. */
import type { EarlierTries } from '../contract/outcome.ts';
import type { ToolSpec } from '../contract/spec.ts';

/** Attempts of one model call, over all its activities. */
export const MAX_MODEL_ATTEMPTS = 8;

/** Attempts of one model call if another model is asked when it fails. */
const ATTEMPTS_BEFORE_FALLBACK = 2;

/** A provider that asks for a longer wait is not asked again if there is a fallback: 10 s. */
const MAX_WAIT_BEFORE_FALLBACK_MS = 10_000;

/** How many attempts a model call has. */
export function maxModelAttempts(hasFallback: boolean): number {
  return hasFallback ? ATTEMPTS_BEFORE_FALLBACK : MAX_MODEL_ATTEMPTS;
}

/** The wait after the `attempt`-th failure of a provider that asks for none: 1 s, doubling to 30 s. */
export function modelRetryMs(attempt: number): number {
  return Math.min(1_000 * 2 ** Math.max(0, attempt - 1), 30_000);
}

/** The wait after the `attempt`-th failure of a tool, at most a hundred times the first. */
export function toolRetryMs({ retry }: Pick<ToolSpec, 'retry'>, attempt: number): number {
  const { initialMs, factor } = retry;
  return Math.min(initialMs * factor ** (attempt - 1), initialMs * 100);
}

/** The wait after the `attempt`-th failure of validators: 1 s, doubling. */
export function judgeRetryMs(attempt: number): number {
  return 1_000 * 2 ** (attempt - 1);
}

/**
 * Whether a model call is tried again after `attempts` failed ones. `waitMs`: how long the next one
 * waits.
 */
export function hasNextModelAttempt(
  attempts: number,
  waitMs: number,
  hasFallback: boolean,
): boolean {
  if (attempts >= maxModelAttempts(hasFallback)) return false;
  return !hasFallback || waitMs <= MAX_WAIT_BEFORE_FALLBACK_MS;
}

/** Bytes of JSON that the result of a call may have which is tried within a workflow task. */
export const LOCAL_TRY_BYTES = 16_384;

/** Tries in one workflow task: the service takes its completion only up to 4 MB. */
export const MOST_LOCAL_TRIES = 64;

/** A call that so many workers died with may have ended them: it runs apart, in a child process. */
export const DEATHS_BEFORE_APART = 5;

/** After so many dead workers, a call is tried again only when an operator asks for it. */
export const DEATHS_BEFORE_OPERATOR = 10;

/** The dead workers with which a call is not tried again before an operator asks for it. */
export function deathsAllowed({ retriedAfter }: EarlierTries): number {
  return Math.max(DEATHS_BEFORE_OPERATOR, (retriedAfter ?? 0) + 1);
}

/** Pauses after the first losses of a call, after which the run begins it anew. */
const LOSS_PAUSES_MS: readonly number[] = [100, 1_000, 2_000, 4_000, 8_000];

/** After later losses, in ms: doubling from the first to the second. */
export const LATE_LOSS_PAUSES_MS = { first: 30_000, most: 600_000 } as const;

/** How long a call waits after its `losses`-th loss. */
export function lossPauseMs(losses: number): number {
  const { first, most } = LATE_LOSS_PAUSES_MS;
  const late = losses - LOSS_PAUSES_MS.length - 1;
  return LOSS_PAUSES_MS[losses - 1] ?? Math.min(first * 2 ** late, most);
}

/**
 * Whether the service repeats an attempt that is lost, after `losses` of its call: that writes no events,
 * and a call must not fill the history.
 */
export function isRepeatedByService(losses: number): boolean {
  return losses >= LOSS_PAUSES_MS.length;
}

/** Attempts to judge an answer: its validators are user functions, which may throw. */
export const MAX_JUDGE_ATTEMPTS = 3;

/**
 * Attempts of a quick check before a call: whether it needs approval, whether its arguments fit.
 */
export const MAX_CHECK_ATTEMPTS = 3;

/** Attempts of a tool call. A `once` tool never runs twice. */
export function maxToolAttempts({ effect, retry }: Pick<ToolSpec, 'effect' | 'retry'>): number {
  return effect === 'once' ? 1 : retry.attempts;
}
