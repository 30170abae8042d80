/** Failures of activities without values that a worker hides. */
import { ApplicationFailure } from '@temporalio/common';
import { hideIn, HIDE_NOTHING, type HideText } from '../core/text/hide.ts';
import type { EverloopActivities } from './activity-types.ts';

/** Deeper causes are dropped. */
const MAX_CAUSES = 20;

/** `activities`, whose failures hide: their messages, stacks, details and causes. */
export function hideFailures(activities: EverloopActivities, hide: HideText): EverloopActivities {
  if (hide === HIDE_NOTHING) return activities;
  const entries = Object.entries(activities as unknown as Record<string, Activity>);
  const hiding = entries.map(([name, activity]): readonly [string, Activity] => [
    name,
    async (order) => {
      try {
        return await activity(order);
      } catch (error) {
        throw hiddenFailure(error, hide);
      }
    },
  ]);
  return Object.fromEntries(hiding) as unknown as EverloopActivities;
}

type Activity = (order: unknown) => Promise<unknown>;

/** `thrown` without hidden values. It is changed in place, since its class says what it means. */
function hiddenFailure(thrown: unknown, hide: HideText, depth = 0): unknown {
  if (typeof thrown === 'string') return hide(thrown);
  if (!(thrown instanceof Error)) return thrown;
  const { message, stack, cause } = thrown;
  const failure = Object.isFrozen(thrown) ? new Error(message) : thrown;
  const isDeep = depth >= MAX_CAUSES;
  if (cause !== undefined)
    set(failure, 'cause', isDeep ? undefined : hiddenFailure(cause, hide, depth + 1));
  set(failure, 'message', hide(message));
  set(failure, 'stack', stack === undefined ? undefined : hide(stack));
  if (failure instanceof ApplicationFailure && failure.details != null) {
    set(
      failure,
      'details',
      failure.details.map((detail) => hideIn(detail, hide)),
    );
  }
  return failure;
}

function set(error: Error, name: string, value: unknown): void {
  Object.defineProperty(error, name, { value, configurable: true, writable: true });
}
