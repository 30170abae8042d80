/** What a model activity says that had no room under the rate of its model. */
import { ApplicationFailure } from '@temporalio/workflow';
import type { RateWaitDetails } from '../../activities/activity-types.ts';
import { defined } from '../../core/base/defined.ts';
import type { RateTicket } from '../../core/contract/host-order.ts';
import { isoOfMoment } from '../../core/text/civil-date.ts';
import { causeOf } from './call-failures.ts';

/** Until when a run waits, and what the next try is to know. */
export interface RateWait {
  /** In milliseconds since 1970. */
  readonly at: number;
  /** In words, what it waits for. */
  readonly waitsFor: string;
  readonly ticket: RateTicket;
}

/** The wait that a failure asks for; null: it is another failure. */
export function rateWaitOf(error: unknown): RateWait | null {
  const cause = causeOf(error);
  if (!(cause instanceof ApplicationFailure) || cause.type !== 'rate_wait') return null;
  const details = (cause.details?.[0] ?? { at: 0 }) as RateWaitDetails;
  const { at, moment, tokens, tries, since, of } = details;
  const then = isoOfMoment(at, 0);
  return {
    at,
    waitsFor:
      details.for === 'permit' ? `a permit, asks again at ${then}` : `its rate until ${then}`,
    ticket: defined({ at: moment, tokens, tries, since, of }),
  };
}
