/**
 * Which attempt of its call an activity is. The service's number counts what was lost as well, so it
 * is not the number of the provider's or the tool's attempt.
 */
import { Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import type { AttemptFacts } from '../core/contract/host-outcome.ts';
import type { EstimatedUsage } from '../core/contract/model.ts';
import type { EarlierTries } from '../core/contract/outcome.ts';
import { addEstimates } from '../core/model/estimated-usage.ts';
import type { HeartbeatDetails } from './activity-types.ts';

/** The number of an attempt, and what was lost before it. */
export interface AttemptNumber {
  /** Number of this attempt of the provider or tool, from 1. */
  readonly attempt: number;
  /** Attempts before it that ended because a worker was lost. */
  readonly losses: number;
  /** Those of the losses whose worker stopped in order: the call did not end it. */
  readonly givenBack: number;
  /** What this activity adds to the attempts and losses of earlier ones. */
  readonly added: Pick<AttemptFacts, 'attempts' | 'losses' | 'estimated'> &
    Pick<HeartbeatDetails, 'givenBack'>;
}

/** All that is lost with an attempt whose last heartbeat this was. */
export function usedBy({ asked, lost }: Partial<HeartbeatDetails>): EstimatedUsage | undefined {
  return addEstimates(lost, asked);
}

/** The number of the attempt that the current activity makes. */
export function triesOf(order: EarlierTries): AttemptNumber {
  const { attemptsBefore = 0, lossesBefore, givenBackBefore = 0 } = order;
  const { attempt } = Context.current().info;
  // The service retries this activity whatever it failed by.
  if (!endsWithAttempt(order)) {
    const number = attemptsBefore + attempt;
    return { attempt: number, losses: 0, givenBack: 0, added: { attempts: attempt } };
  }
  const lost = attempt - 1;
  const last = lost === 0 ? undefined : lastBeat();
  const givenBack = last?.givenBack;
  return {
    attempt: attemptsBefore + 1,
    losses: (lossesBefore ?? 0) + lost,
    givenBack: givenBackBefore + (givenBack ?? 0),
    added: {
      attempts: 1,
      ...(lost === 0 ? {} : defined({ losses: lost, givenBack, estimated: last && usedBy(last) })),
    },
  };
}

/** What the last heartbeat of earlier attempts of the current activity says. */
function lastBeat(): HeartbeatDetails | undefined {
  return (Context.current().info.heartbeatDetails ?? undefined) as ReturnType<typeof lastBeat>;
}

/**
 * Whether the service repeats the activity only after a loss: whatever else fails is final for the
 * service, and the workflow decides about the next attempt.
 */
export function endsWithAttempt({ lossesBefore }: EarlierTries): boolean {
  return lossesBefore !== undefined;
}
