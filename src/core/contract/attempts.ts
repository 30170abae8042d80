/** How often each kind of call is attempted; the same for every host. */
import type { ToolSpec } from './spec.ts';

/** Attempts of one model call, over all its activities. */
export const MAX_MODEL_ATTEMPTS = 8;

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
