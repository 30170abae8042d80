/**
 * The mark that a `once` tool begins, set before its code runs. A loss without the mark never began,
 * so the tool may be tried again; a loss with it may have taken effect.
 *
 * B1  The mark is a heartbeat whose answer is awaited. The heartbeat of the SDK is sent later and
 *     without an answer, so none of these is sent before the mark is set.
 * B2  If the service no longer knows the activity, another attempt may be under way, so the tool
 *     does not run.
 */
import { setTimeout } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { HeartbeatDetails } from './activity-types.ts';
import { isStoppedByService } from './heartbeat.ts';

/** `began`: the tool may run · `canceled` by a user · `gone`: this attempt is over. */
export type Beginning = 'began' | 'canceled' | 'gone';

/** Between tries while the service does not answer. */
const againMs = 200;

/** Whether an earlier attempt of the current activity has begun. */
export function hasBegun(): boolean {
  const details = Context.current().info.heartbeatDetails as HeartbeatDetails | null | undefined;
  return details?.began === true;
}

/**
 * Sets the mark. While the service does not answer, it is asked again until the heartbeat is due:
 * then the service takes this worker for lost.
 */
export async function beginOnce(details: HeartbeatDetails): Promise<Beginning> {
  const { client, info, cancellationSignal } = Context.current();
  const until = Date.now() + (info.heartbeatTimeoutMs ?? 0);
  for (;;) {
    try {
      await client.activity.heartbeat(info.taskToken, details);
      return 'began';
    } catch (error) {
      if (cancellationSignal.aborted) return isStoppedByService() ? 'gone' : 'canceled';
      const answered = answerOf(error);
      if (answered !== null) return answered;
      if (Date.now() >= until) return 'gone';
      await setTimeout(againMs);
    }
  }
}

/** What the service answered; null: nothing. The errors are those of the client's `heartbeat`. */
function answerOf(error: unknown): Beginning | null {
  const name = error instanceof Error ? error.name : '';
  if (name === 'ActivityCancelledError') return 'canceled';
  return GONE.includes(name) ? 'gone' : null;
}

const GONE: readonly string[] = [
  'ActivityNotFoundError',
  'ActivityPausedError',
  'ActivityResetError',
];
