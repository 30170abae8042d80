/**
 * Helpers to write builtins. One that calls functions is a small state machine; see `Stepper`.
 */
import type { Context } from '../../value/context.ts';
import type { Value, Steps, Work } from '../../value/value.ts';

/** Every stepper replaces it before it adds an item. */
const NONE: Value[] = Object.freeze([]) as unknown as Value[];

/** The state of a stepper that has requested no call. */
export function newSteps(): Steps {
  return {
    done: false,
    result: null,
    fn: null,
    args: NONE,
    at: 0,
    phase: 0,
    items: NONE,
    out: [],
    acc: null,
    extra: null,
  };
}

/** Ends a stepper with `value`. */
export function finish(s: Steps, value: Value): void {
  s.done = true;
  s.result = value;
}

/** Requests the call `(fn …args)`. */
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
  /** The index of the function; 0 by default. */
  readonly calls?: readonly number[];
  /** Sets `fn` and `items`, and the fields that gather results. */
  readonly begin: (c: Context, args: readonly Value[], s: Steps) => void;
  /** The arguments of the call for item `s.at`; by default only the item. */
  readonly args?: (c: Context, s: Steps) => Value[];
  /** Uses the result for `item`. Returns true to end the walk, with `s.result` set. */
  readonly take: (c: Context, s: Steps, result: Value, item: Value) => boolean | void;
  /** The value after the last item. */
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
