/** How often each kind of call is attempted; the same for every host. */
import type { ToolSpec } from './spec.ts';

/** Of a model call, over all the activities that it takes. */
export const MAX_MODEL_ATTEMPTS = 8;

/** Of judging an answer, since validators are user functions. */
export const MAX_JUDGE_ATTEMPTS = 3;

/** Of a quick check before a call: whether it needs approval, whether its arguments fit. */
export const MAX_CHECK_ATTEMPTS = 3;

/** Of a tool call. A `once` tool is never run twice. */
export function maxToolAttempts({ effect, retry }: Pick<ToolSpec, 'effect' | 'retry'>): number {
  return effect === 'once' ? 1 : retry.attempts;
}
