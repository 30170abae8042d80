/** What was tried of a call, and what comes next: the states of its attempts. */
import type { EarlierTries } from '../contract/outcome.ts';
import { defined } from '../base/defined.ts';

/** What was tried of a call and has ended. */
export interface Tried {
  /** Attempts of the provider, tool or validators. */
  readonly attempts: number;
  /** Attempts that were lost with their worker. */
  readonly losses: number;
  /** Those of the losses whose worker stopped in order and gave the call back. */
  readonly givenBack: number;
  /** The workers that had died when an operator last had the call tried again. */
  readonly retriedAfter?: number;
}

/** Nothing was tried. */
export const NOTHING_TRIED: Tried = { attempts: 0, losses: 0, givenBack: 0 };

/** Why an attempt failed, for the status, and how many attempts there are. */
export interface ShownFailure {
  readonly message: string;
  readonly of: number;
}

/** What comes after a failure: the call ends, or another attempt follows. */
export type NextAttempt<Outcome, State extends Tried = Tried> =
  | { readonly kind: 'end'; readonly outcome: Outcome }
  | {
      readonly kind: 'again';
      readonly tried: State;
      /** How long the call rests before. */
      readonly inMs: number;
      /** Absent after a loss. */
      readonly failure?: ShownFailure;
      /** What the call waits for that was not tried, in words. */
      readonly waitsFor?: string;
      /** Asked after the rest: an outcome ends the call, null lets the attempt begin. */
      readonly refused?: () => Outcome | null;
    }
  /** Another worker is asked; the same failure as `nowhere` follows if there is none. */
  | { readonly kind: 'elsewhere' }
  /** Only an operator may have the call tried again. */
  | { readonly kind: 'operator'; readonly tried: State };

/** The workers that died with a call. */
export function deathsOf({ losses, givenBack }: Pick<Tried, 'losses' | 'givenBack'>): number {
  return losses - givenBack;
}

/** A call that an operator has tried again. */
export function retriedByOperator<State extends Tried>(tried: State): State {
  return { ...tried, retriedAfter: deathsOf(tried) };
}

/** `order` with what was tried before; the first attempt has it as it is. */
export function orderAfter<Order extends EarlierTries>(order: Order, tried: Tried): Order {
  const { attempts, losses, givenBack, retriedAfter } = tried;
  if (attempts + losses === 0) return order;
  return {
    ...order,
    attemptsBefore: attempts,
    lossesBefore: losses,
    ...defined({ givenBackBefore: givenBack === 0 ? undefined : givenBack, retriedAfter }),
  };
}
