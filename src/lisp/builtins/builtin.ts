/**
 * What a builtin is: the record behind one name. The registry makes these from the tables; nothing
 * else describes a builtin anywhere.
 */
import type { Context } from '../machine/context.ts';
import type { Value } from '../value/value.ts';

/** An example of the documentation: source, and what its value prints as. */
export interface Example {
  readonly source: string;
  readonly value: string;
}

/** How the fuel of a builtin grows, for documentation and the cost test. */
export type CostClass = 'constant' | 'linear' | 'sorting' | 'text' | 'callback' | 'effect';

/** A function of the language that is given. A value of programs. */
export interface Builtin {
  readonly kind: 'builtin';
  /** As written: `map`, `str/join`, `Math/abs`, `.length`. */
  readonly name: string;
  readonly min: number;
  /** Infinity for "and more". */
  readonly max: number;
  readonly doc: string;
  readonly examples: readonly Example[];
  readonly cost: CostClass;
  readonly work: Work;
}

/**
 * What a builtin does. `plain` computes at once. `steps` calls functions of the program and is
 * therefore a little state machine. `effect` is for the machine alone to carry out.
 */
export type Work =
  | { readonly kind: 'plain'; readonly run: (c: Context, args: readonly Value[]) => Value }
  | { readonly kind: 'steps'; readonly stepper: Stepper }
  | { readonly kind: 'effect'; readonly effect: EffectName }
  /** `apply`: the call it stands for is made in its place. */
  | { readonly kind: 'spread' };

/** Effects that are written as a call of a name without a namespace. */
export type EffectName = 'ask' | 'sleep' | 'pmap' | 'pcalls';

/**
 * A builtin that calls functions, as a state machine that both tiers drive. A callback from
 * JavaScript could not be suspended in the middle; the state of a stepper is plain data and can.
 *
 * The driver calls `start`, then after each wanted call `resume` with its result, until the state
 * is `done`.
 */
export interface Stepper {
  /** Which arguments are functions that will be called; others never are. −1: all of them. */
  readonly calls: readonly number[];
  start(c: Context, args: readonly Value[]): Steps;
  resume(c: Context, steps: Steps, result: Value): void;
}

/** What a stepper remembers: values, or arrays of values that only it can see. */
export type Cell = Value | Value[] | undefined;

/**
 * The state of a stepper. Either `done` with `result`, or `fn` is to be called with `args`. The
 * other fields belong to the stepper; every one is data.
 */
export interface Steps {
  done: boolean;
  result: Value;
  fn: Value;
  args: Value[];
  /** Where it is: an index, a phase. */
  at: number;
  phase: number;
  /** The elements that are walked. */
  items: readonly Value[];
  out: Value[];
  acc: Value;
  extra: Cell;
}

/** A state that has not asked for anything yet. */
export function newSteps(): Steps {
  return {
    done: false,
    result: null,
    fn: null,
    args: [],
    at: 0,
    phase: 0,
    items: [],
    out: [],
    acc: null,
    extra: null,
  };
}
