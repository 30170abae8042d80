/**
 * How builtins that call functions are written: as small state machines, see `Stepper`.
 */
import type { Context } from '../../value/context.ts';
import type { Value, Steps, Work } from '../../value/value.ts';
import { newSteps } from './builtin.ts';

/** Ends a stepper with `value`. */
export function finish(s: Steps, value: Value): void {
  s.done = true;
  s.result = value;
}

/** Asks for the call `(fn …args)`. */
export function want(s: Steps, fn: Value, args: Value[]): void {
  s.fn = fn;
  s.args = args;
}

/** A builtin that computes at once. */
export function plain(run: (c: Context, args: readonly Value[]) => Value): Work {
  return { kind: 'plain', run };
}

/** A builtin that calls the arguments at `calls`. */
export function steps(
  calls: readonly number[],
  start: (c: Context, args: readonly Value[], s: Steps) => void,
  resume: (c: Context, s: Steps, result: Value) => void,
): Work {
  return {
    kind: 'steps',
    stepper: {
      calls,
      start(c: Context, args) {
        const s = newSteps();
        start(c, args, s);
        return s;
      },
      resume,
    },
  };
}

/** A builtin that calls one function for one item after another. */
export interface Walk {
  /** Which argument is the function; 0 unless said otherwise. */
  readonly calls?: readonly number[];
  /** Sets `fn` and `items`, and whatever the walk gathers in. */
  readonly begin: (c: Context, args: readonly Value[], s: Steps) => void;
  /** The arguments of the call for item `s.at`; the item alone unless said otherwise. */
  readonly args?: (c: Context, s: Steps) => Value[];
  /** Takes the result for `item`. True ends the walk, with `s.result` set. */
  readonly take: (c: Context, s: Steps, result: Value, item: Value) => boolean | void;
  /** The value once every item was seen. */
  readonly end: (c: Context, s: Steps) => Value;
}

/** A builtin that is a {@link Walk}. Each item costs 1. */
export function walk(w: Walk): Work {
  const next = (c: Context, s: Steps): void => {
    if (s.at >= s.items.length) {
      finish(s, w.end(c, s));
      return;
    }
    c.charge(1);
    s.args = w.args === undefined ? [s.items[s.at] as Value] : w.args(c, s);
  };
  return steps(
    w.calls ?? [0],
    (c, args, s) => {
      w.begin(c, args, s);
      if (!s.done) next(c, s);
    },
    (c, s, result) => {
      const item = s.items[s.at] as Value;
      s.at += 1;
      if (w.take(c, s, result, item) === true) s.done = true;
      else next(c, s);
    },
  );
}
