/**
 * What follows when an attempt fails, once for every kind of call and every host: the table of
 * (call, failure) → step. `tool-attempts.ts` and `model-attempts.ts` say what a step does to what was tried.
 *
 * T1  An attempt that was lost is nobody's: it uses up no attempt of the provider, tool or validators.
 * T2  What may have taken effect is repeated only if the tool says that this does no harm. Otherwise its
 *     outcome is unknown.
 * T3  What a worker lacks, or a rate has no room for, was not tried.
 */
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
