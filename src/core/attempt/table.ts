/**
 * What follows when an attempt fails, once for every kind of call and every host: the table of
 * (call, failure) → step, and what comes after a step. `tool-attempts.ts` and `model-attempts.ts` say what a
 * step does to what was tried.
 *
 * T1  An attempt that was lost is nobody's: it uses up no attempt of the provider, tool or validators.
 * T2  What may have taken effect is repeated only if the tool says that this does no harm. Otherwise its
 *     outcome is unknown.
 * T3  What a worker lacks, or a rate has no room for, was not tried.
 */
import { defined } from '../base/defined.ts';
import type { EarlierTries } from '../contract/outcome.ts';
import type { ToolSpec } from '../contract/spec.ts';
import type { FailureKind } from './failure.ts';

/**
 * What is tried: a model, a tool by its effect, a local read (whose service repeats it on its own
 * worker), a judgement.
 */
export type CallKind = 'model' | ToolSpec['effect'] | 'local' | 'judgement';

/**
 * `repeat`: another attempt, since this one counts for nobody · `retry`: another attempt while there are
 * some left, else the call fails · `wait`: another attempt when the rate has room · `move`: the same
 * attempt as an activity of its own · `elsewhere`: the same attempt on another worker · `operator`: it
 * waits for an operator · `stop`: the call ends as canceled, or as what it may have done by then ·
 * `unknown`: it ends, and may have taken effect · `unbegun`: it ends as an error and has done nothing ·
 * `error`: it ends as an error.
 */
export type AttemptStep =
  | 'repeat'
  | 'retry'
  | 'wait'
  | 'move'
  | 'elsewhere'
  | 'operator'
  | 'stop'
  | 'unknown'
  | 'unbegun'
  | 'error';

/** The calls, in the order of the columns of the table. */
export const CALL_KINDS = ['model', 'read', 'idempotent', 'once', 'local', 'judgement'] as const;

type Row = Readonly<Record<(typeof CALL_KINDS)[number], AttemptStep>>;

/** A row, by its columns. */
function row(
  ...steps: readonly [AttemptStep, AttemptStep, AttemptStep, AttemptStep, AttemptStep, AttemptStep]
): Row {
  const [model, read, idempotent, once, local, judgement] = steps;
  return { model, read, idempotent, once, local, judgement };
}

// prettier-ignore
const TABLE: Readonly<Record<FailureKind, Row>> = {
  //                 model        read         idempotent   once         local        judgement
  left:          row('stop',      'stop',      'stop',      'stop',      'stop',      'stop'),
  canceled:      row('stop',      'stop',      'stop',      'stop',      'stop',      'stop'),
  unstarted:     row('stop',      'stop',      'stop',      'stop',      'stop',      'stop'),
  lost_unbegun:  row('repeat',    'repeat',    'repeat',    'repeat',    'error',     'repeat'),
  lost:          row('repeat',    'repeat',    'repeat',    'unknown',   'error',     'repeat'),
  given_back:    row('repeat',    'repeat',    'repeat',    'repeat',    'error',     'repeat'),
  // A tool's own time-out is answered by its activity: if the service ends it, its worker has stalled.
  stalled:       row('retry',     'repeat',    'repeat',    'unknown',   'error',     'retry'),
  failed:        row('retry',     'retry',     'retry',     'unknown',   'error',     'retry'),
  broken:        row('retry',     'error',     'error',     'unknown',   'error',     'retry'),
  final:         row('error',     'error',     'error',     'unknown',   'error',     'retry'),
  unsent:        row('error',     'unbegun',   'unbegun',   'unbegun',   'unbegun',   'error'),
  unreadable:    row('error',     'error',     'error',     'unknown',   'error',     'error'),
  lack:          row('elsewhere', 'elsewhere', 'elsewhere', 'elsewhere', 'elsewhere', 'elsewhere'),
  nowhere:       row('error',     'unbegun',   'unbegun',   'unbegun',   'unbegun',   'error'),
  paced:         row('wait',      'error',     'error',     'unknown',   'error',     'error'),
  crowded:       row('error',     'error',     'error',     'unknown',   'move',      'error'),
  refused:       row('error',     'operator',  'operator',  'operator',  'error',     'error'),
};

/** What follows when an attempt of `call` has failed so. */
export function stepAfter(call: CallKind, failure: FailureKind): AttemptStep {
  return TABLE[failure][call];
}

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
