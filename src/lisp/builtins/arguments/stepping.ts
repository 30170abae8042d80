/**
 * Helpers for writing builtins. A builtin that calls functions is a small state machine; see
 * `Stepper`.
 */
import type { Context } from '../../value/context.ts';
import type { Value, Steps, BuiltinWork } from '../../value/value.ts';
import { hasNext } from './seqable.ts';

/** A stepper replaces this array before it adds an item. */
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
    source: null,
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
export function plain(run: (ctx: Context, args: readonly Value[]) => Value): BuiltinWork {
  return { kind: 'plain', run };
}

/** A builtin that calls the arguments at `calls`. */
export function steps(
  calls: readonly number[],
  start: (ctx: Context, args: readonly Value[], s: Steps) => void,
  resume: (ctx: Context, s: Steps, result: Value) => void,
): BuiltinWork {
  return {
    kind: 'steps',
    stepper: {
      calls,
      start(ctx: Context, args) {
        const s = newSteps();
        start(ctx, args, s);
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
  readonly begin: (ctx: Context, args: readonly Value[], s: Steps) => void;
  /** The arguments of the call for item `s.at`; by default, only the item. */
  readonly args?: (ctx: Context, s: Steps) => Value[];
  /** Uses the result for `item`. Returns true to end the walk, with `s.result` set. */
  readonly take: (ctx: Context, s: Steps, result: Value, item: Value) => boolean | void;
  /** The value after the last item. */
  readonly end: (ctx: Context, s: Steps) => Value;
}

/** A builtin that is a {@link Walk}. Each item costs 1. */
export function walk(w: Walk): BuiltinWork {
  const next = (ctx: Context, s: Steps): void => {
    if (!hasNext(s)) {
      finish(s, w.end(ctx, s));
      return;
    }
    ctx.charge(1);
    s.args = w.args === undefined ? [s.items[s.at] as Value] : w.args(ctx, s);
  };
  return steps(
    w.calls ?? [0],
    (ctx, args, s) => {
      w.begin(ctx, args, s);
      if (!s.done) next(ctx, s);
    },
    (ctx, s, result) => {
      const item = s.items[s.at] as Value;
      s.at += 1;
      if (w.take(ctx, s, result, item) === true) s.done = true;
      else next(ctx, s);
    },
  );
}
