/**
 * How an attempt ends that gives no result, in one vocabulary for every host. A host reads the failures
 * of its world into it; `table.ts` says what follows.
 */
import type { RateTicket } from '../contract/host-order.ts';
import type { AttemptFacts, UnfailedOutcome } from '../contract/host-outcome.ts';
import type { TokenUsage } from '../contract/model.ts';

/** The ways in which an attempt ends without a result. */
export const FAILURE_KINDS = [
  /** The run stopped the call between two attempts. */
  'left',
  /** The run stopped the call while an attempt was open. */
  'canceled',
  /** The run stopped the call before a worker had its attempt. */
  'unstarted',
  /** The worker died, or stopped, before the code of a `once` tool began. */
  'lost_unbegun',
  /** The worker died, and what it ran may have taken effect. */
  'lost',
  /** The worker stopped in order, and gave the call back. */
  'given_back',
  /** The service ended the attempt at its deadline. */
  'stalled',
  /** The provider, the tool or a validator failed, and may succeed when it is asked again. */
  'failed',
  /** It failed in another way, which does not say that it may be tried again. */
  'broken',
  /** It failed, and says that it would fail again. */
  'final',
  /** The call was refused before it left the run: it is too large. */
  'unsent',
  /** The result cannot be read. */
  'unreadable',
  /** The worker lacks what the call needs, and nothing was begun. */
  'lack',
  /** No worker has what the call needs, or the call does not wait for one. */
  'nowhere',
  /** There is no room under the rate of the model: nothing was asked. */
  'paced',
  /** The result of a try within a workflow task has no room there. */
  'crowded',
  /** So many workers died with the call that the last one refused it. */
  'refused',
] as const;

/** One of {@link FAILURE_KINDS}. */
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** What a worker lacks. */
export interface Lack {
  /** `tool refund` */
  readonly what: string;
  /** The agent of the call; absent if the worker could not know it. */
  readonly agent?: string;
}

/** A wait for the rate of a model. */
export interface RateWait {
  /** In milliseconds since 1970. */
  readonly at: number;
  /** In words, what it waits for. */
  readonly waitsFor: string;
  /** What the next try is to know. */
  readonly ticket: RateTicket;
}

/** An attempt that gave no result, and of a model what it cost, as far as that is known. */
export interface AttemptFailure extends Pick<AttemptFacts, 'losses' | 'estimated' | 'lostReads'> {
  readonly kind: FailureKind;
  readonly message: string;
  /** Of `lack` and `nowhere`. */
  readonly lack?: Lack;
  /** Of `paced`. */
  readonly wait?: RateWait;
  /** Those of `losses` whose worker gave the call back; absent: none. */
  readonly givenBack?: number;
  /** The time of the attempt was over. */
  readonly isTimeout?: true;
  /** The service has made all attempts that the call has. */
  readonly isExhausted?: true;
  /** A `ModelFailureCode`; absent: `model_error`. */
  readonly code?: string;
  readonly status?: number;
  /** The wait that the provider asks for; absent: none. */
  readonly retryAfterMs?: number;
  readonly usage?: TokenUsage;
  readonly usageKnown?: boolean;
  /** Nothing is known of what was asked: the prompt is charged. */
  readonly chargesPrompt?: true;
  /** The reply that the worker had when it was lost: only reads beside it were open. */
  readonly kept?: UnfailedOutcome;
}

/** The run stopped the call between two attempts. */
export const LEFT: AttemptFailure = { kind: 'left', message: 'the call was stopped' };
